"""A workflow cut into sequences of dependent jobs, longest first (Fig. 2 of peercomp.txt).

An arc can join two jobs of a sequence as long as neither of its ends is tied to a job taken before: nothing taken may
come after its first end, or before its second. That is the paper's two properties. Arcs only ever become unusable, so
the longest path to a job only ever gets shorter.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from heapq import heapify, heappop, heapreplace

from headway.model.dag import Dag
from headway.model.record import record

TAKEN = -2  # instead of the job before one: it is in a sequence already


@record
class Decomposition:
    """Sequences in the order in which they are taken, and the stage in which each can be sent."""

    sequences: tuple[tuple[int, ...], ...]
    stages: tuple[int, ...]  # from 1
    sequence_of: Sequence[int]  # by job; -1 for milestones

    @property
    def width(self) -> int:
        """How many stages it takes to send all of them."""
        return max(self.stages, default=0)


def decomposition(dag: Dag, lengths: Sequence[int]) -> Decomposition:
    """Cuts a workflow. Ties go to what comes first in the topological order, so that the answer is always the same."""
    order = [node for node in dag.order if not dag.milestones[node]]
    place = array("i", [-1]) * len(dag)
    for at, job in enumerate(order):
        place[job] = at
    seen_through = dag.job_count != len(dag)
    before = dag.job_parents if seen_through else dag.parents_of
    after = dag.job_children if seen_through else dag.children_of
    parents = [sorted([place[job] for job in before(job)]) for job in order]
    children = [[place[job] for job in after(job)] for job in order]
    found = _sequences(parents, children, [lengths[job] for job in order])
    owner = [-1] * len(order)
    stages: list[int] = []
    for number, sequence in enumerate(found):
        stage = 1
        for at in sequence:
            for near in (parents[at], children[at]):
                for other in near:
                    if owner[other] >= 0 and stages[owner[other]] >= stage:
                        stage = stages[owner[other]] + 1
        for at in sequence:
            owner[at] = number
        stages.append(stage)
    sequence_of = array("i", [owner[at] if at >= 0 else -1 for at in place])
    return Decomposition(tuple(tuple(order[at] for at in one) for one in found), tuple(stages), sequence_of)


def _sequences(parents: list[list[int]], children: list[list[int]], lengths: list[int]) -> list[list[int]]:
    """Takes the longest path that is left, again and again. Jobs are numbered in topological order."""
    size = len(lengths)
    longest = [0] * size  # the longest path that ends at each job
    offered = [0] * size  # the same for what comes after it; -1 where nothing can follow any more
    lead = [-1] * size  # the job before it on that path
    for at in range(size):
        best = -1
        for parent in parents[at]:
            if offered[parent] > best:
                best, lead[at] = offered[parent], parent
        longest[at] = offered[at] = lengths[at] + max(best, 0)
    heap = [(-length, at) for at, length in enumerate(longest)]
    heapify(heap)
    taken, first_only, marked = bytearray(size), bytearray(size), bytearray(size)
    found = []
    while heap:
        length, at = heap[0]
        if taken[at] or longest[at] != -length:  # it was once as long as that
            if taken[at]:
                heappop(heap)
            else:
                heapreplace(heap, (-longest[at], at))
            continue
        path = []
        while at >= 0:
            path.append(at)
            taken[at] = 1
            before, lead[at] = lead[at], TAKEN
            at = before
        path.reverse()
        found.append(path)
        losers = _cut(path, parents, children, lead, offered, taken, first_only)
        for at in losers:
            marked[at] = 1
        at = marked.find(1, min(losers, default=size))
        while at >= 0:  # in topological order, so that each is measured once
            marked[at] = 0
            best, first = -1, -1
            if not first_only[at]:
                for parent in parents[at]:
                    if offered[parent] > best:
                        best, first = offered[parent], parent
            lead[at] = first
            total = lengths[at] + best if best > 0 else lengths[at]
            if total != longest[at]:
                longest[at] = total
                if offered[at] >= 0:
                    offered[at] = total
                    for child in children[at]:
                        if lead[child] == at:
                            marked[child] = 1
            at = marked.find(1, at + 1)
    return found


def _cut(
    path: list[int],
    parents: list[list[int]],
    children: list[list[int]],
    lead: list[int],
    offered: list[int],
    taken: bytearray,
    first_only: bytearray,
) -> list[int]:
    """Makes the arcs unusable that a path ends; the jobs that lose the one they count on."""
    losers: list[int] = []
    for at in path:
        offered[at] = -1
        for child in children[at]:
            if not first_only[child]:
                first_only[child] = 1
                if lead[child] >= 0:
                    losers.append(child)
        for parent in parents[at]:
            if offered[parent] >= 0 and not taken[parent]:
                offered[parent] = -1
                losers.extend([child for child in children[parent] if lead[child] == parent])
    return losers
