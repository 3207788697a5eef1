"""The graph that PRIO looks at: jobs alone, without shortcuts (step 1)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress

from headway.model.dag import Dag
from headway.model.record import record
from headway.model.reduction import needed_arcs
from headway.model.rows import turned_rows

MOST_ARCS = 1_000_000  # that barriers may stand for, or as many times the dag's own as below
MOST_TIMES = 4


@record
class Graph:
    """Children and parents in compressed rows; lists, which Python reads faster than arrays."""

    size: int
    child_start: list[int]
    children: list[int]
    parent_start: list[int]
    parents: list[int]
    nodes: Sequence[int]  # the dag's node behind each of these
    barriers: int  # milestones left in, because they stand for too many arcs
    shortcuts: int  # arcs left out


def graph(dag: Dag) -> Graph:
    """The reduced graph of a dag's jobs.

    A milestone is no work: it is passed the moment it is reached. So the jobs after it are children of the jobs before
    it, unless that would make far more arcs than there are; then milestones stay, as if they were jobs.
    """
    nodes: Sequence[int] = range(len(dag))
    barriers = len(dag) - dag.job_count
    if barriers and dag.arc_count <= max(MOST_ARCS, MOST_TIMES * len(dag.children)):
        dag, nodes, barriers = _jobs_alone(dag), list(dag.jobs()), 0
    starts, children = needed_arcs(dag)
    parent_start, parents = dag.parent_start, dag.parents
    if children is not dag.children:
        parent_start, parents = turned_rows(len(dag), starts, children)
    return Graph(
        size=len(dag),
        child_start=starts.tolist(),
        children=children.tolist(),
        parent_start=parent_start.tolist(),
        parents=parents.tolist(),
        nodes=nodes,
        barriers=barriers,
        shortcuts=len(dag.children) - len(children),
    )


def _jobs_alone(dag: Dag) -> Dag:
    """The same order between jobs, with no milestones in between."""
    number = array("i", bytes(4 * len(dag)))
    for place, node in enumerate(dag.jobs()):
        number[node] = place
    arcs_from, arcs_to = array("i"), array("i")
    for node in dag.jobs():
        children = dag.job_children(node)
        arcs_from.extend([number[node]] * len(children))
        arcs_to.extend(number[child] for child in children)
    is_job = [not milestone for milestone in dag.milestones]
    return Dag(list(compress(dag.names, is_job)), arcs_from, arcs_to)
