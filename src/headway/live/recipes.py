"""Recipes of several lines, each a job: to make, the target is the work of all of them."""

from __future__ import annotations

from headway.model.record import replace
from headway.model.workflow import Workflow


def declare_outputs(workflow: Workflow) -> None:
    """Lets every line of a recipe have the target among its outputs, so that half of it does not stay behind."""
    for group in workflow.groups:
        if len(group.jobs) > 1 and group.jobs[-1].outputs:
            last = group.jobs[-1]
            outputs = () if last.precious else last.outputs
            group.jobs[:-1] = [replace(job, outputs=job.outputs or outputs) for job in group.jobs[:-1]]
