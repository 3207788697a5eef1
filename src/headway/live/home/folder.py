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
    from _socket import socket

FOLDER = ".headway"
SHARES = {"private": 0, "group": 0o050, "all": 0o055}  # what others may do with the folder: read it, never write
_Identity = tuple[int, int]  # device and number of a file
_ELSEWHERE = "Choose another place with --store FOLDER."
LOG = "runner.log"
LONGEST_LOG = 1 << 16  # bytes; what runners said before that is kept in a second file


def say(sentence: str, handles: tuple[int, ...] = (1, 2)) -> None:
    """Writes to the runner's log, which is what its standard error leads to."""
    try:
        from headway.live.home.runner_log import write

        write(sentence, handles)
    except (ImportError, OSError, HeadwayError):  # no file can be opened, which may be what is to be said
        with contextlib.suppress(OSError):
            os.write(handles[-1], f"headway: {sentence}\n".encode(errors="backslashreplace"))


def far_log(folder: str, workflow: WorkflowId, job: JobId, attempt: int) -> str:
    """Where a runner with this folder keeps the output of an attempt, on whatever host it is."""
    return f"{folder}/logs/{workflow}/{job // 1000}/{job}.{attempt}.log"


class LostHomeError(HeadwayError):
    """The folder of a runner was moved or removed under it."""


class Home:
    """Where everything of one local store lies. To do more than look one must own it, and be alone with it."""

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
            say(self.remarks[-1], (talk,))
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
        return self.folder / LOG

    def log(self, workflow: WorkflowId, job: JobId, attempt: int) -> str:
        """The path of one attempt's output, as text since it is made for every job; a thousand jobs to a folder."""
        return far_log(self._text, workflow, job, attempt)

    @property
    def identity(self) -> int:
        """Tells this folder from a copy of it, whose jobs are others."""
        database = self.database
        return (database if database.exists() else self.folder).stat().st_ino

    def remembered(self) -> list[PlaceholderId]:
        """The placeholders that ran here and may have left jobs."""
        try:
            with os.fdopen(read_in(self.folder, "placeholders"), errors="replace") as stream:
                return [PlaceholderId(int(word)) for word in stream.read().split()]
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
        """The runner's log to write to. What earlier ones said is kept, and in another file once it is much."""
        handle = own_file(self.talk, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        if os.fstat(handle).st_size <= LONGEST_LOG:
            return handle
        os.close(handle)
        self.talk.replace(f"{self.talk}.1")  # as runner_log.py has it while a runner works
        return own_file(self.talk, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def last_words(self) -> str:
        """The last line that a runner said."""
        from headway.live.home.runner_log import last_words

        return last_words(self)

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
            from headway.live.home.lost import what_happened

            raise LostHomeError(*what_happened(self._text, self.now_at))
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

    def connect(self, patience: float = 2.0) -> socket | None:
        """A line to the runner; None if there is none. Nothing is said to a process of another user.

        TimeoutError: there is one, and it has let nobody in for a long time.
        """
        try:
            handle = own_folder(self.folder)
        except (HeadwayError, OSError):
            if self._to_look:
                return None
            raise
        try:
            line = knock(handle, patience)
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
