"""A run's deadline: whether it can be met, said beforehand; the moment it cannot any more; and how it went."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from headway.live.store import Store
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.messages import JobId, Seconds, WorkflowId
from headway.model.quantities import duration
from headway.model.states import State
from headway.policies.by_when.feasible import check, latest_starts

LOOK = 2.0  # seconds between two looks at what is left, and more where looking takes long
ORDER = "critical-path"  # which is that of the latest starts: who has least time to spare runs first
SHARE = 0.02  # of the time that may be spent on looking
HOW_TO_TELL = "Give the jobs seconds=…, or run it once: Headway remembers how long its jobs take."


class Deadline:
    """Of one run. `end`: by the clock here."""

    def __init__(self, seconds: Seconds, clock: Callable[[], Seconds] = time.time) -> None:
        self._clock = clock
        self.queues: Sequence[str] = ()  # sites where jobs wait for an allocation first, nobody knows how long
        self.end = clock() + seconds
        self._next = 0.0
        self._is_lost = self._is_done = False
        self._ended = 0.0
        self._tails: Sequence[float] = ()  # of each job, the longest path from its beginning to the end of all

    @property
    def left(self) -> Seconds:
        return self.end - self._clock()

    def foresee(self, store: Store, workflow: WorkflowId, flat: Flat, times: dict[str, float], slots: int) -> list[str]:
        """What can be said beforehand. One that no schedule could meet is refused, with what would be possible."""
        dag = self._remaining(store, workflow, flat, times)
        unknown = dag.job_count - dag.timed
        known = dag.with_seconds([dag.seconds[job] if dag.seconds[job] else 0.0 for job in range(len(dag))])
        self._tails = [
            -start for start in latest_starts(known if dag.timed else dag.with_seconds([0.0] * len(dag)), 0.0)
        ]
        if not unknown or self.left <= 0:
            check(dag, self.left)
        return self._said(dag, slots, unknown)

    def _said(self, dag: Dag, slots: int, unknown: int) -> list[str]:
        longest, work = dag.critical_path.seconds, dag.work
        least = max(longest, work / slots)
        most = work / slots + longest * (1 - 1 / slots)  # Graham: no schedule that keeps slots busy takes longer
        when = time.strftime("%H:%M:%S", time.localtime(self.end))
        if unknown and unknown >= dag.job_count:
            told = f"deadline {when}: whether it can be met is not known, since no job tells how long it takes."
            return [f"{told} {HOW_TO_TELL}"]
        but = f" ({unknown:,} jobs of unknown length not counted)" if unknown else ""
        left = f"{duration(self.left)} are left"
        if least > self.left:
            on = f"{slots:,} slot{'s' * (slots != 1)}"
            what = f"it cannot be met on {on}: the jobs take at least {duration(least)}, {left}"
        else:
            can = "can" if most <= self.left and not self.queues else "may"
            what = f"it {can} be met: the jobs take {duration(least)} to {duration(most)}, {left}"
        wait = (
            f"; how long they wait in the queue of {' and of '.join(self.queues)} is not known" if self.queues else ""
        )
        return [f"deadline {when}: {what}{but}{wait}."]

    def _remaining(self, store: Store, workflow: WorkflowId, flat: Flat, times: dict[str, float]) -> Dag:
        """The graph with expected run times, nothing for what is done."""
        done = {job.job for job in store.progress.jobs(workflow) if job.state is State.DONE}
        seconds = [
            None if job is None else 0.0 if JobId(node) in done else times.get(name, job.seconds)
            for node, (name, job) in enumerate(zip(flat.dag.names, flat.jobs, strict=True))
        ]
        return flat.dag.with_seconds(seconds)

    def news(self, store: Store, workflow: WorkflowId) -> str:
        """A warning, once, when the deadline cannot be met any more: a job that has not begun comes too late."""
        now = time.monotonic()
        if self._is_lost or now < self._next or not self._tails:
            return ""
        left = self.left
        left_over = [job for job in store.progress.jobs(workflow) if job.state is not State.DONE]
        waiting = [job.job for job in left_over if job.state not in (State.RUNNING, State.FAILED)]
        longest = max((self._tails[job] for job in waiting if job < len(self._tails)), default=0.0)
        if not left_over or (longest <= left and left > 0):
            # If nothing else begins, it is lost at that moment: that is when to look again, to the hundredth.
            taken, spare = time.monotonic() - now, left - longest if left_over else LOOK
            self._next = time.monotonic() + max(min(LOOK, spare + 0.01), taken / SHARE)
            return ""
        self._is_lost = True
        if not longest:
            return "the deadline cannot be met any more: it has passed, and not all jobs are done."
        late = duration(longest - max(0.0, left))
        return f"the deadline cannot be met any more: what is left takes {late} longer than the time until then."

    @property
    def pause(self) -> Seconds:
        """Until the next look."""
        return LOOK if self._is_lost or not self._tails else max(0.01, self._next - time.monotonic())

    def settle(self, ended: Seconds, is_done: bool) -> None:
        """The run has ended."""
        self._ended, self._is_done = ended, is_done

    @property
    def is_met(self) -> bool:
        return self._is_done and self._ended <= self.end

    @property
    def slack(self) -> Seconds:
        """Seconds to spare; less than 0: so much too late."""
        return self.end - self._ended

    @property
    def verdict(self) -> str:
        """How it went."""
        if not self._is_done:
            return "the deadline is not met: not everything is done."
        if self.is_met:
            return f"the deadline is met, with {duration(self.slack)} to spare."
        return f"the deadline is missed by {duration(-self.slack)}."


def watched(
    deadline: Deadline,
    store: Store,
    workflow: WorkflowId,
    warn: Callable[[str], None],
    others: Callable[[], float] | None,
) -> Callable[[], float]:
    """What is to be done between two reports of a run: a warning when its deadline is lost, and what is done anyway."""

    def between() -> float:
        pause = LOOK if others is None else min(LOOK, others())
        said = deadline.news(store, workflow)
        if said:
            warn(f"warning: {said}")
        return min(pause, deadline.pause)

    return between
