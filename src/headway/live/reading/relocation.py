"""A workflow whose file moves to another folder: its jobs stay where they ran."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

from headway.model.job import Job, Setting
from headway.model.record import replace
from headway.model.workflow import Workflow


def keep_places(workflow: Workflow, output: str) -> None:
    """Lets every job run where it would have run, when the workflow is read from a file in another folder."""
    source = Path(workflow.source)
    here = source.parent if source.is_file() else Path.cwd()
    there = Path(os.path.realpath(output)).parent
    way = os.path.relpath(here.resolve(), there)
    if way == ".":
        return
    known: dict[Setting, Setting] = {}
    for group in chain((group for _, group in workflow.walk()), workflow.special()):
        for job in group.all_jobs():
            _place(job, way, known)


def _place(job: Job, way: str, known: dict[Setting, Setting]) -> None:
    for one in (job, *job.parts):
        if one.setting not in known:
            directory = os.path.normpath(os.path.join(way, one.setting.directory or "."))  # noqa: PTH118
            known[one.setting] = replace(one.setting, directory=directory)
        one.setting = known[one.setting]
