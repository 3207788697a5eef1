"""A question to the runner of a store, asked in passing: it does not wait for the one who asks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from headway.live.client.line import answered
from headway.live.client.messages import AskPassword, Password, Place, Where
from headway.live.home.folder import Home
from headway.live.store import SITES
from headway.model.errors import HeadwayError
from headway.model.messages import LeaseId, Seconds, WorkflowId
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store

PATIENCE = 10.0  # seconds, for an answer that nothing can be done without
GLANCE = 2.0  # seconds that somebody who only looks has for a runner that may hang


@record
class Said:
    """What a runner says: where a job writes that has a lease and runs, and what its clients are there for."""

    output: str | None
    workflows: frozenset[int]
    runs: frozenset[WorkflowId]  # those for which it may start jobs
    undecided: bool  # somebody has come who has not said yet which workflow to run
    ahead: frozenset[LeaseId]  # that it has prefetched, and has not begun
    begun: frozenset[LeaseId]  # that run


@record
class Prefetched:
    """Leases that no job runs for yet, or not any more: they come and go by the thousand while one reads of them."""

    ahead: frozenset[LeaseId] = frozenset()
    begun: frozenset[LeaseId] | None = None  # all that run, where that is known

    def __contains__(self, lease: object) -> bool:
        if lease is None:  # of a node that is in the hands of its processes
            return False
        return lease in self.ahead or (self.begun is not None and lease not in self.begun)

    def count(self, leases: Iterable[LeaseId]) -> int:
        return sum(lease in self for lease in leases)


def is_served(home: Home | None, store: Store, now: Seconds) -> bool:
    """Whether somebody is there to run jobs: the local runner, or where it cannot be asked, any that gave a sign."""
    if home is None or store.is_shared or home.is_foreign:
        return store.watching.present(now) > 0 or (home is not None and not home.is_foreign and _has_runs(home))
    try:
        line = home.connect()
    except TimeoutError:  # it hangs, but it is there
        return True
    if line is None:
        return False
    line.close()
    return True


def _has_runs(home: Home) -> bool:
    """Whether a process here wants workflows run, though it may have no placeholder yet: it waits in a queue."""
    try:
        said = asked_all(home, GLANCE)
    except HeadwayError:  # it hangs, but it is there
        return True
    return said is not None and bool(said.runs)


def prefetched(homes: Iterable[Home], shared: bool) -> Prefetched:
    """The leases that runners took ahead and have not begun; where none answers, what the store says has to do.

    In a store that is not shared the one runner that answers knows of all that run.
    """
    ahead: set[LeaseId] = set()
    begun: frozenset[LeaseId] | None = None
    for home in homes:
        with contextlib.suppress(HeadwayError):
            said = asked(home, patience=GLANCE)
            if said is not None:
                ahead |= said.ahead
                begun = None if shared else said.begun
    return Prefetched(frozenset(ahead), begun)


def asked(home: Home, lease: int = 0, patience: float = PATIENCE) -> Said | None:
    """What the runner says; None if there is none, or if it goes just now."""
    said = answered(home, Where(lease), patience)
    if not isinstance(said, Place):
        return None
    undecided = said.clients.count(0) > 1  # the client that asks is counted too
    there, runs = frozenset(said.clients) - {0}, frozenset(map(WorkflowId, said.wanted))
    ahead, begun = frozenset(map(LeaseId, said.ahead)), frozenset(map(LeaseId, said.begun))
    return Said(said.output, there, runs, undecided, ahead, begun)


def doors(home: Home) -> list[Home]:
    """The folders of all processes here that may run workflows of a store: its runner, and one for each site."""
    with contextlib.suppress(OSError):
        names = sorted(one.name for one in os.scandir(home.folder / SITES) if one.is_dir())
        return [home, *(Home(home.folder / SITES / name, to_look=True) for name in names)]
    return [home]


def asked_all(home: Home, patience: float = PATIENCE) -> Said | None:
    """What the runner and the processes of all sites say; None if there is none of them."""
    found = [said for one in doors(home) if (said := asked(one, patience=patience)) is not None]
    if len(found) < 2:
        return found[0] if found else None
    return Said(
        None,
        frozenset().union(*(one.workflows for one in found)),
        frozenset().union(*(one.runs for one in found)),
        any(one.undecided for one in found),
        frozenset().union(*(one.ahead for one in found)),
        frozenset().union(*(one.begun for one in found)),
    )


def password(folder: Path) -> str | None:
    """The password that the runner of a folder has for its server."""
    said = answered(Home(folder, to_look=True), AskPassword(), GLANCE)
    return said.password if isinstance(said, Password) else None
