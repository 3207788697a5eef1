"""The file of an embedded store: made whole or not at all, only where SQLite is safe, with errors people can act on."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from headway.live.failpoint import failpoint
from headway.live.home.ownership import check_file
from headway.live.home.ownership import is_own as is_own_file
from headway.live.store import BESIDE, migration
from headway.model.errors import HeadwayError

_APPLICATION = 0x48647779  # "Hdwy", in the file's header: other SQLite files are none of ours
_ELSEWHERE = "Choose another place with --store."
# SQLite's WAL is memory shared between processes: these file systems share files between hosts, but not that.
_NETWORK = frozenset(
    [
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "openafs", "ceph", "lustre", "gpfs", "beegfs"),
        *("fhgfs", "panfs", "pvfs2", "orangefs", "ocfs2", "gfs2", "wekafs", "glusterfs"),
        *("fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.juicefs"),
    ]
)


def checked(path: Path, mounts: str | None = None) -> None:
    """Refuses a path on a network file system; `mounts` is what /proc/self/mounts says."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(errors="surrogateescape")
        except OSError:
            return
    kind = file_system(path.parent.resolve(), mounts)
    if kind in _NETWORK:
        raise HeadwayError(
            f"{path} is on a network file system ({kind}), where an SQLite store is not safe.",
            "Choose a folder on a local disk with --store FOLDER, or a server with --store postgresql://HOST/DATABASE.",
        )


def file_system(folder: Path, mounts: str) -> str:
    """The kind of file system that a folder is on: the last mount of the longest path above it."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = words[1].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
        if len(point) >= best and folder.is_relative_to(point):
            best, kind = len(point), words[2]
    return kind


def is_writable(path: Path) -> bool:
    """Whether we may write to a store: to its file, its folder, and what lies beside it while it is in use."""
    beside = [file for ending in ("-wal", "-shm") if (file := path.with_name(path.name + ending)).exists()]
    return all(os.access(file, os.W_OK) for file in (path, *beside)) and os.access(path.parent, os.W_OK | os.X_OK)


def is_own(path: Path) -> bool:
    """Whether a store, and the folder it is in, are this user's, and nobody else can write there."""
    files = [file for ending in BESIDE if os.path.lexists(file := f"{path}{ending}")]
    return is_own_file(path.parent) and all(map(is_own_file, files))


def unwritable(path: Path) -> HeadwayError:
    """What somebody is told who wants to change such a store."""
    return HeadwayError(
        f"{path} cannot be written, only looked at.",
        "Make the file and its folder writable, or ask who owns them; status, history, explain, runs and logs work.",
    )


@contextlib.contextmanager
def explained(store: str) -> Iterator[None]:
    """What SQLite says, as a sentence with the way out. What was committed before stays."""
    try:
        yield
    except sqlite3.Error as error:
        raise told(store, error) from error


def told(store: str, error: sqlite3.Error) -> HeadwayError:
    """The same as an error to raise."""
    return HeadwayError(*_sentence(store, error))


def _sentence(store: str, error: sqlite3.Error) -> tuple[str, str]:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"{store} is no store: it is no SQLite file.", f"Move it away. {_ELSEWHERE}"
    if code == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_WRITE:
        return f"{store}: the disk is full.", "Make room and run again: nothing that was recorded is lost."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"{store} cannot be written: {error}.", f"Make the file and its folder writable. {_ELSEWHERE}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{store} is held by another program for a minute.", "See which one (fuser) and run again."
    if code == sqlite3.SQLITE_CORRUPT:
        return f"{store} is damaged: {error}.", f"Restore it from a copy, or start again. {_ELSEWHERE}"
    return f"{store}: the store failed: {error}.", "See to it and run again."


def create(path: Path, migrations: Path = migration.FOLDER) -> None:
    """Makes the file if it is not there: built aside and linked into place, so that nobody sees half of one.

    What is there already, and what SQLite would use beside it, must be this user's.
    """
    for ending in BESIDE:
        check_file(f"{path}{ending}")
    try:
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = f"{path.parent}/.store-{os.getpid()}-{os.urandom(4).hex()}"
        os.close(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise HeadwayError(
            f"{path} cannot be made: {error.strerror}.", f"Make its folder writable. {_ELSEWHERE}"
        ) from None
    try:
        with explained(str(path)):
            db = sqlite3.connect(aside, isolation_level=None)
            try:
                db.execute("PRAGMA synchronous = OFF")  # nobody sees it before it is on the disk, once and as a whole
                db.execute("PRAGMA journal_mode = WAL")
                if not _made_whole(db, migrations):
                    migrated(db, migrations, str(path), new=True)
            finally:
                db.close()
            _synced(aside)
        failpoint("store.create")
        _linked(aside, path)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(aside + ending).unlink(missing_ok=True)


def _synced(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        raise HeadwayError(f"{path} cannot be made: {error.strerror}.", _ELSEWHERE) from None
    finally:
        os.close(handle)


def _linked(aside: str, path: Path) -> None:
    """Puts a whole file into place; one that somebody else put there meanwhile stays."""
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    except OSError as error:
        raise HeadwayError(f"{path} cannot be made: {error.strerror}.", _ELSEWHERE) from None


def _made_whole(db: sqlite3.Connection, folder: Path) -> bool:
    """Makes the newest schema at once, which is several times as fast as migration by migration."""
    found = migration.whole(folder, "sqlite")
    if found is None:
        return False
    version, statements = found
    db.execute("BEGIN")
    for statement in statements:
        db.execute(statement)
    _sign(db)
    db.execute(f"PRAGMA user_version = {version}")
    db.execute("COMMIT")
    return True


def _sign(db: sqlite3.Connection) -> None:
    """A new store gets a name of its own, and is known as Headway's."""
    db.execute("INSERT INTO meta VALUES ('id', ?)", (os.urandom(8).hex(),))
    db.execute(f"PRAGMA application_id = {_APPLICATION}")


def migrated(db: sqlite3.Connection, folder: Path, store: str, new: bool = False) -> None:
    """Brings the schema forward, each migration whole or not at all, no matter who else is at it."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not new and db.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
        raise HeadwayError(f"{store} is no store of Headway's.", f"Move it away. {_ELSEWHERE}")
    for number, statements in migration.pending(version, folder, "sqlite", store):
        db.execute("BEGIN IMMEDIATE")
        try:
            if db.execute("PRAGMA user_version").fetchone() < (number,):
                for statement in statements:
                    db.execute(statement)
                if number == 1:
                    _sign(db)
                db.execute(f"PRAGMA user_version = {number}")
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
