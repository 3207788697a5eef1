"""Files of the store's folder that make no sense are kept under another name: they stop nobody."""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path


def another_name(path: Path, ending: str) -> Path:
    """A name beside a file that nothing has yet."""
    names = (path.with_name(f"{path.name}.{ending}-{number}") for number in itertools.count(1))
    return next(name for name in names if not os.path.lexists(name))


def set_aside(path: Path, why: str, copy: bool = False) -> str:
    """Gives a file another name, or a second one; a sentence that says so."""
    aside = another_name(path, "set-aside")
    if not copy:
        path.rename(aside)
        return f"{path} {why}. It is kept as {aside.name}."
    try:
        os.link(path, aside, follow_symlinks=False)
    except OSError:
        from shutil import copyfile

        with contextlib.suppress(OSError):  # no room: what makes no sense is not worth stopping for
            copyfile(path, aside)
    return f"{path} {why}. A copy is kept as {aside.name}."
