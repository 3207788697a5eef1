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
    if dag.job_count == len(dag):
        after, starts = [place[job] for job in dag.children], dag.child_start
        children = [after[starts[job] : starts[job + 1]] for job in order]
    else:
        children = [[place[job] for job in dag.job_children(job)] for job in order]
    parents: list[list[int]] = [[] for _ in order]
    for at, row in enumerate(children):
        for child in row:
            parents[child].append(at)
    found = _sequences(parents, children, [lengths[job] for job in order])
    sequence_of = array("i", [-1]) * len(dag)
    for number, sequence in enumerate(found):
        for at in sequence:
            sequence_of[order[at]] = number
    sequences = tuple([tuple([order[at] for at in sequence]) for sequence in found])
    return Decomposition(sequences, _stages(found, parents, children), sequence_of)


def _stages(found: list[list[int]], parents: list[list[int]], children: list[list[int]]) -> tuple[int, ...]:
    """When each sequence can be sent: after all earlier ones that it is joined to."""
    stage_of = [0] * len(parents)
    stages = []
    for sequence in found:
        before = 0
        for at in sequence:
            for row in (parents[at], children[at]):
                for other in row:
                    if stage_of[other] > before:
                        before = stage_of[other]
        for at in sequence:
            stage_of[at] = before + 1
        stages.append(before + 1)
    return tuple(stages)


def _sequences(parents: list[list[int]], children: list[list[int]], lengths: list[int]) -> list[list[int]]:
    """Takes the longest path that is left, again and again. Jobs are numbered in topological order."""
    size = len(lengths)
    longest = [0] * size  # the longest path that ends at each job; -1 where it is taken
    offered = [0] * size  # the same for what comes after it; -1 where nothing can follow any more
    lead = [-1] * size  # the job before it on that path
    for at in range(size):
        best = -1
        for parent in parents[at]:
            if offered[parent] > best:
                best, lead[at] = offered[parent], parent
        longest[at] = offered[at] = lengths[at] + max(best, 0)
    heap = [at - length * size for at, length in enumerate(longest)]  # length and job in one number, the longest first
    heapify(heap)
    first_only, marked = bytearray(size), bytearray(size)
    found = []
    while heap:
        at = heap[0] % size
        rank = at - longest[at] * size
        if rank != heap[0]:  # it was once as long as that
            if longest[at] < 0:
                heappop(heap)
            else:
                heapreplace(heap, rank)
            continue
        path = []
        while at >= 0:
            path.append(at)
            longest[at] = -1
            before, lead[at] = lead[at], TAKEN
            at = before
        path.reverse()
        found.append(path)
        losers = _cut(path, parents, children, lead, offered, first_only)
        if not losers:
            continue
        for at in losers:
            marked[at] = 1
        at = min(losers)
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
            if offered[parent] >= 0:
                offered[parent] = -1
                losers.extend([child for child in children[parent] if lead[child] == parent])
    return losers
