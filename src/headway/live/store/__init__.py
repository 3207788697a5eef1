"""The jobs database: SQLite beside the workflow, or PostgreSQL for many hosts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from headway.model.errors import UsageError

if TYPE_CHECKING:
    from headway.live.store.postgres import PostgresStore
    from headway.live.store.sqlite import SqliteStore
    from headway.live.store.whole_postgres import WholePostgresStore
    from headway.live.store.whole_sqlite import WholeSqliteStore

AnyStore: TypeAlias = "WholeSqliteStore | WholePostgresStore"  # each keeps to protocol.Store
WorkingStore: TypeAlias = "SqliteStore | PostgresStore"  # to protocol.Progress and protocol.Looking
_FILE = "store.db"
_SERVERS = ("postgresql://", "postgres://")


def opened(place: str | Path, sync: str = "normal") -> AnyStore:
    """The store at a folder, a file, `sqlite:///path` or `postgresql://host/database`, made if it is not there."""
    if str(place).startswith(_SERVERS):
        from headway.live.store.whole_postgres import WholePostgresStore

        return WholePostgresStore(str(place))
    from headway.live.store.whole_sqlite import WholeSqliteStore

    return WholeSqliteStore(_file(str(place)), sync)


def working(place: str | Path, sync: str = "normal") -> WorkingStore:
    """The same with what running jobs takes, and no more: every run waits for what is imported."""
    if str(place).startswith(_SERVERS):
        from headway.live.store.postgres import PostgresStore

        return PostgresStore(str(place))
    from headway.live.store.sqlite import SqliteStore

    return SqliteStore(_file(str(place)), sync)


def _file(text: str) -> Path | None:
    """The file of an embedded store; None: in memory."""
    if text == ":memory:":
        return None
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        raise UsageError(
            f"{text.partition('://')[0]}:// is no store that Headway knows.",
            "Give a folder, sqlite:///PATH or postgresql://HOST/DATABASE.",
        )
    path = Path(text)
    return path / _FILE if path.is_dir() or not (path.suffix or path.exists()) else path
