"""What a new runner does first: it takes over from one that died."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.engine.ready import Room
from headway.live.failpoint import here
from headway.live.home import Home
from headway.live.placeholder.halves import remove_later
from headway.live.placeholder.orphans import Search
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.supply import by_another_clock
from headway.live.spec import Spec
from headway.model.messages import Finish, LeaseId, PlaceholderId

if TYPE_CHECKING:
    from headway.live.store.protocol import Working


def recover(
    home: Home,
    store: Working,
    placeholder: PlaceholderId,
    before: Sequence[PlaceholderId],
    mark: str,
    spool: Spool,
    roster: Roster,
) -> None:
    """What the last runner spooled is recorded; what it ran is ended, and only then may run again.

    Whoever has the lock is the only runner here, so every lease of a store of our own is a dead one's. In one that is
    shared, these are the leases of the placeholders that ran here before.
    """
    ahead = store.clock() - time.time() if store.is_shared else 0.0
    spooled = [by_another_clock(finish, ahead) for finish in spool.replay()]
    store.exchange(placeholder, spooled, Room(0, 0), (), store.clock())
    here("recover.after-replay")
    spool.settled(idle=True)
    leases = [lease for one in before for lease in store.held(one)] if store.is_shared else store.open_leases()
    if leases:
        logs = os.path.realpath(home.logs) + "/"
        Search(mark, set(leases), (logs,), roster.left()).end_all()
        _remove_halves(store, leases)
        now = store.clock()
        lost = [Finish(lease, None, ended=now, reason="lost: its runner died") for lease in leases]
        here("recover.before-requeue")
        store.exchange(placeholder, lost, Room(0, 0), (), now)
    roster.clear()
    for left in home.folder.glob(".store-*"):  # by one that died while it made the store
        left.unlink(missing_ok=True)


def _remove_halves(store: Working, leases: Sequence[LeaseId]) -> None:
    """What jobs that were ended have half-written is removed: make, for one, would take it for whole."""
    for lease in leases:
        found = store.lost(lease)
        if found is not None and '"outputs"' in found[0]:
            remove_later(Spec.read(found[0]), *found[1:])
