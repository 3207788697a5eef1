"""The folder `.headway` next to a workflow: its store, its logs, and the runner's door."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from pathlib import Path

from headway.model.errors import HeadwayError
from headway.model.messages import JobId, WorkflowId


class Home:
    """Where everything of one local store lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadwayError(
                f"{folder}: cannot be made: {error.strerror}.", "Choose another place with --store FOLDER."
            ) from None

    @property
    def database(self) -> Path:
        return self.folder / "store.db"

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def talk(self) -> Path:
        """What the runner has to say when nobody is there to hear it."""
        return self.folder / "runner.log"

    def log(self, workflow: WorkflowId, job: JobId, attempt: int) -> Path:
        """The output of one attempt; a thousand jobs to a folder."""
        return self.logs / str(workflow) / str(job // 1000) / f"{job}.{attempt}.log"

    def locked(self) -> int | None:
        """The runner's lock, held until its holder dies; None if another runner has it."""
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        return handle

    def listen(self) -> socket.socket:
        """The runner's door, open to this user only."""
        with self._door() as path:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108 - a path of our own making, through a folder's handle
            door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            before = os.umask(0o077)
            try:
                door.bind(path)
            finally:
                os.umask(before)
            door.listen(64)
            door.setblocking(False)
            return door

    def close_door(self) -> None:
        with self._door() as path, contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108

    def connect(self) -> socket.socket | None:
        """A line to the runner; None if there is none."""
        with self._door() as path:
            line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                line.connect(path)
                return line
            except (FileNotFoundError, ConnectionRefusedError):
                line.close()
                return None

    @contextlib.contextmanager
    def _door(self):  # type: ignore[no-untyped-def]
        """The socket's path, short enough however deep the folder lies: through a handle of the folder."""
        handle = os.open(self.folder, os.O_PATH | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{handle}/runner.sock"
        finally:
            os.close(handle)
