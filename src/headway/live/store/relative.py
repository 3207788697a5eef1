"""Paths in an embedded store are relative to its folder: all of it can be moved, or reached through a link.

Outside the store paths are absolute. Stores of earlier versions have absolute paths inside, too, and are still read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

_MARK = "./"  # what a path begins with that is relative to the store's folder
_FIRST = re.compile(r"'(?:[^']|'\"'\"')*'|[^ ]*")  # the first word of a command line, as shlex.join writes it
_DEVICES = ("/dev/", "/proc/")  # a pipe has no place


def resolved(path: str) -> str:
    """A file's path with links on the way to it followed; which name a file has in its folder is its user's choice."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    try:
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
    except ValueError:  # no file has such a name
        return path


class Paths:
    """How the paths of a store are written; without a folder, as they are."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = None if folder is None else os.path.realpath(folder)

    def kept(self, path: str) -> str:
        """An absolute path as the store has it."""
        if self._folder is None or not path.startswith("/") or path.startswith(_DEVICES):
            return path
        return _MARK + os.path.relpath(resolved(path), self._folder)

    def found(self, path: str) -> str:
        """A path of the store, absolute."""
        if self._folder is None or not path.startswith(_MARK):
            return path
        return os.path.normpath(os.path.join(self._folder, path))  # noqa: PTH118

    def kept_source(self, source: str) -> str:
        """A file and its arguments as the store has them."""
        return self._with_first(source, self.kept)

    def found_source(self, source: str) -> str:
        return self._with_first(source, self.found)

    def _with_first(self, source: str, changed: Callable[[str], str]) -> str:
        """A command line with another first word."""
        first = _FIRST.match(source)
        if self._folder is None or first is None:
            return source
        word = first[0]
        if word.startswith("'"):
            word = word[1:-1].replace("'\"'\"'", "'")
        now = changed(word)
        from shlex import quote  # a runner does without

        return source if now == word or quote(word) != first[0] else quote(now) + source[first.end() :]
