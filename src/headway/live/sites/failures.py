"""Jobs that fail in the allocations of a site, for clients who want nothing new begun after a failure."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from headway.live.client.messages import Failure
from headway.live.home.folder import far_log
from headway.live.sites.guests import Guest
from headway.model.messages import Finish, JobId, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store


class Failures:
    """Those of before a client came do not count for it."""

    def __init__(self, store: Store, site: str) -> None:
        self._store, self._site = store, site
        self._before: dict[socket.socket, set[int]] = {}  # of each such client
        self.are_new = False  # an attempt has failed since that was last looked at

    def heard(self, ends: Sequence[Finish]) -> None:
        """Attempts have ended."""
        self.are_new = self.are_new or any(end.exit_code for end in ends)

    def follow(self, guest: Guest) -> None:
        """From now on its failures count, if it wants that."""
        if guest.run is not None and guest.run.fail_fast and guest.line not in self._before:
            there = self._store.progress.failures(WorkflowId(guest.run.workflow))
            self._before[guest.line] = {job for _, job, *_ in there}

    def forget(self, guest: Guest) -> None:
        self._before.pop(guest.line, None)

    def new(self, guest: Guest) -> list[Failure]:
        """The jobs of a client that have failed here for good since it came."""
        before = self._before.get(guest.line)
        if before is None or guest.run is None:
            return []
        workflow = WorkflowId(guest.run.workflow)
        return [
            Failure(
                name, code, reason or "", far_log(folder, workflow, JobId(job), attempt) if attempt else None, attempt
            )
            for name, job, attempt, code, reason, site, folder in self._store.progress.failures(workflow)
            if job not in before and site == self._site
        ]
