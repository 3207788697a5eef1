"""What a new runner does first: it takes over from one that died."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Mapping, Sequence

from headway.engine.ready import Room
from headway.live.failpoint import here
from headway.live.home.folder import Home
from headway.live.placeholder.exchange import by_another_clock
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.orphans import Search
from headway.live.placeholder.partial_outputs import keep_later
from headway.live.placeholder.roster import LENT, NESTED, NEVER, NOTHING, Entry, Roster
from headway.live.placeholder.running import GIVEN_BACK, LOST, Ended
from headway.live.placeholder.spool import Spool
from headway.live.store.spec import Spec
from headway.model.messages import Finish, LeaseId, PlaceholderId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store


def recover(
    home: Home,
    store: Store,
    placeholder: PlaceholderId,
    before: Sequence[PlaceholderId],
    mark: str,
    spool: Spool,
    roster: Roster,
    jobs: Jobs,
    goes_on: bool = True,
) -> list[Ended]:
    """Takes over what the last runner left; the jobs that have ended since.

    What it spooled is recorded. Jobs that still run go on, if their ends will be known. All others are ended, and only
    then may run again. Whoever has the lock is the only runner here, so every lease of a store of our own is a dead
    one's. In one that is shared, these are the leases of the placeholders that ran here before.

    `goes_on`: this is a runner. Anybody else ends what runs.
    """
    for remark in (spool.remark, roster.remark):
        if remark:
            from headway.live.placeholder.aside import say  # all that most runs do without is imported late

            say(remark)
            jobs.warnings.append(remark)
    ahead = store.clock() - time.time() if store.is_shared else 0.0
    spooled = [by_another_clock(finish, ahead) for finish in spool.replay()]
    if spooled:
        store.leases.exchange(placeholder, spooled, Room(0, 0), (), store.clock())
    here("recover.after-replay")
    spool.settled(idle=True)
    leases = (
        [lease for one in before for lease in store.leases.held(one)] if store.is_shared else store.leases.open_leases()
    )
    left = _left(roster)
    kept = [entry for lease, entry in left.items() if lease in leases and _is_kept(roster, entry, goes_on)]
    ended = _adopted(store, placeholder, kept, jobs)
    mine = {job.place for job in jobs.running.values()} | {one.job.place for one in ended}
    known = {entry.lease for entry in left.values() if entry.place in mine}
    lost = [lease for lease in leases if lease not in known]
    _end_others(home, mark, lost, [entry for entry in left.values() if entry.place not in mine], ended, jobs)
    if lost:
        jobs.warnings += _keep_halves(store, lost, left, roster)
        now = store.clock()
        here("recover.before-requeue")
        store.leases.exchange(placeholder, _given_back(lost, left, roster, now, ahead), Room(0, 0), (), now)
    roster.clear(mine)
    jobs.launch.outputs.clear()
    for store_file in home.folder.iterdir():
        if store_file.name.startswith(".store-"):  # by one that died while it made the store
            store_file.unlink(missing_ok=True)
    return ended


def _left(roster: Roster) -> dict[LeaseId, Entry]:
    """What the last runner had begun."""
    entries = roster.left()
    if not entries:
        return {}
    from headway.live.placeholder.adoption import started

    return {entry.lease: started(roster, entry) for entry in entries}


def _is_kept(roster: Roster, entry: Entry, goes_on: bool) -> bool:
    """Whether an attempt counts though its runner died.

    One that waited for a run inside it cannot go on: that run has lost its runner, and says that it failed.
    """
    if entry.told & LENT:
        return False
    over = roster.over(entry.place)
    if over is not None:
        return not (entry.told & NESTED and over.status)
    from headway.live.placeholder.adoption import is_alive

    return goes_on and entry.pid > 0 and is_alive(entry)


def _adopted(store: Store, placeholder: PlaceholderId, kept: Sequence[Entry], jobs: Jobs) -> list[Ended]:
    """Takes attempts over that the store still counts on; those that have ended."""
    if not kept:
        return []
    entries = {entry.lease: entry for entry in kept}
    found = [
        jobs.adopt(entries[lease.id], lease, store.leases.directory(lease.workflow))
        for lease in store.leases.adopt(placeholder, list(entries))
    ]
    here("recover.after-adoption")
    return [one for one in found if one is not None]


def _end_others(
    home: Home,
    mark: str,
    lost: Collection[LeaseId],
    others: Sequence[Entry],
    ended: Sequence[Ended],
    jobs: Jobs,
) -> None:
    """Ends what must not go on: attempts that are lost, and what those left that were told to end."""
    told = [one.job.lease.id for one in ended if one.job.reason]
    going_on = [entry for entry in others if entry.pid > 0 and entry.known == NOTHING]
    sessions = {entry.pid: (entry.before, entry.after) for entry in going_on}
    if not lost and not told and not sessions:
        return
    spared = jobs.running.values()
    Search(
        mark,
        {*lost, *told},
        (os.path.realpath(home.logs) + "/",) if lost or sessions else (),
        sessions,
        {job.pid for job in spared},
        {os.path.realpath(job.output.path) for job in spared},
    ).end_all()


def _given_back(
    lost: Sequence[LeaseId], left: Mapping[LeaseId, Entry], roster: Roster, now: float, ahead: float
) -> list[Finish]:
    """Attempts that did not come to their end, with their starts where these are known."""
    starts = roster.starts()
    return [
        Finish(lease, None, ended=now, reason=GIVEN_BACK)
        if _never_began(lease, left, roster)
        else Finish(lease, None, starts[lease] + ahead if lease in starts else 0.0, now, reason=LOST)
        for lease in lost
    ]


def _never_began(lease: LeaseId, left: Mapping[LeaseId, Entry], roster: Roster) -> bool:
    """Whether it is certain that an attempt was not started: the last runner only had its lease."""
    return roster.is_current and (lease not in left or left[lease].pid == NEVER)


def _keep_halves(store: Store, lost: Sequence[LeaseId], left: Mapping[LeaseId, Entry], roster: Roster) -> list[str]:
    """What lost jobs may have half-written is kept under another name: make would take it for whole.

    A job that was not begun has written nothing; nor has one of before the machine's last start written since.
    """
    said = list[str]()
    until = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) if roster.is_of_before else math.inf
    for lease in lost:
        entry = left.get(lease)
        if _never_began(lease, left, roster):
            continue
        found = store.leases.lost(lease)
        if found is not None and '"outputs"' in found[0]:
            since = found[2] if entry is None else entry.started
            said += keep_later(Spec.read(found[0]), found[1], since, until)
    if said:
        from headway.live.placeholder.aside import say

        for sentence in said:
            say(sentence)
    return said
