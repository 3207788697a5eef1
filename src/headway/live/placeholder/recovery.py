"""What a new runner does first: it takes over from one that died."""

from __future__ import annotations

import math
import os
import select
import time
from collections.abc import Collection, Mapping, Sequence

from headway.engine.ready import Room
from headway.live.doors.messages import Hello, Left, Question, Reply, Trouble, Welcome
from headway.live.failpoint import failpoint
from headway.live.home.folder import Home, say
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.orphans import Search
from headway.live.placeholder.partial_outputs import keep_later
from headway.live.placeholder.roster import LENT, NESTED, NEVER, NOTHING, Entry, Roster
from headway.live.placeholder.running import GIVEN_BACK, LOST, Ended
from headway.live.placeholder.spool import Spool
from headway.live.store.spec import Spec
from headway.model.errors import HeadwayError
from headway.model.messages import PATIENCE, Finish, LeaseId, Seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.doors.port import Port


def greet(home: Home, port: Port, spool: Spool, patience: Seconds = PATIENCE, is_apart: bool = False) -> Welcome:
    """Introduces a new runner to its store: what the last one spooled is recorded, and what it left is told.

    `is_apart`: its folder is not that of the store.
    """
    before = home.remembered()
    ends = list(spool.replay())
    own = str(home.folder) if is_apart else ""
    hello = Hello(os.uname().nodename, os.getpid(), time.time(), patience, None, before, ends, home=own)
    welcome = port.hello(hello)
    if welcome.is_shared:
        home.remember([*before, welcome.placeholder])
    failpoint("recover.after-replay")
    spool.settled(idle=True)
    return welcome


def recover(
    home: Home,
    port: Port,
    welcome: Welcome,
    mark: str,
    spool: Spool,
    roster: Roster,
    jobs: Jobs,
    goes_on: bool = True,
) -> tuple[list[Ended], Sequence[LeaseId]]:
    """Takes over what the last runner left: jobs that have ended since, and leases that the store has given to others.

    Jobs that still run go on, if their ends will be known. All others are ended, and only then may run again. The
    holder of the lock is the only runner here, so every lease that is left is a dead one's.

    `goes_on`: this is a runner. Anybody else ends what runs.
    """
    for remark in (spool.remark, roster.remark):
        if remark:
            say(remark)
            jobs.warnings.append(remark)
    open_leases = {one.id: one for one in welcome.left}
    left = _left(roster)
    ended, kept = _adopted(open_leases, left, roster, jobs, goes_on)
    mine = {job.place for job in jobs.running.values()} | {one.job.place for one in ended}
    known = {entry.lease for entry in left.values() if entry.place in mine}
    lost = [lease for lease in open_leases if lease not in known]
    _end_others(home, mark, lost, [entry for entry in left.values() if entry.place not in mine], ended, jobs)
    gone: Sequence[LeaseId] = ()
    if lost or kept:
        if lost:
            jobs.warnings += _keep_halves(open_leases, lost, left, roster)
        failpoint("recover.before-requeue")
        finishes = _given_back(lost, left, roster, time.time())
        holds = kept if kept else None
        port.ask(Question(finishes, Room(0, 0), (), time.time(), (), holds, kept))
        gone = _reply(port).answer.lost
    roster.clear(mine)
    jobs.launch.outputs.clear()
    for store_file in home.folder.iterdir():
        if _is_left(store_file.name):
            store_file.unlink(missing_ok=True)
    return ended, gone


def _is_left(name: str) -> bool:
    """Whether a file is a store that somebody began to make and died; others may be making one just now."""
    before, _, rest = name.partition("-")
    if before != ".store":
        return False
    try:
        with open(f"/proc/{rest.partition('-')[0]}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] in "ZX"  # dead, and nobody has waited for it
    except (OSError, IndexError):
        return True


def _reply(port: Port) -> Reply:
    """The answer to the only question there is; nothing else can be done before it comes."""
    while True:
        for response in port.responses():
            if isinstance(response, Reply):
                return response
            if isinstance(response, Trouble):
                raise HeadwayError(response.what, response.fix)
        select.select([port.fileno()], [], [])


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


def _adopted(
    there: Mapping[LeaseId, Left], left: Mapping[LeaseId, Entry], roster: Roster, jobs: Jobs, goes_on: bool
) -> tuple[list[Ended], list[LeaseId]]:
    """Takes over attempts that the store still counts on: those that have ended, and the leases of all."""
    ended, kept = list[Ended](), list[LeaseId]()
    for number, entry in left.items():
        one = there.get(number)
        if one is None or one.lease is None or not _is_kept(roster, entry, goes_on):
            continue
        over = jobs.adopt(entry, one.lease, one.directory, time.monotonic())
        kept.append(number)
        if over is not None:
            ended.append(over)
    if kept:
        failpoint("recover.after-adoption")
    return ended, kept


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


def _given_back(lost: Sequence[LeaseId], left: Mapping[LeaseId, Entry], roster: Roster, now: float) -> list[Finish]:
    """Attempts that did not come to their end, with their starts where these are known."""
    starts = roster.starts()
    return [
        Finish(lease, None, ended=now, reason=GIVEN_BACK)
        if _never_began(lease, left, roster)
        else Finish(lease, None, starts.get(lease, 0.0), now, reason=LOST)
        for lease in lost
    ]


def _never_began(lease: LeaseId, left: Mapping[LeaseId, Entry], roster: Roster) -> bool:
    """Whether it is certain that an attempt was not started: the last runner only had its lease."""
    return roster.is_current and (lease not in left or left[lease].pid == NEVER)


def _keep_halves(
    there: Mapping[LeaseId, Left], lost: Sequence[LeaseId], left: Mapping[LeaseId, Entry], roster: Roster
) -> list[str]:
    """What lost jobs may have half-written is kept under another name: make would take it for whole.

    A job that was not begun has written nothing; nor has one of before the machine's last start written since.
    """
    said = list[str]()
    until = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) if roster.is_of_before else math.inf
    for lease in lost:
        entry = left.get(lease)
        if _never_began(lease, left, roster):
            continue
        found = there[lease]
        if '"outputs"' in found.outputs:
            since = found.given if entry is None else entry.started
            said += keep_later(Spec.read(found.outputs), found.directory, since, until)
    if said:
        for sentence in said:
            say(sentence)
    return said
