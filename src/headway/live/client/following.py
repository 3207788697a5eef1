"""How far a workflow is, for somebody who stays and watches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from headway.live.store import Store
from headway.model.messages import JobId, Seconds, WorkflowId
from headway.model.states import COUNTED, State

_SHARE = 0.05  # of its time that a watcher may spend on looking, however large the workflow is


class Following:
    """The counts of a workflow's jobs: all are read once, and after that only those that have changed."""

    def __init__(self, store: Store, workflow: WorkflowId, clock: Callable[[], Seconds] = time.monotonic) -> None:
        self._store, self._workflow, self._clock = store, workflow, clock
        self._after: int | None = None
        self._next = clock()  # when it is worth another look
        self._states: dict[JobId, State] = {}
        self._counts: Counter[State] = Counter()

    def look(self) -> Counter[State]:
        """How many jobs are in each state, milestones left out; as they were a moment ago if looking takes long."""
        begun = self._clock()
        if begun < self._next:
            return self._counts
        found = self._store.watching.changes(self._after, self._workflow)
        is_first, self._after = self._after is None, found.after
        for job in found.jobs:
            if job.kind in COUNTED:
                before = self._states.get(job.job)
                if before is not None:
                    self._counts[before] -= 1
                self._states[job.job] = job.state
                self._counts[job.state] += 1
        ended = self._clock()
        self._next = ended if is_first else ended + (ended - begun) / _SHARE
        return self._counts
