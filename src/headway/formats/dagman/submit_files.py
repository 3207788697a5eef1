"""Which submit files that a DAG names are not there: running needs them, looking does not."""

from __future__ import annotations

import posixpath
from itertools import chain

from headway.formats.world import World
from headway.model.errors import shown
from headway.model.workflow import Workflow

_TOLD = 5  # missing files named one by one


def missing_files(workflow: Workflow, base: str, world: World) -> list[str]:
    """A sentence for each missing submit file, after the first few for all the others."""
    named: dict[tuple[str, str], str] = {}
    plain: dict[str, str] = {}
    for group in chain(workflow.groups, workflow.special()):
        for job in group.jobs:
            file = job.description
            if file in plain or not file or file in workflow.descriptions or job.rules.noop:
                continue
            if job.setting.directory is None:
                plain[file] = group.name
            else:
                named.setdefault((job.setting.directory, file), group.name)
    missing = [(name, file) for file, name in plain.items() if found_file(file, "", base, world) is None]
    missing += [(name, file) for (place, file), name in named.items() if found_file(file, place, base, world) is None]
    told = [f"submit file {shown(file)} of node {shown(name)} is not there." for name, file in missing[:_TOLD]]
    if len(missing) > _TOLD:
        told.append(f"{len(missing) - _TOLD} more submit files are not there.")
    return told


def found_file(file: str, directory: str, base: str, world: World) -> str | None:
    """A submit file where DAGMan would look, seen from the DAG's directory or from here."""
    inner = posixpath.join(directory, file)
    return next((path for path in (posixpath.join(base, inner), inner) if world.exists(path)), None)
