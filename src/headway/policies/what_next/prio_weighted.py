"""PRIO where run times are known: longest remaining path first, the wait for a worker counted in, PRIO among equals."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from headway.model.dag import Dag
from headway.policies.what_next import prio


def ranks(dag: Dag) -> Sequence[int]:
    """With a wait as long as a mean job."""
    return ranks_with_wait(dag, None)


def ranks_with_wait(dag: Dag, wait: float | None) -> Sequence[int]:
    """By the longest way to the end, where each job takes its run time and first waits so long for a worker.

    A job whose run time is not known is taken for a mean one. Without any run time it is PRIO's own order.
    """
    plain = prio.ranks(dag)
    if not dag.timed:
        return plain
    mean = dag.work / dag.timed
    wait = mean if wait is None else wait
    unknown = mean if dag.timed < dag.job_count else 0.0
    left = array("d", bytes(8 * len(dag)))
    for node in reversed(dag.order):
        own = 0.0 if dag.milestones[node] else (dag.seconds[node] or unknown) + wait
        left[node] = own + max((left[child] for child in dag.children_of(node)), default=0.0)
    place = array("i", bytes(4 * len(dag)))
    for rank, node in enumerate(sorted(range(len(dag)), key=lambda node: (-left[node], plain[node]))):
        place[node] = rank
    return place
