"""Which files a job needs at a site that does not share ours, and which it leaves there, as far as its file says."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence

from headway.live.sites.site import Site
from headway.live.store.files import Declared
from headway.model.errors import shown
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import JobId

FEW = 3  # jobs that are named


def declared(flat: Flat, directory: str) -> Iterator[tuple[JobId, Declared]]:
    """The files of every job of a workflow with this folder. Paths that lead out of it are left to the site."""
    for place, job in enumerate(flat.jobs):
        if job is not None:
            yield JobId(place), _of(job, directory)


def _of(job: Job, directory: str) -> Declared:
    setting, own = job.setting, job.setting.directory or "."
    inputs, outputs = [*job.inputs], [*job.outputs]
    for part in job.parts:
        inputs += part.inputs
        outputs += part.outputs
    if setting.stdin:
        inputs.append(setting.stdin)
    outputs += [name for name in (setting.stdout, setting.stderr) if name]
    program = _program(job.command, os.path.join(directory, own))  # noqa: PTH118 - one for each job
    if program:
        inputs.append(program)
    below = (_below(own, name) for name in inputs)
    there = (_below(own, name) for name in outputs)
    return Declared(tuple(dict.fromkeys(filter(None, below))), tuple(dict.fromkeys(filter(None, there))))


def _program(command: str | None, folder: str) -> str:
    """The file of ours that a command runs; "": it is one of the system's, or none that can be told."""
    try:
        words = shlex.split(command or "", comments=True)
    except ValueError:
        return ""
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        words.pop(0)
    first = words[0] if words else ""
    return first if "/" in first and os.path.isfile(os.path.join(folder, first)) else ""  # noqa: PTH113, PTH118


def _below(folder: str, name: str) -> str:
    """A path below the workflow's folder; "" if it is not."""
    path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
    return "" if os.path.isabs(path) or path.split("/", 1)[0] == ".." or path == "." else path  # noqa: PTH117


def undeclared(flat: Flat, files: Sequence[tuple[JobId, Declared]]) -> list[str]:
    """The names of jobs that declare no file at all: at a site with a folder of its own they find none."""
    return [flat.dag.names[place] for place, one in files if not one.inputs and not one.outputs]


def unstaged(sites: Sequence[Site], directory: str) -> list[str]:
    """What sites shall have for all jobs and the workflow's folder does not have."""
    return [
        f"stage of site {site.name} names {shown(name)}, which is not in {shown(directory)}: jobs there do not find it."
        for site in sites
        for name in site.stage
        if not os.path.lexists(os.path.join(directory, name))  # noqa: PTH118
    ]


def warning(sites: Sequence[str], names: Sequence[str]) -> str:
    """What their user should know beforehand."""
    if len(names) == 1:
        what, they = f"{names[0]} declares no files", "it runs"
    else:
        few = ", ".join(names[:FEW])
        more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
        what, they = f"{few}{more} declare no files", "they run"
    where = f"site {sites[0]}" if len(sites) == 1 else f"sites {', '.join(sites)}"
    return f"{what}: at {where} {they} in a folder without those of this computer (inputs=, outputs=, or stage)."
