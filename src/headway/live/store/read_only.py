"""An embedded store that cannot be written, looked at all the same.

SQLite itself would not do: to read beside a writer it writes to the memory that they share, and without that it shows
an old state, or none. So the file and its write-ahead log are copied, and the copy is read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from headway.live.home.ownership import read_in
from headway.live.store import migration
from headway.live.store.relative import Paths
from headway.live.store.sqlite import SqliteDatabase
from headway.live.store.sqlite_file import explained, migrated, unwritable
from headway.live.store.watching import SILENT
from headway.model.errors import HeadwayError
from headway.model.record import record

PACE = 0.3  # seconds that a copy is good for
_TICK = 0.05  # seconds within which a file may change twice and bear the same time
_TRIES = 50
_HEADER = 32  # bytes of a write-ahead log that change when it is started again


class ReadOnlyDatabase(SqliteDatabase):
    """A copy in memory, made again when the store has changed. Who wants to change it is told."""

    def __init__(self, path: Path, migrations: Path = migration.FOLDER) -> None:
        super().__init__(None, migrations=migrations)
        self.path, self.paths = path, Paths(str(path.parent))
        self._name, self._file, self._migrations = str(path), path, migrations
        self._seen: _Sight | None = None
        self._looked = 0.0
        self._follow()
        (self.id,) = self.connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()

    @property
    def remark(self) -> str:
        """A sentence, if what is shown may be out of date."""
        ((present,),) = self.run("present", since=time.time() - SILENT)
        if present or not self.run("open_leases", host=None):
            return ""
        assert self._seen is not None
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self._seen.changed))
        return (
            f"{self._name} cannot be written and nobody runs it now: what is shown as running was so when it was last"
            f" written, at {when}, and may be out of date."
        )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        raise unwritable(self._file)
        yield

    def shrink(self) -> None:
        raise unwritable(self._file)

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        self._follow()
        return super().run(name, **values)

    def _follow(self) -> None:
        """Takes a new copy if the store has changed since the last one, or may have."""
        now = time.monotonic()
        if self._seen is not None and now - self._looked < PACE:
            return
        with _reading(self._file), explained(self._name):
            if self._seen is None or self._seen.is_fresh or self._seen != _Sight.of(self._file):
                self._seen = _copied(self._file, self.connection)
                migrated(self.connection, self._migrations, self._name)
        self._looked = time.monotonic()


@record
class _Sight:
    """What the files of a store look like."""

    file: tuple[int, int, int]  # number, size, time
    log: tuple[int, int]
    header: bytes
    is_fresh: bool  # it was changed so lately that it may change again and look the same

    @classmethod
    def of(cls, path: Path) -> _Sight:
        with _opened(path) as main:
            file = os.fstat(main.fileno())
        header, size, changed = b"", 0, 0
        with contextlib.suppress(FileNotFoundError), _opened(path, "-wal") as log:
            header, found = log.read(_HEADER), os.fstat(log.fileno())
            size, changed = found.st_size, found.st_mtime_ns
        age = time.time() - max(file.st_mtime_ns, changed) / 1e9
        return cls((file.st_ino, file.st_size, file.st_mtime_ns), (size, changed), header, 0 <= age < _TICK)

    @property
    def changed(self) -> float:
        return max(self.file[2], self.log[1]) / 1e9


def _copied(path: Path, db: sqlite3.Connection) -> _Sight:
    """Copies a store into a database. The log may grow meanwhile: what is not whole of it does not count."""
    for _ in range(_TRIES):
        seen = _Sight.of(path)
        with tempfile.TemporaryDirectory(prefix="headway-") as folder:
            copy = Path(folder, path.name)
            _copy(path, copy)
            if seen.header:
                with contextlib.suppress(FileNotFoundError):
                    _copy(path, copy, "-wal")
            now = _Sight.of(path)
            if (seen.file, seen.header) == (now.file, now.header):  # else it was moved into the file, or started again
                with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as source:
                    source.backup(db)
                return seen
        time.sleep(0.01)
    raise HeadwayError(f"{path} is written so busily that it cannot be looked at.", "Try again in a moment.")


def _opened(path: Path, ending: str = "") -> BinaryIO:
    """A file of the store, to read. No link is followed: it may be another user's."""
    return os.fdopen(read_in(path.parent, f"{path.name}{ending}"), "rb")


def _copy(path: Path, copy: Path, ending: str = "") -> None:
    with _opened(path, ending) as source, copy.with_name(f"{copy.name}{ending}").open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise HeadwayError(f"{path} is, or is behind, a symbolic link, which is not followed.") from None
        raise HeadwayError(
            f"{path} cannot be read: {error.strerror or error}.",
            "Its owner lets others look with headway run W --share all.",
        ) from None
