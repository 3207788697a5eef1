"""Whether a store is a copy of another one, made with its folder.

A store's mark is in the names of its allocations and of its folders at sites. Two with the same one would cancel each
other's allocations and mix their files. So a copy is given a mark of its own before sites are used with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
from pathlib import Path

from headway.live.home.folder import Home
from headway.live.home.ownership import own_file
from headway.live.store import SITES, opened
from headway.live.store.allocations import State
from headway.model.errors import HeadwayError

NOTE = ".origin"  # beside the folders of sites: which file the store is, and where
REASON = "asked for by the store that this one is a copy of"


def remember(place: str | Path) -> None:
    """Notes where a store is, for `become_own` of its copies. A server's store has none."""
    database = Path(place)
    note = database.parent / SITES / NOTE
    if "://" not in str(place) and database.is_file() and not (note.exists() and _is_copy(database, note)):
        with contextlib.suppress(OSError):
            _write(database, note)


def become_own(home: Home) -> None:
    """Gives a store another mark if it is a copy of one that is still there. Nobody here has it open for sites."""
    database, note = home.database, home.folder / SITES / NOTE
    if not (note.exists() and database.exists()) or not _is_copy(database, note):
        return
    lock = own_file(note, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_copy(database, note):
            return  # another run has just done it
        line = home.connect()
        if line is not None:
            line.close()
            what = f"a run in {home.folder} goes on, which is a copy of another folder."
            raise HeadwayError(what, "Wait for its end (headway attach), or stop it (headway cancel); then run again.")
        for folder in note.parent.iterdir():
            if folder.is_dir():
                shutil.rmtree(folder)  # processes of the other store have them
        _mark(database)
        _write(database, note)
    finally:
        os.close(lock)


def _is_copy(database: Path, note: Path) -> bool:
    """Whether the note is of another file, which is still there. A store that was moved has its note of nothing."""
    number, _, path = note.read_text(errors="surrogateescape").rstrip("\n").partition(" ")
    other = Path(path)
    if not number.isdecimal() or not other.is_absolute() or int(number) == database.stat().st_ino:
        return False
    with contextlib.suppress(OSError):
        return other.stat().st_ino == int(number) and not other.samefile(database)
    return False


def _write(database: Path, note: Path) -> None:
    handle = own_file(note, os.O_WRONLY | os.O_CREAT)
    with os.fdopen(handle, "w", errors="surrogateescape") as file:
        file.truncate()
        file.write(f"{database.stat().st_ino} {database.resolve()}\n")


def _mark(database: Path) -> None:
    store = opened(database)
    others = [one.id for one in store.allocations.all() if one.state is not State.ENDED]
    store.allocations.end(others, REASON, store.clock())
    store.close()
    with contextlib.closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'id'", (os.urandom(8).hex(),))
