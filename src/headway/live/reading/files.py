"""The files of this machine, as the formats see them (`formats.world.World`)."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.live.reading import streams
from headway.model.errors import InputError, UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

HEAD = 65536  # bytes of a file that decide on its format
MOST_NODES = "HEADWAY_MOST_NODES"  # of a DAG whose splices multiply
_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"


class Files:
    """Reads what it is asked for; what a reader may run is in modules of their own, imported when needed."""

    @property
    def most_nodes(self) -> int:
        text = os.environ.get(MOST_NODES)
        if text is None:
            return 5_000_000
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise UsageError(f"{MOST_NODES}={shown(text)} is no number of nodes.", "Give a number such as 20000000.")
        return int(text)

    def environment(self, name: str) -> str | None:
        return os.environ.get(name)

    def lines(self, path: str) -> Iterator[str]:
        return _guarded(path, _opened(path))

    def text(self, path: str) -> str:
        return "".join(self.lines(path))

    def exists(self, path: str) -> bool:
        try:
            return Path(path).is_file()
        except (OSError, ValueError):
            return False

    def head(self, path: str) -> str:
        """The beginning of a file, unpacked."""
        with _opened(path) as stream:
            try:
                raw = stream.read(HEAD)
            except OSError as error:
                raise _broken(path, 1, error) from None
        text, _ = codecs.utf_8_decode(raw.removeprefix(codecs.BOM_UTF8), "surrogateescape", False)
        _check_text(path, 1, text)
        return text

    def raw(self, path: str) -> bytes:
        try:
            found = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise InputError(
                path, 1, f"cannot be read: {getattr(error, 'strerror', None) or error}.", "Check the path."
            ) from None
        if found.startswith((_GZIP, _XZ)):
            raise InputError(path, 1, "the file is packed, so it cannot be changed.", "Unpack it first.")
        return found

    def identity(self, path: str) -> str:
        return os.path.realpath(path)

    def matches(self, folder: str, pattern: str, kind: str) -> list[str]:
        from glob import glob  # Path.glob takes no absolute patterns

        def fits(name: str) -> bool:
            return kind == "any" or (Path(folder) / name).is_dir() == (kind == "dirs")

        return sorted(name for name in glob(pattern, root_dir=folder or None) if fits(name))  # noqa: PTH207

    def make(self, path: str, goals: Sequence[str]) -> str:
        from headway.live.reading.make import make

        return make(path, goals)

    def describe(self, path: str, arguments: Sequence[str]) -> str:
        from headway.live.reading.describe import describe

        return describe(path, arguments)

    def collect(self, path: str, arguments: Sequence[str]) -> str:
        from headway.live.reading.collect import collect

        return collect(path, arguments)

    def build(self, path: str, arguments: Sequence[str]) -> str:
        from headway.live.reading.build import build

        return build(path, arguments)


def _opened(path: str) -> IO[bytes]:
    try:
        stream: io.BufferedReader = streams.opened(path)  # type: ignore[assignment]
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(path, 1, f"cannot be read: {why}.", "Check the path.") from None
    try:
        magic = stream.peek(6)[:6]
    except OSError as error:
        stream.close()
        raise _broken(path, 1, error) from None
    if magic.startswith((_GZIP, _XZ)):
        from headway.live.reading.packed import unpacked

        return unpacked(path, stream, magic.startswith(_GZIP))
    return stream


def _guarded(path: str, stream: IO[bytes]) -> Iterator[str]:
    """Lines as text. Names may hold any byte above 127, so what is no UTF-8 is kept, not refused."""
    number = 0
    with io.TextIOWrapper(stream, "utf-8", "surrogateescape", newline="\n") as text:
        try:
            head: bytes = stream.peek(3)  # type: ignore[attr-defined]
            if head.startswith(codecs.BOM_UTF8):  # as Windows editors leave it
                stream.read(3)
            for line in text:
                number += 1
                if "\0" in line:
                    _check_text(path, number, line)
                yield line
        except OSError as error:
            raise _broken(path, number + 1, error) from None


def _broken(path: str, line: int, error: Exception) -> InputError:
    if isinstance(error, OSError) and error.strerror:
        return InputError(path, line, f"cannot be read: {error.strerror}.", "Check the path.")
    return InputError(path, line, f"the file cannot be unpacked ({error}).", "Is it whole?")


def _check_text(path: str, line: int, text: str) -> None:
    if "\0" in text:
        line += text.count("\n", 0, text.index("\0"))
        raise InputError(path, line, "this is a binary file.", "Expected the text of a workflow.")
