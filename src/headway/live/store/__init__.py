"""The jobs database: SQLite beside the workflow, or PostgreSQL for many hosts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from headway.model.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from headway.live.store.postgres import PostgresStore
    from headway.live.store.sqlite import SqliteStore
    from headway.live.store.whole_postgres import WholePostgresStore
    from headway.live.store.whole_sqlite import WholeSqliteStore

AnyStore: TypeAlias = "WholeSqliteStore | WholePostgresStore"  # each keeps to protocol.Store
WorkingStore: TypeAlias = "SqliteStore | PostgresStore"  # to protocol.Progress and protocol.Looking
FILE = "store.db"
PASSWORD = "PGPASSWORD"  # noqa: S105 - the name of the variable with the password of a server's store
BESIDE = ("", "-wal", "-shm", "-journal")  # what the files of an embedded store end with


def is_server(place: str) -> bool:
    """Whether a store is on a server rather than in a file; a kind that Headway does not know is refused."""
    scheme, mark, _ = place.partition("://")
    if not mark or scheme == "sqlite":
        return False
    if scheme not in ("postgresql", "postgres"):
        raise UsageError(
            f"{scheme}:// is no store that Headway knows.",
            "Give a folder, sqlite:///PATH or postgresql://HOST/DATABASE.",
        )
    if has_password(place):  # which is not repeated
        raise UsageError(
            "there is a password in the URL of the store, where everybody can read it who lists processes.",
            "Take it out, and put it into ~/.pgpass, a service file (postgresql:///?service=NAME), or PGPASSWORD of"
            " this command alone.",
        )
    return True


def has_password(url: str) -> bool:
    """Whether there is a secret in the address of a server, or something that looks like one."""
    before, _, query = url.partition("://")[2].partition("?")
    user, at, _ = before.rpartition("@")
    if at and re.search(r":(?!\d*/)", user):  # HOST:PORT/DATABASE@ is none; anything else after a colon may be
        return True
    if "assword" not in query.lower() and "%" not in query:
        return False
    from urllib.parse import unquote

    return any("password" in unquote(part.partition("=")[0]).lower() for part in query.split("&"))


def opened(place: str | Path, sync: str = "normal") -> AnyStore:
    """The store at a folder, a file, `sqlite:///path` or `postgresql://host/database`, made if it is not there."""
    if is_server(str(place)):
        from headway.live.store.whole_postgres import WholePostgresStore

        return WholePostgresStore(str(place))
    from headway.live.store.whole_sqlite import WholeSqliteStore

    return WholeSqliteStore(_file(str(place)), sync)


def looked_at(place: str | Path) -> AnyStore:
    """The same for whoever only looks, which may be one that cannot be written."""
    file = None if is_server(str(place)) else _file(str(place))
    if file is not None and (file.is_symlink() or file.exists()):
        from headway.live.store.sqlite_file import is_own, is_writable

        if not is_own(file) or not is_writable(file):
            from headway.live.store.read_only import ReadOnlyStore

            return ReadOnlyStore(file)
    return opened(place)


def working(place: str | Path, sync: str = "normal") -> WorkingStore:
    """The same with what running jobs takes, and no more: every run waits for what is imported."""
    return prepared(place, sync)()


def prepared(place: str | Path, sync: str = "normal") -> Callable[[], WorkingStore]:
    """What opens such a store; all that takes is imported now, for whoever has to wait for something else."""
    if is_server(str(place)):
        from headway.live.store.postgres import PostgresStore

        return lambda: PostgresStore(str(place))
    from headway.live.store.sqlite import SqliteStore

    return lambda: SqliteStore(_file(str(place)), sync)


def _file(text: str) -> Path | None:
    """The file of an embedded store; None: in memory."""
    if text == ":memory:":
        return None
    path = Path(text.removeprefix("sqlite:///"))
    return path / FILE if path.is_dir() or not (path.suffix or path.exists()) else path
