"""Groups as drawings show them: boxes in boxes around the nodes of the flat graph."""

from __future__ import annotations

from collections.abc import Iterator

from headway.model.flatten import EPILOGUE, PROLOGUE, Flat, job_name
from headway.model.record import field, mutable
from headway.model.workflow import Group, Members, Workflow


@mutable
class Cluster:
    """A group of more than one job, or the whole workflow: the nodes directly in it, and the clusters."""

    label: str
    nodes: list[tuple[int, str]] = field(default_factory=list)  # a node, and its name inside the cluster
    inner: list[Cluster] = field(default_factory=list)


def clusters(workflow: Workflow, flat: Flat) -> Cluster:
    """The workflow as one cluster, with each node in exactly one place."""
    root = Cluster(workflow.name)
    homes: dict[tuple[str, bool], tuple[Cluster, str]] = {}
    _fill(workflow.groups, "", root, homes)
    for node, name in enumerate(flat.dag.names):
        cluster, prefix = homes.get((name, flat.jobs[node] is None), (root, ""))
        cluster.nodes.append((node, name.removeprefix(prefix)))
    return root


def _fill(members: Members, prefix: str, around: Cluster, homes: dict[tuple[str, bool], tuple[Cluster, str]]) -> None:
    for group in members:
        path = prefix + group.name
        home = around
        if group.members or sum(1 for _ in group.all_jobs()) > 1:
            home = Cluster(group.name)
            around.inner.append(home)
        for name in _names(group, path):
            homes[name, False] = home, prefix
        homes[path, True] = home, prefix
        if group.members:
            _fill(group.members, path + "/", home, homes)


def _names(group: Group, path: str) -> Iterator[str]:
    for part, jobs in ((path + PROLOGUE, group.prologue), (path, group.jobs), (path + EPILOGUE, group.epilogue)):
        for number in range(len(jobs)):
            yield job_name(part, number)


def special_nodes(workflow: Workflow) -> Iterator[tuple[str, Group]]:
    """The nodes outside the order, with what they are."""
    if workflow.provisioner is not None:
        yield "provisioner", workflow.provisioner
    for service in workflow.services:
        yield "service", service
    if workflow.final is not None:
        yield "final", workflow.final
