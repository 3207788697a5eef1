"""The jobs database: SQLite beside the workflow, or PostgreSQL for many hosts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from headway.model.errors import UsageError

if TYPE_CHECKING:
    from headway.live.store.postgres import PostgresStore
    from headway.live.store.sqlite import SqliteStore

AnyStore: TypeAlias = "SqliteStore | PostgresStore"  # what `opened` gives: each keeps to protocol.Store

_FILE = "store.db"


def opened(place: str | Path, sync: str = "normal") -> AnyStore:
    """The store at a folder, a file, `sqlite:///path` or `postgresql://host/database`, made if it is not there."""
    text = str(place)
    if text.startswith(("postgresql://", "postgres://")):
        from headway.live.store.postgres import PostgresStore

        return PostgresStore(text)
    from headway.live.store.sqlite import SqliteStore

    if text == ":memory:":
        return SqliteStore(None, sync)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        raise UsageError(
            f"{text.partition('://')[0]}:// is no store that Headway knows.",
            "Give a folder, sqlite:///PATH or postgresql://HOST/DATABASE.",
        )
    path = Path(text)
    if path.is_dir() or not (path.suffix or path.exists()):
        path = path / _FILE
    return SqliteStore(path, sync)
