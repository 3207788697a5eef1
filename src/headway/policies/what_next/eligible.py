"""The schedule that ranks make of a dag, and E(t): how many jobs are eligible when t have been executed."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from headway.model.dag import Dag


def schedule(dag: Dag, ranks: Sequence[int]) -> list[int]:
    """The jobs in the order one worker executes them: of the eligible ones the smallest rank, then the first to come.

    This is worked out without rows; it is what engine.progress and engine.claim do (tests/engine/test_bulk_forms.py).
    """
    waiting = _parents(dag)
    heap: list[tuple[int, int, int]] = []
    arrived = 0
    order: list[int] = []
    news = sorted(_begun(dag, waiting))
    while True:
        for node in news:
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
    count = len(_begun(dag, waiting))
    counts = [count]
    for node in order:
        count += len(_freed(dag, waiting, node)) - 1
        counts.append(count)
    return counts


def _parents(dag: Dag) -> list[int]:
    waiting = [0] * len(dag)
    for child in dag.children:
        waiting[child] += 1
    return waiting


def _begun(dag: Dag, waiting: list[int]) -> list[int]:
    """The jobs that wait for nothing, or only for milestones that do."""
    jobs = []
    for node in [node for node, parents in enumerate(waiting) if not parents]:
        jobs += _freed(dag, waiting, node) if dag.milestones[node] else [node]
    return jobs


def _freed(dag: Dag, waiting: list[int], ended: int) -> list[int]:
    """The jobs that waited for this node alone, in the order in which engine.progress.release makes them eligible."""
    jobs: list[int] = []
    stack = [ended]
    while stack:
        for child in sorted(dag.children_of(stack.pop())):
            waiting[child] -= 1
            if not waiting[child]:
                (stack if dag.milestones[child] else jobs).append(child)
    return jobs
