"""The embedded database: one SQLite file next to the workflow, for one host."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.live.failpoint import failpoint
from headway.live.store import SITES, migration
from headway.live.store.relative import Paths
from headway.live.store.sqlite_file import checked, create, explained, migrated, told
from headway.live.store.sqlite_rows import SqliteJobRows
from headway.live.store.statements import statements
from headway.model.messages import Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from contextlib import AbstractContextManager
    from typing import Any

    from headway.live.store.database import T
    from headway.live.store.sqlite_news import SqliteNews

_SQL = statements("sqlite")


class NoNews:
    """A database of one runner: nobody else changes it."""

    def tell(self, workflow: WorkflowId, stops: bool = False) -> None: ...

    def listen(self) -> None: ...

    def also_tell(self, whom: Callable[[dict[WorkflowId, bool]], None]) -> None: ...

    def fileno(self) -> int:
        return -1

    def heard(self) -> dict[WorkflowId, bool]:
        return {}

    def close(self) -> None: ...


class SqliteDatabase:
    """Keeps to database.Database. Durable means: survives the death of every process (WAL, synchronous NORMAL).

    With sync "full" it survives a power cut as well. Without a path it is in memory, for one process.
    """

    owner = ""

    def __init__(self, path: Path | None, sync: str = "normal", migrations: Path = migration.FOLDER) -> None:
        self.path = path
        # A run with sites has made that folder: placeholders on several hosts use the store, through processes here.
        self.is_shared = path is not None and os.path.isdir(f"{path.parent}/{SITES}")  # noqa: PTH112 - each run asks
        self.news: NoNews | SqliteNews = NoNews()
        self.paths = Paths(None if path is None else str(path.parent))
        self._name = "the store in memory" if path is None else str(path)
        if path is not None:
            checked(path)
            create(path, migrations)
        with explained(self._name):
            self.connection = sqlite3.connect(
                ":memory:" if path is None else path, isolation_level=None, timeout=60, cached_statements=128
            )
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
            migrated(self.connection, migrations, self._name, new=path is None)
            (self.id,) = self.connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
        self.jobs = SqliteJobRows(self)
        self._transaction = _Transaction(self.connection, self._name)
        if self.is_shared:
            from headway.live.store.sqlite_news import SqliteNews

            self.news = news = SqliteNews(str(path.parent))  # type: ignore[union-attr]
            self._transaction = _SharedTransaction(self.connection, self._name, news)

    @property
    def remark(self) -> str:
        return ""

    def clock(self) -> Seconds:
        return time.time()

    def set_clock(self) -> None:
        """It is this host's."""

    def close(self) -> None:
        self.news.close()
        self.connection.close()

    def shrink(self) -> None:
        with explained(self._name):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- statements --------------------------------------------------------------------------------------------------

    def transaction(self) -> AbstractContextManager[None]:
        return self._transaction

    def retried(self, work: Callable[[], T]) -> T:
        return work()  # there is one writer: nothing is ever given up

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        statement = _SQL[name]
        try:
            return self.connection.execute(statement.text, [values[key] for key in statement.names]).fetchall()
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        statement = _SQL[name]
        try:
            self.connection.executemany(statement.text, [[values[key] for key in statement.names] for values in rows])
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def array(self, values: Sequence[int] | Sequence[str]) -> object:
        return json.dumps(values)


class _Transaction:
    """Takes the write lock first, so that what is read stays true until it is written. A class, as that is quicker."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._db, self._name = connection, name

    def __enter__(self) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise told(self._name, error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._give_up()
            if isinstance(error, sqlite3.Error):
                raise told(self._name, error) from error
            return
        failpoint("commit.before")
        try:
            self._db.execute("COMMIT")
        except BaseException as failure:
            self._give_up()
            if isinstance(failure, sqlite3.Error):
                raise told(self._name, failure) from failure
            raise
        failpoint("commit.after")

    def _give_up(self) -> None:
        if self._db.in_transaction:
            with explained(self._name):
                self._db.execute("ROLLBACK")


class _SharedTransaction(_Transaction):
    """The same in a store that several processes use: they hear of what was committed."""

    def __init__(self, connection: sqlite3.Connection, name: str, news: SqliteNews) -> None:
        super().__init__(connection, name)
        self._news = news

    def __enter__(self) -> None:
        super().__enter__()
        self._news.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        super().__exit__(kind, error, trace)
        if error is None:
            self._news.send()
