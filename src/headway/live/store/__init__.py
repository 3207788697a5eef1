"""The jobs database: SQLite beside the workflow, or PostgreSQL for many hosts."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from headway.model.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.allocations import Allocations
    from headway.live.store.callers import Callers
    from headway.live.store.database import Database
    from headway.live.store.files import DeclaredFiles
    from headway.live.store.growth import Growth
    from headway.live.store.history import History
    from headway.live.store.leases import Leases, Placeholders
    from headway.live.store.places import Places
    from headway.live.store.progress import Progress
    from headway.live.store.run_times import ExpectedRunTimes
    from headway.live.store.steering import Steering
    from headway.live.store.submission import Submissions
    from headway.live.store.watching import Watching

FILE = "store.db"
SITES = "sites"  # the folder beside a store's file with a folder for each site that runs used
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


class Store:
    """The jobs database: a connection to it, and its parts. Each is imported when it is first used: runs are short."""

    def __init__(self, database: Database, place: str = "") -> None:
        self.database, self.news = database, database.news
        self.place = place  # as `opened` takes it
        self.id = database.id  # the mark that its jobs carry
        self.is_shared = database.is_shared  # whether placeholders of other hosts may use it at the same time
        self.clock, self.close = database.clock, database.close

    @property
    def remark(self) -> str:
        """A sentence, if what is shown may be out of date."""
        return self.database.remark

    # --- what running takes ------------------------------------------------------------------------------------------

    @cached_property
    def leases(self) -> Leases:
        from headway.live.store.leases import Leases

        return Leases(self.database)

    @cached_property
    def placeholders(self) -> Placeholders:
        from headway.live.store.leases import Placeholders

        return Placeholders(self.database, self.leases)

    @cached_property
    def submissions(self) -> Submissions:
        from headway.live.store.submission import Submissions

        return Submissions(self.database)

    @cached_property
    def progress(self) -> Progress:
        from headway.live.store.progress import Progress

        return Progress(self.database)

    @cached_property
    def allocations(self) -> Allocations:
        from headway.live.store.allocations import Allocations

        return Allocations(self.database)

    @cached_property
    def files(self) -> DeclaredFiles:
        from headway.live.store.files import DeclaredFiles

        return DeclaredFiles(self.database)

    @cached_property
    def run_times(self) -> ExpectedRunTimes:
        from headway.live.store.run_times import ExpectedRunTimes

        return ExpectedRunTimes(self.database)

    @cached_property
    def callers(self) -> Callers:
        from headway.live.store.callers import Callers

        return Callers(self.database, self.leases)

    @cached_property
    def growth(self) -> Growth:
        from headway.live.store.growth import Growth

        return Growth(self.database)

    # --- what people say and ask -------------------------------------------------------------------------------------

    @cached_property
    def steering(self) -> Steering:
        from headway.live.store.steering import Steering

        return Steering(self.database)

    @cached_property
    def watching(self) -> Watching:
        from headway.live.store.watching import Watching

        return Watching(self.database)

    @cached_property
    def places(self) -> Places:
        from headway.live.store.places import Places

        return Places(self.database)

    @cached_property
    def history(self) -> History:
        from headway.live.store.history import History

        return History(self.database)


def opened(place: str | Path, sync: str = "normal") -> Store:
    """The store at a folder, a file, `sqlite:///path` or `postgresql://host/database`, made if it is not there."""
    if is_server(str(place)):
        from headway.live.store.postgres import PostgresDatabase

        return Store(PostgresDatabase(str(place)), str(place))
    from headway.live.store.sqlite import SqliteDatabase

    return Store(SqliteDatabase(_file(str(place)), sync), str(place))


def looked_at(place: str | Path) -> Store:
    """The same for those who only look, which may be one that cannot be written."""
    file = None if is_server(str(place)) else _file(str(place))
    if file is not None and (file.is_symlink() or file.exists()):
        from headway.live.store.sqlite_file import is_own, is_writable

        if not is_own(file) or not is_writable(file):
            from headway.live.store.read_only import ReadOnlyDatabase

            return Store(ReadOnlyDatabase(file), str(place))
    return opened(place)


def import_for_runner(place: str | Path) -> None:
    """Imports what a runner needs, so that it has it when it is forked."""
    import headway.live.store.leases

    if is_server(str(place)):
        import headway.live.store.postgres
    else:
        import headway.live.store.sqlite  # noqa: F401


def _file(text: str) -> Path | None:
    """The file of an embedded store; None: in memory."""
    if text == ":memory:":
        return None
    path = Path(text.removeprefix("sqlite:///"))
    return path / FILE if path.is_dir() or not (path.suffix or path.exists()) else path
