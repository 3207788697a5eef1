"""What can go wrong in a way its user can mend. Library code raises these; only `cli` prints and exits."""

from __future__ import annotations

import sys

SHOWN = 80  # characters of a user's word that an error repeats: a line may be 100 MB long


def shown(word: str) -> str:
    """A word from outside as an error repeats it: quoted, printable, never long."""
    return f'"{unquoted(word)}"'


def unquoted(word: str) -> str:
    """The same without quotes, for where the sentence around it sets the word apart."""
    cut = word if len(word) <= SHOWN else word[: SHOWN - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in cut)


def _escaped(character: str) -> str:
    """A character that cannot be printed; a byte that was no UTF-8 is that byte again."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        code &= 0xFF
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class HeadwayError(Exception):
    """Something Headway can explain: what is wrong, and the way out."""

    exit_code = 1

    def __init__(self, what: str, fix: str = "") -> None:
        self.what = what
        self.fix = fix
        super().__init__(f"{what} {fix}" if fix else what)


class UnreachableError(HeadwayError):
    """The store's server does not answer just now. What was done stays done, and the same call may work later."""


class UsageError(HeadwayError):
    """The call itself is wrong."""

    exit_code = 2


class InputError(HeadwayError):
    """A file is wrong, at a place: `FILE:LINE: what is wrong. What to do.`"""

    exit_code = 2

    def __init__(self, path: str, line: int, what: str, fix: str = "") -> None:
        super().__init__(what, fix)
        self.path = path
        self.line = max(line, 1)

    def __str__(self) -> str:
        place = "".join(c if c.isprintable() else "?" for c in self.path)
        return f"{place}:{self.line}: {super().__str__()}"


class ModelError(HeadwayError):
    """A workflow that cannot be: a reader who knows the line turns it into an InputError."""

    exit_code = 2


class CycleError(ModelError):
    """Jobs that wait for each other, in order, the first one not repeated."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.line = 0
        some = names if len(names) <= 12 else [*names[:6], f"… {len(names) - 9} more …", *names[-3:]]
        chain = " -> ".join(map(unquoted, [*some, names[0]]))
        what = f"{shown(names[0])} depends on itself." if len(names) == 1 else f"cycle: {chain}."
        super().__init__(what, "Remove one of these dependencies.")


class NotFoundError(HeadwayError):
    """No such job, group or site."""

    exit_code = 4


def not_installed(what: str, *packages: str) -> HeadwayError:
    """What a command needs and this Python does not have; the way out works in a clone and in an installation alike."""
    names = " and ".join(package.partition("[")[0] for package in packages)
    wanted = " ".join(f"'{package}'" if "[" in package else package for package in packages)
    are = "which are" if len(packages) > 1 else "which is"
    return HeadwayError(f"{what} needs {names}, {are} not installed.", f"Run: {sys.executable} -m pip install {wanted}")
