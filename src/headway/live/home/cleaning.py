"""What of a store is no longer needed, and how it goes: rows first, then logs, never anything that runs."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.live.client.asking import PATIENCE, asked_all
from headway.live.home import environments
from headway.live.home.folder import Home
from headway.live.store import Store
from headway.live.store.views import Run
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds, WorkflowId
from headway.model.record import field, record

_GONE = ".gone-"


@record
class Wish:
    """What is to be removed."""

    workflows: frozenset[WorkflowId] = frozenset()  # these and no others, whatever their state
    all: bool = False  # also those that could be gone on with
    before: Seconds | None = None  # only what nothing has happened to since
    only_logs: bool = False  # the store stays as it is


@record
class Litter:
    """A file or folder of logs that can go."""

    path: Path
    size: int  # bytes


@record
class Plan:
    """What will be removed: workflows from the store, and logs; and what was asked for but is running."""

    runs: list[Run] = field(default_factory=list)
    litter: list[Litter] = field(default_factory=list)
    running: list[Run] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.litter)

    def __bool__(self) -> bool:
        return bool(self.runs or self.litter)


def plan(home: Home | None, store: Store, wish: Wish, now: Seconds) -> Plan:
    """What a wish comes to."""
    runs = store.history.runs()
    busy = running(home, store, runs, now)
    latest = {run.source: run.workflow for run in runs}
    chosen = [run for run in runs if _is_meant(run, latest[run.source], wish)]
    found = Plan(
        [run for run in chosen if run.workflow not in busy], [], [run for run in chosen if run.workflow in busy]
    )
    if home is not None:
        gone = {run.workflow for run in found.runs}
        found.litter.extend(_litter(home, gone, {run.workflow for run in runs}, wish))
    return found


def running(
    home: Home | None, store: Store, runs: Sequence[Run], now: Seconds, patience: float = PATIENCE
) -> set[WorkflowId]:
    """The workflows that somebody runs now."""
    if home is not None and not home.is_foreign:
        said = asked_all(home, patience)
        if said is None:  # jobs at other sites outlive all that is here
            is_there = store.is_shared and bool(store.watching.present(now))
            return {run.workflow for run in runs if is_there and run.leases}
        return {run.workflow for run in runs if run.leases or run.workflow in said.workflows}
    present = bool(store.watching.present(now))
    return {run.workflow for run in runs if run.leases or (present and run.is_under_way)}


def _is_meant(run: Run, latest: WorkflowId, wish: Wish) -> bool:
    if wish.workflows:
        return run.workflow in wish.workflows
    if wish.before is not None and run.last_sign >= wish.before:
        return False
    return wish.all or run.is_done or run.workflow != latest  # only the latest of a file is ever gone on with


def _litter(home: Home, gone: set[WorkflowId], known: set[WorkflowId], wish: Wish) -> Iterator[Litter]:
    """The logs of workflows that go, of those that went before, and of jobs whose runner died."""
    with contextlib.suppress(FileNotFoundError):
        for path in sorted(home.logs.iterdir()):
            number = WorkflowId(int(path.name)) if path.name.isdecimal() else None
            stray = path.name == "lost" or path.name.startswith(_GONE)
            left = not wish.workflows and (number not in known if number is not None else stray)
            if number in gone or (left and not (wish.before is not None and _newest(path) >= wish.before)):
                yield Litter(path, _size(path))


def _files(path: Path) -> Iterator[os.stat_result]:
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                yield Path(folder, name).lstat()


def _size(path: Path) -> int:
    return sum(one.st_size for one in _files(path))


def _newest(path: Path) -> Seconds:
    return max((one.st_mtime for one in _files(path)), default=0.0)


def carry_out(home: Home | None, store: Store, what: Plan, wish: Wish, now: Seconds) -> int:
    """Removes what was planned; how many bytes of the disk are free again."""
    before = _database(home)
    # Nobody submits meanwhile: who comes now finds the workflow whole, or not at all.
    with home.submitting() if home is not None else contextlib.nullcontext():
        _refuse_if_running(home, store, what, now)
        if what.runs and not wish.only_logs:
            if home is not None and any(run.leases for run in what.runs):
                _recover(home, store)
            store.history.forget([run.workflow for run in what.runs])
            for run in what.runs:
                if home is not None:
                    environments.forget(home.folder, run.workflow)
        aside = [_aside(one.path) for one in what.litter]
    if what.runs and not wish.only_logs:
        store.database.shrink()
    for path in aside:
        shutil.rmtree(path, ignore_errors=True)
    return max(0, before - _database(home)) + what.size


def _refuse_if_running(home: Home | None, store: Store, what: Plan, now: Seconds) -> None:
    """Checks again: the user may have taken minutes to answer the prompt."""
    said = asked_all(home) if home is not None else None
    if said is not None and said.undecided:
        raise HeadwayError("nothing was removed: a headway run is just starting.", "Try again in a moment.")
    known = {run.workflow for run in what.runs}
    busy = running(home, store, [run for run in store.history.runs() if run.workflow in known], now)
    if busy:
        raise HeadwayError(f"nothing was removed: workflow {min(busy)} is running now.", "Clean when it has ended.")


def _aside(path: Path) -> Path:
    """Logs that are to go, where no job looks for them any more."""
    aside = path.with_name(f"{_GONE}{path.name.removeprefix(_GONE)}")
    with contextlib.suppress(OSError):
        path.rename(aside)
        return aside
    return path


def _database(home: Home | None) -> int:
    """Bytes of an SQLite store on disk."""
    if home is None:
        return 0
    files = [home.database.with_name(home.database.name + ending) for ending in ("", "-wal")]
    return sum(file.stat().st_size for file in files if file.exists())


def _recover(home: Home, store: Store) -> None:
    """Ends what a runner that died has left running, as the next runner would, so that nobody forgets it alive."""
    import select
    import time

    from headway.engine.ready import Room
    from headway.live.doors.messages import Question
    from headway.live.doors.port import Direct
    from headway.live.doors.store_end import StoreEnd
    from headway.live.placeholder.jobs import Jobs
    from headway.live.placeholder.recovery import greet, recover
    from headway.live.placeholder.roster import Roster
    from headway.live.placeholder.spool import Spool

    lock = home.locked()
    if lock is None:
        return  # a runner has come; what it runs is not forgotten
    try:
        spool, roster = Spool(home.spool), Roster(home.roster)
        end = StoreEnd(store)
        port = Direct(end)
        welcome = greet(home, port, spool)
        mark = f"{store.id}-{home.identity:x}"
        jobs = Jobs(home, mark, None, roster, select.epoll())
        over, _ = recover(home, port, welcome, mark, spool, roster, jobs, goes_on=False)
        end.exchange(Question([jobs.settled(ended) for ended in over], Room(0, 0), (), time.time()))
        roster.clear()
        port.leave()
    finally:
        lock.close()
