"""The words of a DAGMan line: keywords, tokens with quotes, numbers as C++ reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headway.model.errors import shown

NODES = ("JOB", "FINAL", "PROVISIONER", "SERVICE", "SUBDAG")
# Read first, wherever they stand, so that every other command may come before the node it names.
FIRST = frozenset((*NODES, "SPLICE", "SUBMIT_DESCRIPTION", "REJECT", "DOT", "NODE_STATUS_FILE", "JOBSTATE_LOG"))
KEYWORDS = FIRST | {
    "ABORT_DAG_ON",
    "CATEGORY",
    "CONFIG",
    "CONNECT",
    "DONE",
    "ENV",
    "INCLUDE",
    "MAXJOBS",
    "PARENT",
    "PIN_IN",
    "PIN_OUT",
    "PRE_SKIP",
    "PRIORITY",
    "RETRY",
    "SAVE_POINT_FILE",
    "SCRIPT",
    "SET_JOB_ATTR",
    "TOLERANCE",
    "VARS",
    "WEAK",
}
RESERVED = frozenset(("PARENT", "CHILD", "ALL_NODES"))


class WordError(Exception):
    """What is wrong with a line; who knows the file and the number turns it into an InputError."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


def canonical(word: str) -> str:
    """Command words are the same in any case, and with - or _."""
    return word.upper().replace("-", "_")


_BLANKS = re.compile(r"[ \t\r\n]+")


def split(line: str) -> list[str]:
    """The tokens of a line without quotes. Only blanks, tabs and line ends separate them, no other white space."""
    if line.isascii():
        return line.split()
    return [word for word in _BLANKS.split(line) if word]


def tokens(line: str) -> list[str]:
    """The tokens of a line; quotes stay part of them, and what is inside does not separate."""
    if '"' not in line and "'" not in line:
        return split(line)
    found: list[str] = []
    at, size = 0, len(line)
    while at < size:
        if line[at] in " \t\r\n":
            at += 1
            continue
        start = at
        while at < size and line[at] not in " \t\r\n":
            at = quoted_end(line, at) if line[at] in "\"'" else at + 1
        found.append(line[start:at])
    return found


def quoted_end(line: str, at: int) -> int:
    """Where the quoted run that begins here ends; a backslash inside keeps the next character."""
    quote, size = line[at], len(line)
    at += 1
    while at < size:
        if line[at] == "\\":
            at += 2
        elif line[at] == quote:
            return at + 1
        else:
            at += 1
    raise WordError("a quote is opened and not closed on this line.", f"Close it with {quote}.")


_ESCAPE = re.compile(r"\\([\\\"'])")


def unquoted(token: str) -> str:
    """A token without its quotes, as file names and variables are taken."""
    if '"' not in token and "'" not in token:
        return token
    pieces: list[str] = []
    at, size = 0, len(token)
    while at < size:
        if token[at] in "\"'":
            end = quoted_end(token, at)
            pieces.append(_ESCAPE.sub(r"\1", token[at + 1 : end - 1]))
            at = end
        else:
            pieces.append(token[at])
            at += 1
    return "".join(pieces)


_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")


def integer(token: str, what: str, least: int = -(2**31), most: int = 2**31 - 1) -> int:
    """A number as DAGMan reads it: a sign, digits, and whatever follows them ignored."""
    match = _INTEGER.match(token)
    value = int(match[0]) if match else 0
    if match is None or not least <= value <= most:
        limits = "" if least == -(2**31) else f" from {least} on" if most == 2**31 - 1 else f" from {least} to {most}"
        raise WordError(f"{what} is {shown(token)}.", f"Expected a whole number{limits}.")
    return value


def pairs(text: str) -> list[tuple[str, str]]:
    """`k=v k2="v 2"` of a VARS line."""
    found: list[tuple[str, str]] = []
    text = text.rstrip()
    at, size = 0, len(text)
    while True:
        while at < size and text[at] in " \t\r\n":
            at += 1
        if at == size:
            return found
        start = at
        while at < size and text[at] not in " \t\r\n=\"'":
            at += 1
        key = text[start:at]
        while at < size and text[at] in " \t\r\n":
            at += 1
        if at == size or text[at] != "=":
            raise WordError(f"{shown(text[start:at])} has no value.", 'Expected key="value".')
        at += 1
        while at < size and text[at] in " \t\r\n":
            at += 1
        start = at
        while at < size and text[at] not in " \t\r\n":
            at = quoted_end(text, at) if text[at] in "\"'" else at + 1
        if start == at:
            raise WordError(f"{shown(key)} has no value.", 'Expected key="value".')
        found.append((_key(key), unquoted(text[start:at])))


def _key(key: str) -> str:
    if not key or key == "+":
        raise WordError("a variable has no name.", 'Expected key="value".')
    if key.lower().startswith("queue"):
        raise WordError(f"a variable may not begin with queue: {shown(key)}.", "Rename it.")
    return f"My.{key[1:]}" if key[0] == "+" else key


class Lines:
    """A file's lines, read once: commands one by one, and the raw block that a command may open."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = enumerate(lines, 1)
        self.number = 0  # of the last line read: DAGMan names a command by its last one
        self.blank = True  # nothing but empty lines so far
        self.broken_off = False  # the file ended in a continued line, which DAGMan drops without a word

    def commands(self) -> Iterator[tuple[int, list[str], str]]:
        """Each command's first line number, its words (split where blanks are, quoted or not), and its text.

        Continued lines are joined, comments and empty lines left out.
        """
        first = 0
        held: list[str] = []
        for number, line in self._lines:
            words = split(line) if not line.isascii() else line.split()
            if not words:
                continue
            self.blank = False
            if words[0][0] == "#" or words[0].startswith("//"):
                continue
            if words[-1][-1] == "\\":
                first = first or number
                held.append(line.strip()[:-1])
                continue
            self.number = number
            if first:
                text = " ".join([*held, line.strip()])
                yield first, split(text), text
                first, held = 0, []
            else:
                yield number, words, line
        self.broken_off = bool(first)

    def block(self, opening: str) -> tuple[str, str]:
        """The lines up to the one that closes `{` or `@=TAG`, trimmed, and what stands behind the closing word."""
        closing = "}" if opening[0] == "{" else f"@{opening[2:]}"
        if closing == "@":
            raise WordError("the description has no closing word.", "Expected @=WORD, and @WORD where it ends.")
        kept: list[str] = []
        start = self.number
        for number, line in self._lines:
            text = line.strip()
            if text == closing or text.startswith(closing + " "):
                self.number = number
                return "\n".join(kept), text[len(closing) :].strip()
            if text and not text.startswith(("#", "//")):
                kept.append(text)
        self.number = start
        raise WordError(
            f"the description opened here is not closed by {closing[:40]}.", "Close it on a line of its own."
        )
