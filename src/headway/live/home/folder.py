"""The folder `.headway` next to a workflow: its store, its logs, and the runner's door."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.live.client.door import DOOR, Door, knock, peer
from headway.live.home.ownership import check_file, check_folder, own_file, own_folder, owner, read_in
from headway.live.store import BESIDE, FILE
from headway.model.errors import HeadwayError
from headway.model.messages import JobId, PlaceholderId, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

FOLDER = ".headway"
SHARES = {"private": 0, "group": 0o050, "all": 0o055}  # what others may do with the folder: read it, never write
_Identity = tuple[int, int]  # device and number of a file
_ELSEWHERE = "Choose another place with --store FOLDER."
_SCANT = 1 << 18  # bytes; a runner needs as much to begin
_TALK = 1 << 16  # bytes of what runners said that are worth keeping


def server_folder(folder: Path, server: str) -> Path:
    """Where the runner and logs of a server's store are: apart from other stores, which use the same numbers."""
    import re
    from zlib import crc32

    address = re.sub(r"(?<=[?&])password=[^&]*", "", server.partition("://")[2].rpartition("@")[2])
    return folder / f"server-{crc32(address.encode('utf-8', 'surrogateescape')):08x}"


class LostHomeError(HeadwayError):
    """The folder of a runner was moved or removed under it."""


class Home:
    """Where everything of one local store lies. Whoever wants more than to look must own it, and be alone with it."""

    def __init__(self, folder: Path, to_look: bool = False) -> None:
        self.folder = folder.absolute()
        self._text = str(self.folder)
        self._to_look = to_look
        self._lock: Lock | None = None  # if we are its runner
        self._place: _Identity | None = None  # of the folder whose runner we are
        self._store: tuple[str, _Identity] | None = None  # the store in it, if it has one
        self._verified = 0.0  # when both were in their places
        self.remarks: list[str] = []  # what was found in the places of our files
        if to_look:
            return
        try:
            self._make()
        except OSError as error:
            raise HeadwayError(f"{folder}: cannot be made: {error.strerror}.", _ELSEWHERE) from None
        self.check()
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise HeadwayError(f"{folder}: cannot be written.", _ELSEWHERE)

    def share(self, with_whom: str) -> None:
        """Lets others read the store and its logs, or nobody any more."""
        from headway.live.home.sharing import share_folder

        if self.folder.parent.name == FOLDER:
            self.folder.parent.chmod(0o700 | SHARES[with_whom])
        share_folder(self.folder, SHARES[with_whom])

    def _make(self) -> None:
        """Makes the folder, for this user alone; folders above it as the user's umask has them."""
        above = self.folder.parent
        above.parent.mkdir(parents=True, exist_ok=True)
        above.mkdir(0o700 if above.name == FOLDER else 0o777, exist_ok=True)
        if above.name == FOLDER:  # this one is that of a server's store
            check_folder(above)
        with contextlib.suppress(FileExistsError):
            self.folder.mkdir(0o700)

    def check(self) -> None:
        """Refuses a folder that is another user's, or that others can write to, and what is such in it."""
        check_folder(self.folder)
        check_folder(self.logs)
        for name in ("spool", "roster", "lock"):
            self._clear_place(name)
        for name in (*(f"{FILE}{ending}" for ending in BESIDE), "spool", "roster", "lock", self.talk.name):
            check_file(f"{self._text}/{name}")

    def _clear_place(self, name: str) -> None:
        """A folder of ours in the place of a file is kept under another name."""
        with contextlib.suppress(OSError):
            found = os.lstat(f"{self._text}/{name}")
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                return
            from headway.live.placeholder.aside import set_aside

            self.remarks.append(set_aside(self.folder / name, "is a folder"))
            talk = self.opened_talk()
            os.write(talk, f"headway: {self.remarks[-1]}\n".encode())
            os.close(talk)

    @property
    def database(self) -> Path:
        return self.folder / FILE

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    @property
    def roster(self) -> Path:
        return self.folder / "roster"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def talk(self) -> Path:
        """What the runner has to say when nobody is there to hear it."""
        return self.folder / "runner.log"

    def log(self, workflow: WorkflowId, job: JobId, attempt: int) -> str:
        """The path of one attempt's output, as text since it is made for every job; a thousand jobs to a folder."""
        return f"{self._text}/logs/{workflow}/{job // 1000}/{job}.{attempt}.log"

    @property
    def identity(self) -> int:
        """Tells this folder from a copy of it, whose jobs are others."""
        database = self.database
        return (database if database.exists() else self.folder).stat().st_ino

    def remembered(self) -> list[PlaceholderId]:
        """The placeholders that ran here and may have left jobs."""
        try:
            return [PlaceholderId(int(word)) for word in self._text_of("placeholders").split()]
        except (OSError, ValueError):
            return []

    def remember(self, placeholders: Sequence[PlaceholderId]) -> None:
        """Writes down whose jobs a successor has to look after."""
        aside = self.folder / ".placeholders"
        handle = own_file(aside, os.O_WRONLY | os.O_CREAT)
        with os.fdopen(handle, "w") as stream:
            stream.truncate()
            stream.write(" ".join(map(str, placeholders)) + "\n")
        aside.replace(self.folder / "placeholders")

    def opened_talk(self) -> int:
        """The runner's log to write to; what earlier ones said is kept until it is much."""
        handle = own_file(self.talk, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        if os.fstat(handle).st_size > _TALK:
            os.ftruncate(handle, 0)
        return handle

    def last_words(self) -> str:
        """The last line that a runner said."""
        try:
            lines = self._text_of(self.talk.name).splitlines()
        except OSError:
            lines = []
        if lines:
            return lines[-1]
        return "there is no room left on its disk." if self._is_full() else ""

    def _is_full(self) -> bool:
        """Whether nothing can be written here, not even why."""
        from headway.live.home.disk import free_space

        return free_space(self._text) < _SCANT

    def _text_of(self, name: str) -> str:
        with os.fdopen(read_in(self.folder, name), errors="replace") as stream:
            return stream.read()

    @property
    def is_foreign(self) -> bool:
        """Whether the folder, or the runner's door, is another user's: no runner of ours can be behind it."""
        try:
            if self.folder.lstat().st_uid != os.geteuid():
                return True
            return (self.folder / DOOR).lstat().st_uid != os.geteuid() or not os.access(self.folder / DOOR, os.W_OK)
        except OSError:
            return False

    # --- locks -----------------------------------------------------------------------------------------------------

    def locked(self) -> Lock | None:
        """The runner's lock, held until its holder dies; None if another runner has it.

        The folder itself is locked too: a lock file can be deleted while it is locked, and another runner would create
        a new one.
        """
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        found = os.fstat(folder)
        lock = Lock((folder, own_file(self.folder / "lock", os.O_RDWR | os.O_CREAT)))
        for handle in lock.handles:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                return None
            except OSError:
                if handle != folder:  # NFS, for one, does not lock folders
                    raise
        self._lock, self._place = lock, (found.st_dev, found.st_ino)
        return lock

    @contextlib.contextmanager
    def submitting(self) -> Iterator[None]:
        """One at a time: two that bring the same file at once must not both take it for new."""
        while True:
            handle = own_file(self.folder / "submit.lock", os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if not os.fstat(handle).st_nlink:
                    continue  # deleted while we waited: somebody else may have locked another
                yield
                return
            finally:
                os.close(handle)

    # --- whether it is still there ---------------------------------------------------------------------------------

    def verify(self, lately: float = 0.0) -> bool:
        """Raises if the folder that the runner has locked, or the store in it, is not at its path any more.

        `lately`: seconds for which an earlier look will do; False if there was one.
        """
        now = time.monotonic()
        if self._place is None or now < self._verified + lately:
            return False
        if self._store is None:
            self._store = self._found_store()
        path, known = self._store or (self._text, self._place)
        try:
            found = os.stat(path)  # noqa: PTH116 - a runner asks with every exchange
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != known:
            raise LostHomeError(*self._what_happened())
        self._verified = now
        return True

    def _found_store(self) -> tuple[str, _Identity] | None:
        """The store that is there first, which tells whether the folder is in its place too; a server has none here."""
        path = f"{self._text}/{FILE}"
        try:
            found = os.stat(path)  # noqa: PTH116 - a runner asks with every exchange
        except FileNotFoundError:
            return None
        return path, (found.st_dev, found.st_ino)

    @property
    def now_at(self) -> str | None:
        """Where the folder is whose runner we are, wherever it was moved; None if it was removed."""
        path = os.readlink(f"/proc/self/fd/{self._lock.handles[0]}") if self._lock else self._text  # noqa: PTH115
        return None if self._place is None or not self._is_at(path, self._place) else path

    def _what_happened(self) -> tuple[str, str]:
        now = self.now_at
        if now is None:
            what = f"{self._text} was removed while its workflows ran, and with it what was recorded there."
            return what, "Run again: it starts from the beginning."
        if now == self._text:
            what = f"{self._text}/{FILE} was removed or replaced while its workflows ran."
            return what, "Restore it, or run again: it starts from the beginning."
        what = f"{self._text} was moved to {now} while its workflows ran; what ran was stopped."
        return what, "Run again there: what was done stays done."

    @staticmethod
    def _is_at(path: str, known: _Identity) -> bool:
        try:
            found = os.stat(path)  # noqa: PTH116
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == known

    # --- the runner's door -----------------------------------------------------------------------------------------

    def listen(self) -> Door:
        """The runner's door, open to this user only."""
        return Door(own_folder(self.folder))

    def connect(self) -> socket.socket | None:
        """A line to the runner; None if there is none. Nothing is said to a process of another user."""
        try:
            handle = own_folder(self.folder)
        except (HeadwayError, OSError):
            if self._to_look:
                return None
            raise
        try:
            line = knock(handle)
        finally:
            os.close(handle)
        if line is None or (user := peer(line)) == os.geteuid():
            return line
        line.close()
        if self._to_look:
            return None
        raise HeadwayError(f"the process that listens in {self.folder} belongs to {owner(user)}.", _ELSEWHERE)


class Lock:
    """What nobody else can have until it is closed, or its holder dies."""

    def __init__(self, handles: tuple[int, int]) -> None:
        self.handles = handles

    def close(self) -> None:
        for handle in self.handles:
            os.close(handle)
