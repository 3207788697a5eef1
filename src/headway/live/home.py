"""The folder `.headway` next to a workflow: its store, its logs, and the runner's door."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.live.store import FILE
from headway.model.errors import HeadwayError
from headway.model.messages import JobId, PlaceholderId, WorkflowId

_DOOR = "runner.sock"
_TALK = 1 << 16  # bytes of what runners said that are worth keeping


def server_folder(folder: Path, server: str) -> Path:
    """Where the runner and logs of a server's store are: apart from other stores, which use the same numbers."""
    import re
    from zlib import crc32

    address = re.sub(r"(?<=[?&])password=[^&]*", "", server.partition("://")[2].rpartition("@")[2])
    return folder / f"server-{crc32(address.encode('utf-8', 'surrogateescape')):08x}"


class Home:
    """Where everything of one local store lies."""

    def __init__(self, folder: Path, to_look: bool = False) -> None:
        self.folder = folder.absolute()
        self._text = str(self.folder)
        if to_look:
            return
        elsewhere = "Choose another place with --store FOLDER."
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadwayError(f"{folder}: cannot be made: {error.strerror}.", elsewhere) from None
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise HeadwayError(f"{folder}: cannot be written.", elsewhere)

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

    def remembered(self, new: int) -> list[PlaceholderId]:
        """The placeholders that ran here and may have left jobs; the new one is written down beside them."""
        try:
            before = [PlaceholderId(int(word)) for word in (self.folder / "placeholders").read_text().split()]
        except (OSError, ValueError):
            before = []
        self.remember([*before, PlaceholderId(new)])
        return before

    def remember(self, placeholders: Sequence[PlaceholderId]) -> None:
        """Writes down whose jobs a successor has to look after."""
        aside = self.folder / ".placeholders"
        aside.write_text(" ".join(map(str, placeholders)) + "\n")
        aside.replace(self.folder / "placeholders")

    def opened_talk(self) -> int:
        """The runner's log to write to; what earlier ones said is kept until it is much."""
        handle = os.open(self.talk, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if os.fstat(handle).st_size > _TALK:
            os.ftruncate(handle, 0)
        return handle

    def last_words(self) -> str:
        """The last line that a runner said."""
        try:
            lines = self.talk.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    @property
    def is_foreign(self) -> bool:
        """Whether the runner's door is another user's: nobody can be asked whether there is one behind it."""
        door = self.folder / _DOOR
        return door.exists() and not os.access(door, os.W_OK)

    # --- locks -----------------------------------------------------------------------------------------------------

    def locked(self) -> int | None:
        """The runner's lock, held until its holder dies; None if another runner has it."""
        handle = self._lock_file("lock")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle

    @contextlib.contextmanager
    def submitting(self) -> Iterator[None]:
        """One at a time: two that bring the same file at once must not both take it for new."""
        handle = self._lock_file("submit.lock")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _lock_file(self, name: str) -> int:
        path = self.folder / name
        if path.is_dir():  # whatever else lies there can be locked
            from headway.live.placeholder.aside import set_aside

            os.write(self.opened_talk(), f"headway: {set_aside(path, 'is a folder')}\n".encode())
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    # --- the runner's door -----------------------------------------------------------------------------------------

    def listen(self) -> Door:
        """The runner's door, open to this user only."""
        return Door(os.open(self.folder, os.O_PATH | os.O_CLOEXEC))

    def connect(self) -> socket.socket | None:
        """A line to the runner; None if there is none."""
        handle = os.open(self.folder, os.O_PATH | os.O_CLOEXEC)
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.connect(_socket_path(handle))
            return line
        except (FileNotFoundError, ConnectionRefusedError):
            line.close()
            return None
        finally:
            os.close(handle)


class Door:
    """A socket to listen on. It stays in the folder it was made in, whatever comes to lie at that folder's path."""

    def __init__(self, folder: int) -> None:
        self._path = _socket_path(folder)
        self.open()

    def open(self) -> None:
        self._unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o077)
        try:
            self.socket.bind(self._path)
        finally:
            os.umask(before)
        self.socket.listen(64)
        self.socket.setblocking(False)

    def hide(self) -> None:
        """Nobody finds it any more; who has already knocked can still be let in."""
        self._unlink()

    def _unlink(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108 - a path of our own making, through a folder's handle


def _socket_path(folder: int) -> str:
    """Short enough however deep the folder lies: through a handle of the folder."""
    return f"/proc/self/fd/{folder}/{_DOOR}"
