"""Looks for placeholders that are scripts, in the lists of their queues, once their leases are over.

Who comes by looks: each call of mqnextjob that finds one overdue, and any process of Headway that reclaims jobs. It is
done by one of them at a time, four times in the length of a lease. A list that cannot be had says nothing; nor does one
that has never had a placeholder of ours in it, which may be that of another queue on a host of the same name. What is
missing from a list is not done: its job is given back.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Sequence

from headway.live.store.callers import PROCESS, Overdue, is_in
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.queues import Completed
    from headway.live.store import Store
    from headway.model.messages import JobId, WorkflowId

MARK = "HEADWAY_PLACEHOLDER"  # in the environment of all that a placeholder starts on a host without a queue
_PROBE = "probe"
_PATIENCE = 30.0  # seconds that a list may take
_SSH = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--"]
# Every mark on a host that its asker may see, and how placeholder.sh would end its own mark there: +MACHINE_USER. The
# list has our own in it, or else it shows nothing.
_MARKS = (
    f"export {MARK}={_PROBE}; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | sed -n 's/^{MARK}=//p' | sort -u;"
    ' echo "+$(cut -c1-12 /etc/machine-id 2>/dev/null)_$(id -u 2>/dev/null)"'
)


def look(store: Store) -> list[tuple[WorkflowId, JobId]]:
    """Looks for those that are overdue; the jobs that were given back."""
    back: list[tuple[WorkflowId, JobId]] = []
    places: dict[tuple[str, str], list[Overdue]] = {}
    for one in store.callers.take_overdue(store.clock()):
        places.setdefault((one.sched, one.submit_host), []).append(one)
    for (sched, host), late in places.items():
        listed = _listed(sched, host)
        if listed is not None:
            is_ours = store.callers.is_ours(sched, host, listed)
            late = [one for one in late if would_list(listed, one.sched_id, is_ours)]
            found = [one for one in late if is_in(one.sched_id, listed)]
            missed = [one for one in late if one not in found]
            back += store.callers.seen(found, missed, store.clock())
    return back


def look_apart(place: str) -> None:
    """The same in a process of its own, which nobody waits for."""
    words = ["/bin/sh", "-c", '"$0" -P -m headway.live.doors.queue_looks "$1" </dev/null >/dev/null 2>&1 &']
    pid = os.posix_spawn(words[0], [*words, sys.executable, place], os.environ, setsid=True)
    os.waitpid(pid, 0)


def _listed(sched: str, host: str) -> set[str] | None:
    """The ids that a queue lists; None: it cannot be told."""
    try:
        if sched == PROCESS:
            marks = set(_answer(["/bin/sh", "-c", _MARKS], host).out.split("\n"))
            return marks if _PROBE in marks else None
        from headway.live.sites.queues import queue

        dialect = queue(sched)
        return {one.id for one in dialect.listed(_answer(dialect.listing(), host))}
    except (HeadwayError, OSError):
        return None


def would_list(listed: Collection[str], sched_id: str, is_ours: bool) -> bool:
    """Whether a list would show a placeholder that is there. `is_ours`: it has shown others that say they are there.

    Another host may have the same name, and of other users' processes only root sees the environment.
    """
    here = next((one for one in listed if one.startswith("+")), "")
    (machine, user), (our_machine, our_user) = _place(sched_id), _place(here)
    if not (machine and user and our_machine and our_user):
        return is_ours
    return machine == our_machine and our_user in (user, "0")


def _place(mark: str) -> tuple[str, str]:
    """The machine and the user of a mark; empty where it does not say them."""
    machine, _, user = mark.partition("+")[2].partition("_")
    return "" if machine.strip("0123456789abcdef") else machine, user  # images have "uninitialized"


def _answer(argv: Sequence[str], host: str) -> Completed:
    import subprocess
    from shlex import join

    from headway.live.sites import queues

    words = list(argv) if is_here(host) else [*_SSH, host, join(argv)]
    try:
        done = subprocess.run(  # its own session: what it has started ends with it
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise HeadwayError(f"{argv[0]} does not answer.") from None
    return queues.Completed(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def is_here(host: str) -> bool:
    """Whether a host is this one."""
    here = socket.gethostname()
    return host in ("localhost", here, here.partition(".")[0])


if __name__ == "__main__":
    from headway.live.store import opened

    look(opened(sys.argv[1]))
