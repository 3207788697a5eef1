"""Where jobs write while they run: files that are used again, so that only jobs with something to say get a log.

To make a file costs a fifth of what it costs to start a small program (0.2 ms on ext4), and most jobs of a large
workflow print nothing. A file goes on to the next job only if it is empty and nobody else has it open; otherwise it
becomes the log of the job that wrote it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from headway.live.home.ownership import check_folder
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


RUNNING = "running"  # the folder below that of the logs


@record
class Output:
    """A file that one job at a time writes to, and our own handle of it."""

    path: str
    handle: int
    number: int = 0  # its name, as the roster has it


class Outputs:
    """The files in `.headway/logs/running`. What a dead runner left there is kept in `.headway/logs/lost`.

    They are their user's alone, unless others may read the folder of the logs. No folder above that is ever made here:
    if it is gone, the store is.
    """

    def __init__(self, logs: Path, path_of: Callable[[Any], str] = str) -> None:
        self._logs, self._path_of = str(logs), path_of
        self._folder = logs / RUNNING
        check_folder(logs)
        check_folder(self._folder)
        self._free: list[Output] = []
        self._silent: list[tuple[Output, object]] = []  # of jobs that ended, and whose logs they will be if need be
        self._made = 0
        self._lost = logs / "lost"
        self._kept: set[str] = set()

    def left(self, number: int) -> Output:
        """What a job writes to that a dead runner has started; an empty file if somebody has removed it."""
        path = f"{self._folder}/{number}"
        self._made = max(self._made, number)
        self._kept.add(str(number))
        try:
            return Output(path, os.open(path, os.O_RDWR | os.O_CLOEXEC), number)
        except OSError:
            return Output("", os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))

    def clear(self) -> None:
        """What a dead runner left, and no job writes to any more, is kept in `lost`."""
        lost = self._lost
        for left in sorted(self._folder.iterdir()) if self._folder.exists() else ():
            if left.name in self._kept:
                continue
            with contextlib.suppress(OSError):
                if left.stat().st_size:
                    self._make(str(lost))
                    left.rename(lost / f"{left.stat().st_mtime_ns}.log")
                else:
                    left.unlink()

    def take(self) -> Output:
        """A file for a job that is about to start; OSError if none can be made."""
        if not self._free:
            self.tidy()
        if self._free:
            return self._free.pop()
        self._made += 1
        path = f"{self._folder}/{self._made}"
        try:
            return Output(path, self._opened(path), self._made)
        except FileNotFoundError:
            self._make(self._logs)
            self._make(str(self._folder))
            return Output(path, self._opened(path), self._made)

    def _opened(self, path: str) -> int:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if bits := self._shared():
            os.fchmod(handle, 0o600 | (bits & 0o044))
        return handle

    def _make(self, folder: str) -> None:
        """Makes a folder of logs, but none above it."""
        with contextlib.suppress(FileExistsError):
            bits = self._shared()
            os.mkdir(folder, 0o700)  # noqa: PTH102 - never with parents
            if bits:
                os.chmod(folder, 0o700 | bits)  # noqa: PTH101

    def _shared(self) -> int:
        """What others may do with the folder of the logs; their user may change that at any time."""
        try:
            return os.stat(self._logs).st_mode & 0o055  # noqa: PTH116
        except FileNotFoundError:
            return 0

    def give_back(self, output: Output) -> None:
        """A job that was to have it did not start."""
        self._free.append(output)

    def is_lost(self, output: Output) -> bool:
        """Whether somebody has removed it, so that no job can open it any more."""
        return not Path(output.path).exists()

    def drop(self, output: Output) -> None:
        os.close(output.handle)

    def settle(self, output: Output, whose: object, keep: bool) -> None:
        """A job has ended. Its output becomes its log if there is any, or if it is to be kept all the same.

        `path_of` tells the path of a log: most jobs print nothing, and need none.
        """
        if not output.path:
            os.close(output.handle)
        elif keep or os.fstat(output.handle).st_size:
            self._put(output, self._path_of(whose))
        else:
            self._silent.append((output, whose))

    def tidy(self) -> None:
        """Sees which files can go on to other jobs: not while a slot waits for its next one."""
        for output, whose in self._silent:
            if _is_alone(output.handle) and not os.fstat(output.handle).st_size:
                self._free.append(output)
            else:
                self._put(output, self._path_of(whose))
        self._silent.clear()

    def explain(self, log: str, text: str) -> None:
        """Writes a log for a job that has not run."""
        with contextlib.suppress(OSError):
            output = self.take()
            os.write(output.handle, text.encode(errors="surrogateescape"))
            self._put(output, log)

    def _put(self, output: Output, log: str) -> None:
        """An output becomes a log."""
        os.close(output.handle)
        with contextlib.suppress(OSError):  # a log that cannot be put in its place stays where it is
            try:
                os.rename(output.path, log)  # noqa: PTH104 - a hot path
            except FileNotFoundError:
                folder = Path(log).parent  # of a thousand jobs of a workflow
                self._make(str(folder.parent))
                self._make(str(folder))
                os.rename(output.path, log)  # noqa: PTH104


def _is_alone(handle: int) -> bool:
    """Whether nobody else has the file open, a daemon that the job left for example: only then is a lease granted."""
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False
    return True


def tail_of(path: str, most: int = 2048) -> str:
    """The last lines of a log, as text; empty if it has none."""
    try:
        with open(path, "rb") as log:  # noqa: PTH123 - a path as text, as everywhere here
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - most))
            text = log.read(most)
    except OSError:
        return ""
    if size > most:
        text = text.partition(b"\n")[2] or text
    return text.decode(errors="replace").replace("\0", "")
