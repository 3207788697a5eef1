"""Startlines and deadlines: a window for each job, from what is reserved already and its share of the time left.

The paper gives the first sequence the whole time, and the others what the sequences they depend on leave them. Taken
literally that leaves some windows no room at all. Here all the time is shared out: every job that is not reserved yet
keeps a window of at least `share` times its length, whatever was reserved before it (docs/differences.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from headway.model.dag import Dag
from headway.model.record import record
from headway.policies.by_when.sequences import Decomposition


@record
class Window:
    """When a job may begin at the earliest, and when it must have ended; its inputs are promised for the first."""

    start: int
    end: int


class Windows:
    """What is known of when each job of a workflow runs. Jobs are in milliseconds on the owner's node.

    `notice`: how long news of an end takes to reach another node; jobs of one sequence run on one node.
    """

    def __init__(
        self,
        dag: Dag,
        cut: Decomposition,
        times: Sequence[int],
        start: int,
        deadline: int,
        notice: int = 0,
        not_before: Sequence[int] | None = None,
    ) -> None:
        self.dag, self.cut, self.times, self.start, self.deadline, self.notice = (
            dag,
            cut,
            times,
            start,
            deadline,
            notice,
        )
        through = dag.job_count != len(dag)
        jobs = range(len(dag))
        self.before = [list(dag.job_parents(job) if through else dag.parents_of(job)) for job in jobs]
        self.after = [list(dag.job_children(job) if through else dag.children_of(job)) for job in jobs]
        self.place = [0] * len(dag)
        for at, job in enumerate(dag.order):
            self.place[job] = at
        self.pinned: dict[int, Window] = {}
        self.not_before = [max(start, one) for one in not_before] if not_before else [start] * len(dag)
        self.share = self._share()
        self.earliest = list(self.not_before)
        self.latest = [deadline] * len(dag)
        self._forward(jobs)
        self._backward(jobs)

    def _share(self) -> float:
        """How much longer than the longest path the time is; less than 0: it is over before it begins."""
        if max(self.not_before, default=self.start) > self.start:
            return self._share_of_late()
        longest, hops = [0] * len(self.dag), [0] * len(self.dag)
        for job in self.dag.order:
            if self.dag.milestones[job]:
                continue
            for parent in self.before[job]:
                longest[job] = max(longest[job], longest[parent])
                hops[job] = max(hops[job], hops[parent] + self._apart(parent, job))
            longest[job] += self.times[job]
        room = self.deadline - self.start - self.notice * max(hops, default=0)
        return room / max(max(longest, default=1), 1)

    def _share_of_late(self) -> float:
        """The same where some jobs wait for others that are not planned here."""
        low, high = 0.0, max((self.deadline - self.start) / max(min(self.times), 1), 0.0)
        if not self._in_time(low):
            return -1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._in_time(middle) else (low, middle)
        return low

    def _in_time(self, share: float) -> bool:
        ends = [0] * len(self.dag)
        for job in self.dag.order:
            begin = max([self.not_before[job], *(ends[one] + self._after(one, job) for one in self.before[job])])
            ends[job] = begin + int(share * self.times[job])
            if ends[job] > self.deadline:
                return False
        return True

    def _apart(self, job: int, other: int) -> bool:
        return self.cut.sequence_of[job] != self.cut.sequence_of[other]

    def _after(self, job: int, other: int) -> int:
        return self.notice if self._apart(job, other) else 0

    def _least(self, job: int) -> int:
        return int(self.share * self.times[job])

    def pin(self, job: int, window: Window) -> None:
        """A job is reserved, or has ended: its window is what it is."""
        self.pinned[job] = window
        self._forward(self.after[job])
        self._backward(self.before[job])

    def _forward(self, jobs: Iterable[int]) -> None:
        place = self.place
        waiting = [(place[job], job) for job in jobs if not self.dag.milestones[job]]
        heapify(waiting)
        last = -1
        while waiting:
            _, job = heappop(waiting)
            if job == last or job in self.pinned:  # a job comes once for each neighbour that has changed, in a row
                continue
            last = job
            found = self.not_before[job]
            for parent in self.before[job]:
                known = self.pinned.get(parent)
                end = known.end if known else self.earliest[parent] + self._least(parent)
                found = max(found, end + self._after(parent, job))
            if found != self.earliest[job]:
                self.earliest[job] = found
                for child in self.after[job]:
                    heappush(waiting, (place[child], child))

    def _backward(self, jobs: Iterable[int]) -> None:
        place = self.place
        waiting = [(-place[job], job) for job in jobs if not self.dag.milestones[job]]
        heapify(waiting)
        last = -1
        while waiting:
            _, job = heappop(waiting)
            if job == last or job in self.pinned:  # a job comes once for each neighbour that has changed, in a row
                continue
            last = job
            found = self.deadline
            for child in self.after[job]:
                known = self.pinned.get(child)
                start = known.start if known else self.latest[child] - self._least(child)
                found = min(found, start - self._after(job, child))
            if found != self.latest[job]:
                self.latest[job] = found
                for parent in self.before[job]:
                    heappush(waiting, (-place[parent], parent))

    def of_sequence(self, number: int) -> list[Window]:
        """Windows of the jobs of a sequence, which are pinned now. Ends are shared out in proportion to lengths."""
        jobs = self.cut.sequences[number]
        first, last = self.earliest[jobs[0]], self.latest[jobs[-1]]
        total = sum(self.times[job] for job in jobs) or 1
        found, begun, done = [], first, 0
        for job in jobs:
            done += self.times[job]
            start = max(begun, self.earliest[job])
            point = first + (last - first) * done // total
            end = min(max(point, start + self._least(job)), self.latest[job])
            found.append(Window(start, end))
            self.pin(job, found[-1])
            begun = end
        return found

    def floating(self, number: int) -> list[tuple[int, int]]:
        """The bounds that a sequence must keep to: start and end of each job, 0 where only its neighbours bound it.

        A job inside a sequence is bound only where something that is not reserved counts on it.
        """
        jobs = self.cut.sequences[number]
        windows = self.of_sequence(number)
        bounds = []
        for at, (job, window) in enumerate(zip(jobs, windows, strict=True)):
            start_counts = not at or any(self._apart(job, other) for other in self.before[job])
            end_counts = at == len(jobs) - 1 or any(self._apart(job, other) for other in self.after[job])
            bounds.append((window.start if start_counts else 0, window.end if end_counts else 0))
        return bounds
