"""Recipes of several lines, each a job: to make, the target is the work of all of them."""

from __future__ import annotations

from collections.abc import Container

from headway.model.flatten import Flat
from headway.model.record import replace
from headway.model.workflow import Workflow


def declare_outputs(workflow: Workflow) -> None:
    """Lets every line of a recipe have the target among its outputs, so that half of it does not stay behind."""
    for group in workflow.groups:
        if len(group.jobs) > 1 and group.jobs[-1].outputs:
            last = group.jobs[-1]
            outputs = () if last.precious else last.outputs
            group.jobs[:-1] = [replace(job, outputs=job.outputs or outputs) for job in group.jobs[:-1]]


def of_whole_recipes(done: frozenset[int], flat: Flat, before: Container[str]) -> frozenset[int]:
    """Those of the done jobs whose whole recipe is done, and had no other line before the Makefile was edited."""
    dropped: set[int] = set()
    for name, nodes in nodes_of(flat).items():
        if f"{name}#{len(nodes) + 1}" in before or not done.issuperset(nodes):
            dropped.update(nodes)
    return done - dropped


def nodes_of(flat: Flat) -> dict[str, list[int]]:
    """The jobs of each group, in order."""
    found = {path: list(range(first, last + 1)) for path, first, last in flat.groups}
    grouped = {node for nodes in found.values() for node in nodes}
    return found | {flat.dag.names[node]: [node] for node in flat.dag.jobs() if node not in grouped}
