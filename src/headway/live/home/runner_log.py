"""A runner's own log: standard logging, rotated. Imported when something is first said, which most runs never do.

It is the standard error of the runner, so tracebacks are there too; it stays that wherever its folder is moved.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

from headway.live.home.folder import LOG, LONGEST_LOG, Home
from headway.live.home.ownership import own_file, read_in
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import TextIOWrapper

_OLD = f"{LOG}.1"
_DELETED = f"{LOG} (deleted)"  # as the system calls it
_TOLD = " headway: "  # between the time and the words
_SCANT = 1 << 18  # bytes; a runner needs as much to begin


def write(sentence: str, handles: tuple[int, ...]) -> None:
    """Adds a sentence to the log behind some handles; to what else is behind them, as it is."""
    path = Path(os.readlink(f"/proc/self/fd/{handles[-1]}"))  # noqa: PTH115 - no file need be there
    if path.name == _OLD:  # a run that found something odd here has rotated it
        path = path.with_name(LOG)
        _lead(handles, path)
    elif path.name == _DELETED:  # what is said is to be found; a file that is in its place by now is another's
        path = path.with_name(LOG)
        _lead(handles, path, os.O_EXCL)
    if path.name != LOG:
        print(f"headway: {sentence}", file=sys.stderr, flush=True)
        return
    log = RunnerLog(path, handles)
    log.handle(logging.makeLogRecord({"msg": sentence, "levelno": logging.WARNING, "levelname": "WARNING"}))
    log.close()


class RunnerLog(RotatingFileHandler):
    """The log that some handles of this process lead to; after a rotation they lead to the new file."""

    def __init__(self, path: Path, handles: tuple[int, ...]) -> None:
        super().__init__(path, "a", LONGEST_LOG, 1, "utf-8", delay=True, errors="backslashreplace")
        self._handles = handles
        self.setFormatter(logging.Formatter(f"%(asctime)s{_TOLD}%(message)s"))

    def _open(self) -> TextIOWrapper:
        return os.fdopen(os.dup(self._handles[-1]), "a", encoding=self.encoding, errors=self.errors)

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - a name of logging's
        """Whether it is long, and still where it was: what somebody else has put there is left alone."""
        with contextlib.suppress(OSError):
            there = os.lstat(self.baseFilename)
            if os.path.samestat(there, os.fstat(self._handles[-1])):
                return bool(super().shouldRollover(record))
        return False

    def rotate(self, source: str, dest: str) -> None:
        """The log gets another name. If no new one can be made, it goes on under that."""
        with contextlib.suppress(OSError, HeadwayError):
            Path(source).replace(dest)
            _lead(self._handles, Path(source))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a name of logging's
        """It is said in a plainer way, or there is no room to say it."""
        with contextlib.suppress(OSError):
            os.write(self._handles[-1], f"headway: {record.getMessage()}\n".encode(errors="backslashreplace"))


def _lead(handles: tuple[int, ...], path: Path, flags: int = 0) -> None:
    """Handles lead to a file from now on, which is made if it is not there."""
    handle = own_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags)
    for number in handles:
        os.dup2(handle, number)
    os.close(handle)


def last_words(home: Home) -> str:
    """The last line that a runner said, without its time."""
    try:
        with os.fdopen(read_in(home.folder, LOG), errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        lines = []
    if lines:
        return lines[-1][lines[-1].find(_TOLD) + 1 :]
    return "there is no room left on its disk." if _is_full(home) else ""


def _is_full(home: Home) -> bool:
    """Whether nothing can be written there, not even why."""
    from headway.live.home.disk import free_space

    return free_space(str(home.folder)) < _SCANT
