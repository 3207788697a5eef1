"""What has ended and is not in the store yet: written the moment a job is reaped, so that it is never run again."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

from headway.live.home.ownership import own_file
from headway.model.messages import Finish, LeaseId

# Times with every digit: an end that the store has already is known by its time.
_LINE = (
    b'{"lease": %d, "exit_code": %s, "started": %.17g, "ended": %.17g,'
    b' "cpu_seconds": %.6f, "max_rss": %d, "reason": %s}\n'
)
_LARGE = 1 << 16  # bytes after which a spool that holds nothing new is emptied
_ROOM = 1 << 17  # bytes that the file has from the beginning: what has ended is written down on a full disk too


def _line(finish: Finish) -> bytes:
    """An end as a line of JSON; put together by hand, since every job pays for it."""
    return _LINE % (
        finish.lease,
        b"null" if finish.exit_code is None else b"%d" % finish.exit_code,
        finish.started,
        finish.ended,
        finish.cpu_seconds,
        finish.max_rss,
        json.dumps(finish.reason).encode() if finish.reason else b'""',
    )


class Spool:
    """A file of JSON lines, followed by zeros. A line that was cut off by a crash is a job whose end was not spooled.

    Lines that make no sense are set aside with all the others, and `remark` says so.
    """

    def __init__(self, path: Path) -> None:
        self.remark = ""
        if path.exists() and not path.is_file():
            self.remark = _set_aside(path, "is no file")
        self._path = path
        self._added = 0  # ends, written or not
        self._open(path)
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        lines = [line for part in text.splitlines(keepends=True) if (line := part.strip(b"\0"))]
        whole = [line for line in lines if line.endswith(b"\n")]
        good = [line for line in whole if _finish(line) is not None]
        if len(good) < len(whole):
            self.remark = _set_aside(path, "has lines that make no sense", copy=True)
        self._unwritten = b""
        kept = b"".join(good)
        self.size = len(kept)
        if len(good) < len(whole) or not text.startswith(kept):
            self._replace(path, kept)
        elif text[self.size :].strip(b"\0"):  # half a line
            os.pwrite(self._file, bytes(len(text) - self.size), self.size)
        self._reserve()

    def _reserve(self) -> None:
        with contextlib.suppress(OSError):  # on a full disk it is tried without
            os.posix_fallocate(self._file, 0, _ROOM)

    def _open(self, path: Path) -> None:
        self._file = own_file(path, os.O_RDWR | os.O_CREAT)

    def _replace(self, path: Path, text: bytes) -> None:
        """Makes the file again from what makes sense of it; at no moment is there none."""
        aside = path.with_name(f".{path.name}")
        aside.unlink(missing_ok=True)
        os.close(self._file)
        self._open(aside)
        os.write(self._file, text)
        aside.replace(path)
        self._reserve()

    def is_at(self, path: str) -> bool:
        """Whether its file still has this name."""
        try:
            found = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - a runner asks with every exchange
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self._file))

    def rewrite(self, path: Path, without: int = 0) -> None:
        """Goes on in a new file of this name, without the first bytes. OSError: it cannot, and goes on as before."""
        aside = path.with_name(f".{path.name}")
        aside.unlink(missing_ok=True)
        file = own_file(aside, os.O_RDWR | os.O_CREAT)
        try:
            os.posix_fallocate(file, 0, max(_ROOM, self.size - without))
            os.pwrite(file, os.pread(self._file, self.size - without, without), 0)
            aside.replace(path)
        except BaseException:
            os.close(file)
            raise
        os.close(self._file)
        self._file = file
        self.size -= without

    def add(self, finish: Finish) -> None:
        """Writes an end down; OSError if there is no room, and then it is written with the next."""
        self._added += 1
        lines = self._unwritten + _line(finish)
        self._unwritten = lines
        written = os.pwrite(self._file, lines, self.size)
        if written < len(lines):
            os.pwrite(self._file, lines[written:], self.size + written)
        self.size += len(lines)
        self._unwritten = b""

    def replay(self) -> Iterator[Finish]:
        """What was spooled; the store refuses what it has already."""
        for line in os.pread(self._file, self.size, 0).splitlines():
            finish = _finish(line)
            if finish is not None:
                yield finish

    @property
    def mark(self) -> tuple[int, int]:
        """What it has now, for `settled` to know later."""
        return self._added, self.size

    def settled(self, told: tuple[int, int] | None = None, idle: bool = False) -> None:
        """What it had at a mark, or all, is in the store: that may go, which is put off while there is work to do."""
        if told is None or told[0] == self._added:
            self._unwritten = b""
            if self.size and (idle or self.size > _LARGE):
                with contextlib.suppress(OSError):  # it is emptied another time
                    os.pwrite(self._file, bytes(self.size), 0)
                    self.size = 0
        elif told[1] > _LARGE:  # under load it is never empty
            with contextlib.suppress(OSError):
                self.rewrite(self._path, without=told[1])


def _finish(line: bytes) -> Finish | None:
    """What a line says; None if it is none of ours."""
    try:
        said = json.loads(line)
        finish = Finish(LeaseId(said.pop("lease")), **said)
        return finish if _is_sane(finish) else None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _is_sane(finish: Finish) -> bool:
    """Whether a runner can have written this, and a store can take it."""
    code = 0 if finish.exit_code is None else finish.exit_code
    times = (finish.started, finish.ended, finish.cpu_seconds)
    return (
        all(type(number) is int and 0 <= number < 1 << 62 for number in (finish.lease, finish.max_rss))
        and type(code) is int
        and abs(code) < 1 << 31
        and all(type(time) in (int, float) and math.isfinite(time) for time in times)
        and isinstance(finish.reason, str)
        and "\0" not in finish.reason
    )


def _set_aside(path: Path, why: str, copy: bool = False) -> str:
    from headway.live.placeholder.aside import set_aside  # hardly a run needs it, and each would wait for it

    return set_aside(path, why, copy)
