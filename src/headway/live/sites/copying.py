"""Copies files to a site and home, in pieces over its channel: whole by size and digest, resumed where they were cut.

Each file is a generator that yields what it says to the far end and is sent the answer. Many go on side by side: on a
far link each waits for answers most of the time.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from headway.live.sites.frames import DAMAGED, Folder, Found, Leaves, Look, Put, Read, Seal, Seen, Tree
from headway.model.errors import HeadwayError, shown
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.frames import Answer, Control

    Steps = Generator[tuple[Control, int], Answer, None]  # what is said, and how many bytes it moves
    Done = Callable[[HeadwayError | None], None]

PIECE = 1 << 19  # bytes that are sent at once
BESIDE = 64  # files that are copied at once
AT_ONCE = 1 << 21  # bytes that are on their way at once: the channel holds them in memory
LONGEST_NAME = 255  # bytes of a file's name
PART = ".headway-part"  # what the name of a file ends in that is not whole yet


@record
class _Known:
    """A file here that was looked at: as long as it looks the same its digest is known."""

    size: int
    changed: int
    digest: str


class _Batch:
    """Files that are needed together. `todo` has those that have not begun, each with the path that it writes."""

    def __init__(self, done: Done) -> None:
        self.done = done
        self.todo: deque[tuple[str, Steps]] = deque()
        self.open = 0  # files under way, and those that wait for another copy of the same
        self.error: HeadwayError | None = None
        self.is_over = False


class Copying:
    """The copies over one channel."""

    def __init__(self, say: Callable[[Control], None]) -> None:
        self._say = say
        self._batches: deque[_Batch] = deque()
        self._blocked: dict[
            str, deque[tuple[_Batch, Steps]]
        ] = {}  # by the path of a copy under way: who wants the same
        self._going: dict[int, tuple[str, _Batch, Steps, int]] = {}  # by the number that the answer has
        self._ready: deque[tuple[str, _Batch, Steps, Answer | None]] = (
            deque()
        )  # that can go on as soon as there is room
        self._moving = 0  # bytes on their way
        self._number = 0
        self._known: dict[str, _Known] = {}
        self._there: dict[str, str] = {}  # digests of files at the site
        self._later: list[Callable[[], None]] = []

    # --- what is wanted ----------------------------------------------------------------------------------------------

    def there(self, pairs: Sequence[tuple[str, str]], folders: Sequence[str], done: Done) -> None:
        """Files and folders from here to the site, each with its path there; what is not here is left out."""
        for folder in dict.fromkeys(folders):
            self._say(Folder(folder))
        batch = _Batch(done)
        for here, there in pairs:
            for path in _files(here):
                name = there + path[len(here) :]
                batch.todo.append((name, self._send(path, name)))
        self._begin(batch)

    def here(self, pairs: Sequence[tuple[str, str]], done: Done) -> None:
        """Files and folders from the site to here; what is not there is left out."""
        batch = _Batch(done)
        for there, here in pairs:
            batch.todo.append((f"list {id(batch)} {there}", self._list(batch, there, here)))
        self._begin(batch)

    def later(self, what: Callable[[], None]) -> None:
        """Something that did not work is to be tried again."""
        self._later.append(what)

    def retry(self) -> None:
        later, self._later = self._later, []
        for what in later:
            what()

    @property
    def is_waiting(self) -> bool:
        """Whether something is to be tried again."""
        return bool(self._later)

    # --- the far end answers -----------------------------------------------------------------------------------------

    def heard(self, number: int, answer: Answer) -> None:
        """Goes on with a copy."""
        found = self._going.pop(number, None)
        if found is not None:
            path, batch, steps, size = found
            self._moving -= size
            self._ready.append((path, batch, steps, answer))
            self._fill()

    def _begin(self, batch: _Batch) -> None:
        self._batches.append(batch)
        self._fill()

    def _fill(self) -> None:
        """Goes on with files, and begins with further ones, while there is room."""
        while self._moving < AT_ONCE:
            if self._ready:
                self._go_on(*self._ready.popleft())
            elif self._batches and len(self._blocked) < BESIDE:
                self._begin_next(self._batches[0])
            else:
                return

    def _begin_next(self, batch: _Batch) -> None:
        """With a batch's next file, unless it is under way: two copies of one file would write over each other."""
        if not batch.todo:
            self._batches.popleft()
            self._settle(batch)
            return
        path, steps = batch.todo.popleft()
        batch.open += 1
        if path in self._blocked:
            self._blocked[path].append((batch, steps))
        else:
            self._blocked[path] = deque()
            self._go_on(path, batch, steps, None)

    def _go_on(self, path: str, batch: _Batch, steps: Steps, answer: Answer | None) -> None:
        try:
            said, size = next(steps) if answer is None else steps.send(answer)
        except StopIteration:
            self._end(path, batch, None)
        except HeadwayError as error:
            self._end(path, batch, error)
        except OSError as error:
            what = f"{shown(str(error.filename2 or error.filename))} cannot be copied: {error.strerror}."
            self._end(path, batch, HeadwayError(what, "It is tried again: make room, or see to what is in its place."))
        else:
            self._going[self._number] = path, batch, steps, size
            self._moving += size
            self._say(said)

    def _end(self, path: str, batch: _Batch, error: HeadwayError | None) -> None:
        """A file is there, or cannot be. Who wanted the same looks for itself: it may have changed since."""
        batch.open -= 1
        if error is not None:
            batch.error = error
            batch.todo.clear()
        blocked = self._blocked.pop(path)
        if blocked:
            other, steps = blocked.popleft()
            self._blocked[path] = blocked
            self._ready.append((path, other, steps, None))
        if batch.todo and batch not in self._batches:
            self._batches.appendleft(batch)  # a folder was listed
        self._settle(batch)

    def _settle(self, batch: _Batch) -> None:
        if not batch.open and not batch.todo and not batch.is_over:
            batch.is_over = True
            batch.done(batch.error)

    def _next(self) -> int:
        self._number += 1
        return self._number

    # --- there -------------------------------------------------------------------------------------------------------

    def _send(self, here: str, there: str) -> Steps:
        """One file, unless it is there already."""
        digest, size, mode = self._digest(here)
        if self._there.get(there) == digest:
            return
        seen = yield Look(there, self._next()), 0
        assert isinstance(seen, Seen)
        if (seen.size, seen.digest) != (size, digest):
            yield from self._write(here, there, size, digest, mode)
        self._there[there] = digest

    def _write(self, here: str, there: str, size: int, digest: str, mode: int) -> Steps:
        """Sends what is missing of a file. Goes on with a part that is there from a connection that broke."""
        part = _part(there)
        for _ in range(2):  # a part that somebody else has changed since is sent again from its beginning
            at = 0
            if size > PIECE:  # else all of it is sent at once, and there is nothing to go on with
                seen = yield Look(part, self._next()), 0
                assert isinstance(seen, Seen)
                at = seen.size if 0 < seen.size <= size and seen.digest == _digest_of(here, seen.size) else 0
            with Path(here).open("rb") as file:
                file.seek(at)
                while True:
                    data = file.read(PIECE)
                    seen = yield Put(part, at, base64.b64encode(data).decode(), self._next()), len(data)
                    _check(seen, there)
                    at += len(data)
                    if at >= size or not data:
                        break
            if at != size or _digest_of(here, size) != digest:
                raise HeadwayError(f"{shown(here)} changes while it is copied.", "It is copied again.")
            seen = yield Seal(part, there, size, digest, mode, self._next()), 0
            assert isinstance(seen, Seen)
            if seen.error != DAMAGED:
                _check(seen, there)
                return
        what = f"{shown(there)} does not arrive there as it was sent: {shown(part)} was changed meanwhile, twice."
        raise HeadwayError(what, "It is sent again. See what else writes to that file, and whether its disk is sound.")

    def _digest(self, path: str) -> tuple[str, int, int]:
        """Of a file here, with its size and mode."""
        found = os.stat(path)  # noqa: PTH116
        known = self._known.get(path)
        if known is None or (known.size, known.changed) != (found.st_size, found.st_mtime_ns):
            known = self._known[path] = _Known(found.st_size, found.st_mtime_ns, _digest_of(path, found.st_size))
        return known.digest, known.size, found.st_mode & 0o777

    # --- here --------------------------------------------------------------------------------------------------------

    def _list(self, batch: _Batch, there: str, here: str) -> Steps:
        """What is below a path there: all of it is fetched."""
        leaves = yield Tree(there, self._next()), 0
        assert isinstance(leaves, Leaves)
        for leaf in leaves.names:
            if leaf.startswith("/") or ".." in leaf.split("/"):
                raise HeadwayError(f"the site names a file {shown(leaf)}, which leads out of {shown(there)}.")
            name = f"{here}/{leaf}" if leaf else here
            batch.todo.append((name, self._fetch(f"{there}/{leaf}" if leaf else there, name)))

    def _fetch(self, there: str, here: str) -> Steps:
        """One file, unless it is here already. Goes on with a part that is here from a connection that broke."""
        seen = yield Look(there, self._next()), 0
        assert isinstance(seen, Seen)
        if seen.size < 0:
            return
        self._there[there] = seen.digest
        if os.path.isfile(here) and self._digest(here)[:2] == (seen.digest, seen.size):  # noqa: PTH113
            return
        part = _part(here)
        Path(part).parent.mkdir(parents=True, exist_ok=True)
        for _ in range(2):  # what is here may be a part of something else
            yield from self._read(there, part, seen.size)
            if _digest_of(part, seen.size) == seen.digest:
                os.chmod(part, seen.mode & 0o777)  # noqa: PTH101
                os.replace(part, here)  # noqa: PTH105
                return
            Path(part).unlink()
        raise HeadwayError(f"{shown(there)} changes while it is fetched.")

    def _read(self, there: str, part: str, size: int) -> Steps:
        with open(part, "ab") as file:  # noqa: PTH123
            if file.tell() > size:
                file.truncate(0)
                file.seek(0)
            while (at := file.tell()) < size:
                number = self._next()
                found = yield Read(there, at, -number), min(size - at, PIECE)
                assert isinstance(found, Found)
                data = base64.b64decode(found.found)
                if not data:
                    raise HeadwayError(f"{shown(there)} became shorter while it was fetched.")
                file.write(data[: size - at])


def _part(path: str) -> str:
    """What a file is called until it is whole; a name that has no room for the ending is replaced by its digest."""
    folder, _, name = path.rpartition("/")
    if len(os.fsencode(name)) + len(PART) > LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(name)).hexdigest()}"
    return f"{folder}/{name}{PART}"


def _check(seen: Answer, path: str) -> None:
    if isinstance(seen, Seen) and seen.error:
        raise HeadwayError(f"{shown(path)} cannot be written there: {seen.error}.", "Make room, or see to its folder.")


def _files(path: str) -> Iterator[str]:
    """The file of this path, or all files of a folder."""
    if os.path.isfile(path):  # noqa: PTH113
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (f"{folder}/{name}" for name in sorted(names) if os.path.isfile(f"{folder}/{name}"))  # noqa: PTH113


def _digest_of(path: str, size: int) -> str:
    """Of the first bytes of a file."""
    known, left = hashlib.sha256(), size
    with Path(path).open("rb") as file:
        while left > 0 and (data := file.read(min(left, 1 << 20))):
            known.update(data)
            left -= len(data)
    return known.hexdigest()
