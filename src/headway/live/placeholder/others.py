"""The runner's part in a store that others use too: what they change, and what was lost to them."""

from __future__ import annotations

import contextlib
import select
from collections.abc import Collection
from typing import TYPE_CHECKING

from headway.engine.silence import GAP
from headway.live.clock import since_boot
from headway.live.placeholder.exchange import Supply
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.running import TAKEN
from headway.live.placeholder.sub_workflows import Nesting
from headway.model.errors import HeadwayError
from headway.model.messages import LeaseId, Seconds

if TYPE_CHECKING:
    from headway.live.store import Store


class Others:
    """Other placeholders at the same store, and people who steer it from elsewhere."""

    def __init__(
        self, store: Store, supply: Supply, jobs: Jobs, nesting: Nesting, poll: select.epoll, patience: Seconds
    ) -> None:
        self._store, self._supply, self._jobs, self._nesting, self._poll = store, supply, jobs, nesting, poll
        self._patience = patience
        self.ear = -1  # the handle that can be read when the store has news
        self.keep_listening()

    def keep_listening(self) -> None:
        """Waits for the store's news too: on a new connection, if the last one broke."""
        if self._supply.trouble:
            self.ear = -1
        if self.ear < 0 <= self._store.news.fileno():
            self.ear = self._store.news.fileno()
            with contextlib.suppress(FileExistsError):
                self._poll.register(self.ear, select.EPOLLIN)

    def hear(self) -> None:
        """Other placeholders, or people, have changed workflows."""
        try:
            news = self._store.news.heard()
        except HeadwayError as error:
            self.ear = -1
            self._supply.worry(str(error))
            return
        for workflow, stops in news.items():
            self._supply.stir(workflow)
            self._supply.calls_roll = self._supply.calls_roll or stops

    def notice_absence(self) -> None:
        """This process was stopped, or the store away, for so long that others may have our leases by now."""
        if since_boot() - self._supply.contact > self._patience / GAP and (self._jobs.running or self._supply.at_hand):
            self._supply.was_away = self._supply.calls_roll = True

    def lose(self, leases: Collection[LeaseId]) -> None:
        """Others have these leases now: their jobs here end before anything else begins."""
        self._supply.drop(leases)
        self._supply.lost |= {job.lease.id for job in self._jobs.running.values() if job.lease.id in leases}
        self._jobs.end(leases, TAKEN)
        self._nesting.stop_inside(leases)
