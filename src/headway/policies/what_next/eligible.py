"""The schedule that ranks make of a dag, and E(t): how many jobs are eligible when t have been executed."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from headway.model.dag import Dag


def schedule(dag: Dag, ranks: Sequence[int]) -> list[int]:
    """The jobs in the order one worker executes them: of the eligible ones the smallest rank, then the first to come.

    Jobs that come at once come by the order of the file. A milestone is passed the moment it is reached.
    """
    waiting = _parents(dag)
    heap: list[tuple[int, int, int]] = []
    arrived = 0
    order: list[int] = []
    news = [node for node, count in enumerate(waiting) if not count]
    while True:
        for node in _jobs_reached(dag, waiting, news):
            heappush(heap, (ranks[node], arrived, node))
            arrived += 1
        if not heap:
            return order
        node = heappop(heap)[2]
        order.append(node)
        news = _freed(dag, waiting, node)


def eligible(dag: Dag, order: Sequence[int]) -> list[int]:
    """E(0) … E(n) of a schedule of all jobs."""
    waiting = _parents(dag)
    count = len(_jobs_reached(dag, waiting, [node for node, parents in enumerate(waiting) if not parents]))
    counts = [count]
    for node in order:
        count += len(_jobs_reached(dag, waiting, _freed(dag, waiting, node))) - 1
        counts.append(count)
    return counts


def _parents(dag: Dag) -> list[int]:
    waiting = [0] * len(dag)
    for child in dag.children:
        waiting[child] += 1
    return waiting


def _freed(dag: Dag, waiting: list[int], node: int) -> list[int]:
    """The children that waited for this node alone."""
    news = []
    for child in dag.children_of(node):
        waiting[child] -= 1
        if not waiting[child]:
            news.append(child)
    return news


def _jobs_reached(dag: Dag, waiting: list[int], news: list[int]) -> list[int]:
    """The jobs among nodes that wait for nothing more, and those behind the milestones among them, in file order."""
    milestones = dag.milestones
    if not any(milestones[node] for node in news):
        return sorted(news)
    jobs = []
    for node in news:  # grows while it is read
        if milestones[node]:
            news += _freed(dag, waiting, node)
        else:
            jobs.append(node)
    return sorted(jobs)
