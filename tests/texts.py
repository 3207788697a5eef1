"""A world of texts: files in a dictionary, and nothing that can be run."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from headway.model.errors import InputError


class Texts:
    """A `formats.world.World` in memory."""

    most_nodes = 1000

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)

    def environment(self, name: str) -> str | None:
        return {"HOME": "/home/me"}.get(name)

    def lines(self, path: str) -> Iterator[str]:
        return (f"{line}\n" for line in self.text(path).removesuffix("\n").split("\n"))

    def text(self, path: str) -> str:
        if path not in self.files:
            raise InputError(path, 1, "cannot be read.")
        return self.files[path]

    def exists(self, path: str) -> bool:
        return path in self.files

    def matches(self, folder: str, pattern: str, kind: str) -> list[str]:
        return sorted(name for name in self.files if kind != "dirs" and fnmatchcase(name, pattern))

    def make(self, path: str, goals: Sequence[str]) -> str:
        raise InputError(path, 1, "no make here.")

    def describe(self, path: str, arguments: Sequence[str]) -> str:
        raise InputError(path, 1, "nothing runs here.")

    def collect(self, path: str, arguments: Sequence[str]) -> str:
        raise InputError(path, 1, "nothing runs here.")

    def build(self, path: str, arguments: Sequence[str]) -> str:
        raise InputError(path, 1, "nothing runs here.")


class Originals(Texts):
    """The same with bytes, as files to be changed."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__({path: text.decode("utf-8", "surrogateescape") for path, text in files.items()})

    def lines(self, path: str) -> Iterator[str]:
        return (f"{line}\n" for line in self.text(path).removeprefix("\ufeff").split("\n"))

    def raw(self, path: str) -> bytes:
        return self.text(path).encode("utf-8", "surrogateescape")

    def identity(self, path: str) -> str:
        return posixpath.normpath(path)
