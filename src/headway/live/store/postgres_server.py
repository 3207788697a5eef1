"""The connection to a PostgreSQL server: made, its schema brought forward, its errors told with the way out."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.live.clock import since_boot
from headway.live.store import migration
from headway.model.errors import HeadwayError, UnreachableError, not_installed

if TYPE_CHECKING:
    import psycopg

try:
    import psycopg as _psycopg
except ImportError:
    raise not_installed("a postgresql:// store", "psycopg[binary]") from None

_NOTICE = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds
}
_PROMPT = 0.2  # seconds: an answer about the time that took longer says little
_LOCK = 0x48647779  # the advisory lock of a process that makes or changes the tables

# What exchanges look for is always found by an index: statistics, which lag behind a new workflow, must not talk the
# planner into reading whole tables.
_SESSION = """
    SET search_path TO headway;
    SET synchronous_commit TO on;
    SET plan_cache_mode TO force_generic_plan;
    SET jit TO off;
    SET enable_seqscan TO off;
    SET enable_bitmapscan TO off;
    SET enable_hashjoin TO off;
    SET enable_mergejoin TO off
"""


def connected(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection as the store wants it, whatever the server's defaults are."""
    try:
        db = _opened(url)
        db.isolation_level = _psycopg.IsolationLevel.READ_COMMITTED
        db.execute(_SESSION)
        return db
    except _psycopg.Error as error:
        if _needs_password(error):
            raise HeadwayError(
                "the PostgreSQL store wants a password.", "Put it into ~/.pgpass, a service file, or PGPASSWORD."
            ) from None
        raise UnreachableError(
            f"the PostgreSQL store cannot be reached: {_line(error)}.",
            "See whether the server runs and the URL is right.",
        ) from None


def _opened(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection. Jobs are not given the password of their store: inside one, the runner is asked for it."""
    how: dict[str, Any] = {"autocommit": True, "client_encoding": "utf8", "application_name": "headway"}
    how |= _unless_said(url)
    try:
        return _psycopg.connect(url, **how)
    except _psycopg.OperationalError as error:
        folder = os.environ.get("HEADWAY_HOME")
        if not _needs_password(error) or folder is None or os.environ.get("HEADWAY_STORE") != url:
            raise
        from headway.live.client.asking import password

        secret = password(Path(folder))
        if secret is None:
            raise
        return _psycopg.connect(url, password=secret, **how)


def _needs_password(error: psycopg.Error) -> bool:
    return error.pgconn is not None and bool(error.pgconn.needs_password)


def _unless_said(url: str) -> dict[str, Any]:
    """How soon a dead server or network is noticed, where the URL does not say."""
    said = _psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in _NOTICE.items() if name not in said}


def server_time(db: psycopg.Connection[tuple[Any, ...]]) -> float:
    """By how much the server's clock is ahead of the time since this host was booted, which nobody sets."""
    for _ in range(3):
        before = since_boot()
        with explained():
            row = db.execute("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS double precision)").fetchone()
        after = since_boot()
        if after - before < _PROMPT:
            break
    return (float(row[0]) if row else 0.0) - (before + after) / 2


def user() -> str:
    """Who runs this, as the system knows them."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Two that submit the same file at once: the second hears of it."""
    try:
        yield
    except HeadwayError as error:
        if isinstance(error.__cause__, _psycopg.errors.UniqueViolation):
            from headway.live.store.submission import AlreadySubmittedError

            raise AlreadySubmittedError from None
        raise


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """What PostgreSQL says, as a sentence with the way out. What was committed before stays."""
    try:
        yield
    except _psycopg.OperationalError as error:
        raise UnreachableError(
            f"the PostgreSQL store failed: {_line(error)}.",
            "See to the server and run again: what was done stays done.",
        ) from error
    except _psycopg.Error as error:
        raise HeadwayError(
            f"the PostgreSQL store refused a statement: {_line(error)}.",
            "See whether its user may use the schema headway.",
        ) from error


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def migrated(db: psycopg.Connection[tuple[Any, ...]], folder: Path) -> str:
    """Makes the tables or brings them forward, one client at a time; the store's id."""
    with explained():
        if _version(db) != migration.newest(folder):
            # Of the session, not of a transaction: one that waited for it must begin after the other's has ended, or
            # it would not see the tables that the other has made.
            db.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            try:
                with db.transaction():
                    _bring_forward(db, folder)
            finally:
                if not db.closed:
                    db.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
        found = db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    return str(found[0]) if found else ""


def _bring_forward(db: psycopg.Connection[tuple[Any, ...]], folder: Path) -> None:
    version = _version(db)
    if version == 0:
        db.execute("CREATE SCHEMA IF NOT EXISTS headway")
    for number, statements in migration.pending(version, folder, "postgresql", "the PostgreSQL store"):
        for statement in statements:
            db.execute(statement)
        if number == 1:
            db.execute("INSERT INTO meta VALUES ('id', %s), ('schema', '0')", (secrets.token_hex(8),))
        db.execute("UPDATE meta SET value = %s WHERE key = 'schema'", (str(number),))


def _version(db: psycopg.Connection[tuple[Any, ...]]) -> int:
    """The schema's number; 0 where there is none yet."""
    found = db.execute("SELECT to_regclass('headway.meta')").fetchone()
    if found is None or found[0] is None:
        return 0
    row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row else 0
