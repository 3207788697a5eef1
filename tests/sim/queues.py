"""A batch queue written down once more, second by second, by what its rules say; and small logs to try queues on."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from headway.engine.queue import FairShare, Policy
from headway.formats.swf import Log

SIZES = (2, 4, 8)  # powers of two, so that shares of the machine are exact


def log_of(rows: Sequence[tuple[float, float, int, float, int]], processors: int) -> Log:
    """Submission, run time, width, request, user of each job."""
    rows = sorted(rows)
    columns: list[list[float]] = [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * 5
    submit, run, width, request, user = columns
    runs = array("d", [min(pair) for pair in zip(run, request, strict=True)])
    return Log(
        "made up", processors, array("d", submit), runs, array("q", map(int, width)), array("d", request),
        array("q", map(int, user)),
    )  # fmt: skip


@st.composite
def logs(draw: st.DrawFn, most: int = 14, within: int = 60) -> Log:
    processors = draw(st.sampled_from(SIZES))
    job = st.tuples(
        st.integers(0, within), st.integers(1, 40), st.integers(1, processors), st.integers(1, 50), st.integers(0, 2)
    )
    return log_of(draw(st.lists(job, min_size=1, max_size=most)), processors)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    share = draw(
        st.none() | st.builds(FairShare, st.sampled_from([1.0, 8.0]), st.just(16.0), st.integers(1, 2), st.just(1.0))
    )
    return Policy(
        "made up",
        draw(st.sampled_from([0.0, 1.0, -1.0])),
        draw(st.sampled_from([25.0, 50.0, 1000.0])),
        draw(st.sampled_from([0.0, 3600.0, 7200.0])),  # a point a second
        share,
        draw(st.booleans()),
    )


def as_requested(log: Log, starts: Sequence[float], now: float, width: int, seconds: int) -> Log:
    """What is there at a moment, one more job at the end; who has not ended by then uses all that was requested."""
    there = [job for job in range(len(log)) if log.submit[job] <= now]
    over = [job for job in there if starts[job] + log.run[job] <= now]
    runs = array("d", [log.run[job] if job in over else log.request[job] for job in there])
    return Log(
        *("made up", log.processors, array("d", [*(log.submit[job] for job in there), now])),
        *(array("d", [*runs, seconds]), array("q", [*(log.width[job] for job in there), width])),
        *(
            array("d", [*(log.request[job] for job in there), seconds]),
            array("q", [*(log.user[job] for job in there), 9]),
        ),
    )


class Reference:
    """All rules taken literally, with a clock that ticks."""

    def __init__(self, log: Log, policy: Policy) -> None:
        self.log, self.policy = log, policy
        self.first = int(log.submit[0])
        self.starts: dict[int, int] = {}

    def end(self, job: int) -> float:
        return self.starts[job] + self.log.run[job]

    def runs(self, job: int, now: float) -> bool:
        return job in self.starts and now < self.end(job)

    def free(self, now: float) -> int:
        return self.log.processors - sum(self.log.width[job] for job in self.starts if self.runs(job, now))

    def priority(self, job: int, now: int) -> float:
        size = self.policy.percent * 100 * self.log.width[job] / self.log.processors
        size = min(self.policy.cap, max(-self.policy.cap, size))
        waited = self.policy.hour * (now - self.log.submit[job]) / 3600
        return size + waited - self.penalty(self.log.user[job], now)

    def penalty(self, user: int, now: int) -> float:
        """By what ran in each second of the intervals that are over."""
        share = self.policy.fair_share
        if share is None:
            return 0.0
        passed = int((now - self.first) // share.interval)
        counted = range(max(0, passed - share.depth), passed)
        if not counted:
            return 0.0
        begins, ends = self.first + counted[0] * share.interval, self.first + passed * share.interval
        used = sum(
            self.log.width[job] * max(0.0, min(ends, self.end(job)) - max(begins, start))
            for job, start in self.starts.items()
            if self.log.user[job] == user
        )
        return share.weight * (100 * used / (self.log.processors * (ends - begins)))

    def played(self) -> list[int]:
        for now in self.ticks():
            waiting = [job for job in range(len(self.log)) if self.log.submit[job] <= now and job not in self.starts]
            waiting.sort(key=lambda job: (-self.priority(job, now), job))
            self.serve(waiting, now)
        return [self.starts[job] for job in range(len(self.log))]

    def ticks(self) -> Iterator[int]:
        now = self.first
        while len(self.starts) < len(self.log):
            yield now
            now += 1

    def start_of(self, job: int, now: int) -> int:
        """When a job starts, if the queue goes on from `now` with nobody else coming."""
        while job not in self.starts:
            waiting = [one for one in range(len(self.log)) if one not in self.starts]
            waiting.sort(key=lambda one: (-self.priority(one, now), one))
            self.serve(waiting, now)
            now += 1
        return self.starts[job]

    def serve(self, waiting: list[int], now: int) -> None:
        while waiting and self.log.width[waiting[0]] <= self.free(now):
            self.starts[waiting.pop(0)] = now
        if not waiting:
            return
        limits = {job: start + self.log.request[job] for job, start in self.starts.items() if self.runs(job, now)}
        reserved = now
        while self.left_at(reserved, limits) < self.log.width[waiting[0]]:
            reserved += 1
        beside = self.left_at(reserved, limits) - self.log.width[waiting[0]]
        for job in waiting[1:]:
            width, in_time = self.log.width[job], now + self.log.request[job] <= reserved
            if width <= self.free(now) and (in_time or (self.policy.beside and width <= beside)):
                self.starts[job] = now
                beside -= 0 if in_time else width

    def left_at(self, when: int, limits: dict[int, float]) -> int:
        return self.log.processors - sum(self.log.width[job] for job, limit in limits.items() if limit > when)
