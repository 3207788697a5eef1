"""Jobs of a runner that died go on under the next one. They are not its children, and yet it learns how they end.

Their keeper waits for them and notes their ends in the roster. If the keeper has died as well, Linux 6.15 or later
tells a process that holds a pidfd of another how that one ended. If neither can tell, the end is unknown, and
the job runs again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import time

from headway.live.placeholder.orphans import is_dead, process
from headway.live.placeholder.outputs import Outputs
from headway.live.placeholder.partial_outputs import looks_since
from headway.live.placeholder.roster import HALTED, NESTED, STARTING, Entry, Over, Roster
from headway.live.placeholder.running import REASONS, Running
from headway.live.store.spec import Spec
from headway.model.messages import Lease
from headway.model.record import replace

_MOMENT = 0.001  # seconds
_SOON = 20  # moments until what a runner left when it died has come to its keeper
_LATEST = 2000  # moments to wait for the keeper's note; after that the end is unknown
_GET_INFO = 0xC040FF0B  # ioctl(2) of a pidfd, for a struct of 64 bytes
_WITH_EXIT = 1 << 3
_MASK, _EXIT_CODE = struct.Struct("=Q56x"), struct.Struct("=60xi")


def taken_over(
    roster: Roster, outputs: Outputs, entry: Entry, lease: Lease, directory: str
) -> tuple[Running, Over | None]:
    """An attempt as its runner noted it; and how it ended, if that is noted too."""
    job = Running(
        replace(lease, cores=entry.cores),
        entry.pid,
        entry.started,
        entry.place,
        outputs.left(entry.output),
        REASONS[entry.reason],
        is_nested=bool(entry.told & NESTED),
        halted=bool(entry.told & HALTED),
        is_adopted=True,
    )
    over, spec = roster.over(entry.place), Spec.read(lease.spec)
    if spec.outputs:
        job.before = looks_since(spec, directory, entry.existed, entry.started, None if over is None else over.at)
    return job, over


def is_alive(entry: Entry) -> bool:
    """Whether an attempt that a dead runner noted goes on, and its end will be known; or has ended this moment."""
    for _ in range(_SOON):
        one = process(entry.pid)
        if one is None or not one.is_of((entry.before, entry.after)):
            return False
        if one.parent == entry.keeper:
            return True
        time.sleep(_MOMENT)
    return _tells_exits()


def started(roster: Roster, entry: Entry) -> Entry:
    """The same attempt, once the keeper has found out whether it was started."""
    for _ in range(_LATEST):
        if entry.pid != STARTING or is_dead(entry.keeper):
            break
        time.sleep(_MOMENT)
        entry = roster.entry(entry.place)
    return entry


def end_of(roster: Roster, place: int, handle: int | None) -> Over | None:
    """How a process that has ended did so, by its pidfd if there is one; None if nobody knows."""
    keeper = roster.entry(place).keeper
    for _ in range(_LATEST):
        if roster.is_whole(place):
            return roster.over(place)
        if is_dead(keeper):
            break
        time.sleep(_MOMENT)
    return roster.over(place) or (None if handle is None else _exit_of(handle))


def _tells_exits() -> bool:
    """Whether this kernel says how processes ended that are not ours."""
    version = os.uname().release.split(".")
    with contextlib.suppress(ValueError, IndexError):
        return (int(version[0]), int(version[1].partition("-")[0])) >= (6, 15)
    return False


def _exit_of(handle: int) -> Over | None:
    if not _tells_exits():
        return None
    at = time.time()
    for _ in range(_LATEST):  # until its present parent has reaped it
        asked = bytearray(_MASK.pack(_WITH_EXIT))
        try:
            fcntl.ioctl(handle, _GET_INFO, asked)
        except OSError:
            return None
        if _MASK.unpack(asked)[0] & _WITH_EXIT:
            return Over(_EXIT_CODE.unpack(asked)[0], at)
        time.sleep(_MOMENT)
    return None
