"""The shared database: a PostgreSQL server that many placeholders on many hosts use at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headway.live.clock import since_boot
from headway.live.store import migration
from headway.live.store.postgres_news import PostgresNews
from headway.live.store.postgres_rows import PostgresJobRows
from headway.live.store.postgres_server import connected, explained, migrated, server_time, user
from headway.live.store.relative import Paths
from headway.live.store.statements import statements
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.live.store.database import T

_SQL = statements("postgresql")
_DEADLOCK = "40P01"
_TRIES = 10


class PostgresDatabase:
    """Keeps to database.Database. Jobs are locked in one order (READ COMMITTED), so nobody waits in a circle.

    A connection that broke is an error to those who use it then; the next call makes a new one.
    """

    is_shared = True
    remark = ""

    def __init__(self, url: str, migrations: Path = migration.FOLDER) -> None:
        self._url = url
        self._migrations = migrations
        self.connection = connected(url)
        self.news = PostgresNews(lambda: self.connection)
        self.id = migrated(self.connection, migrations)
        self.owner, self.paths = user(), Paths()
        self.jobs = PostgresJobRows(self)
        self.set_clock()

    def clock(self) -> Seconds:
        """The time by the server's clock; a host's own may be wrong."""
        return since_boot() + self._ahead

    def set_clock(self) -> None:
        self._ahead = server_time(self.connection)

    def close(self) -> None:
        self.connection.close()

    def shrink(self) -> None:
        """Gives back the room of what was forgotten, for others to use."""
        self._reconnect()
        with explained():
            self.connection.execute("VACUUM jobs, specs, arcs, nodes, attempts, events, placeholders")

    def _reconnect(self) -> None:
        if self.connection.closed:
            self.connection = connected(self._url)
            migrated(self.connection, self._migrations)
            self.set_clock()
            self.news.reconnected()

    # --- statements --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self._reconnect()
        self.news.begin()
        with explained(), self.connection.transaction():
            yield
            self.news.send()
        self.news.committed()

    def retried(self, work: Callable[[], T]) -> T:
        """Others lock few rows where steering locks many; if they wait in a circle PostgreSQL gives one of them up."""
        for _ in range(_TRIES):
            try:
                return work()
            except HeadwayError as error:
                if getattr(error.__cause__, "sqlstate", "") != _DEADLOCK:
                    raise
        return work()

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        self._reconnect()
        with explained():
            cursor = self.connection.execute(_text(name), cast(Mapping[str, Any], values), prepare=True)
            return cursor.fetchall() if cursor.description is not None else []

    def many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        with explained(), self.connection.cursor() as cursor:
            cursor.executemany(_text(name), rows)

    def array(self, values: Sequence[int] | Sequence[str]) -> object:
        return values


def _text(name: str) -> str:
    return _SQL[name].text
