"""A recipe's lines as make would start a shell for each: where one ends, and which may fail.

make prints a recipe without its prefixes (@ - +), and what a line with + or $(MAKE) writes comes in between, since make
runs such lines even with -n. So the printed lines are held against the recipe as it was written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from headway.formats.shellwords import NotPlainError, UnclosedQuoteError, plain_commands
from headway.model.record import record

_REFERENCE = re.compile(r"\$[({](?:call )?\s*([^$(){}\s:,]+)\s*(?:,[^()]*)?[)}]")
_SPECIAL = frozenset(  # builtins that can end the shell they fail in
    (".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "trap")
)


@record
class Written:
    """A recipe line as written: the literal texts between its variables, and what its prefixes say."""

    literals: tuple[str, ...]
    ignored: bool
    runs: bool

    @property
    def open(self) -> bool:
        """Whether it may stand for several lines."""
        return len(self.literals) > 1 and not self.literals[0]

    def fits(self, line: str) -> bool:
        first, *middle = self.literals
        if not middle:
            return line == first
        last = middle.pop()
        if not line.startswith(first) or not line.endswith(last) or len(line) < len(first) + len(last):
            return False
        at, end = len(first), len(line) - len(last)
        for literal in middle:
            at = line.find(literal, at, end)
            if at < 0:
                return False
            at += len(literal)
        return True


def joined(lines: Sequence[str]) -> list[str]:
    """Lines with those that a backslash continues in one."""
    found: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on:
            found[-1] += "\n" + line
        else:
            found.append(line)
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
    return found


def written(recipe: Sequence[str], variables: Mapping[str, str], depth: int = 0) -> list[Written]:
    """The lines of a recipe as written, canned ones put in their place."""
    found: list[Written] = []
    for line in joined(recipe):
        text, prefixes = line, ""
        for _ in range(10):
            body = text.lstrip(" \t@+-")
            prefixes += text[: len(text) - len(body)]
            reference = _REFERENCE.match(body)
            if reference is None or reference[1] not in variables:
                text = body
                break
            text = variables[reference[1]] + body[reference.end() :]
            if "\n" in variables[reference[1]]:
                break
        if "\n" in text and "\n" not in line and depth < 5:
            marks = "".join(mark for mark in "-+" if mark in prefixes)
            found += written([marks + inner for inner in text.split("\n")], variables, depth + 1)
            continue
        runs = "+" in prefixes or "$(MAKE)" in line or "${MAKE}" in line
        found.append(Written(_literals(text), "-" in prefixes, runs))
    return found


def _literals(text: str) -> tuple[str, ...]:
    """The texts between references to variables and functions."""
    found, piece, at = [], "", 0
    while at < len(text):
        if text[at] != "$" or at + 1 == len(text):
            piece += text[at]
            at += 1
        elif text[at + 1] == "$":
            piece += "$"
            at += 2
        else:
            found.append(piece)
            piece = ""
            at = _reference_end(text, at + 1)
    return (*found, piece)


def _reference_end(text: str, at: int) -> int:
    """Where the reference whose name begins at `at` is over."""
    close = {"(": ")", "{": "}"}.get(text[at])
    if close is None:
        return at + 1
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == text[at]) - (text[end] == close)
        if not depth:
            return end + 1
    return len(text)


def commands(printed: Sequence[str], lines: Sequence[Written], doubtful: bool = False) -> list[tuple[str, bool]]:
    """The command lines among those printed, and whether each may fail; the last may be none if in doubt."""
    told = [line for line in joined(printed) if line]
    while doubtful and told and not any(line.fits(told[-1]) for line in lines):
        told.pop()
    if not any(line.ignored or line.runs for line in lines):
        return [(command, False) for command in told]
    found: list[tuple[str, bool]] = []
    at, last = 0, None
    for command in told:
        fitting = [place for place in range(at, len(lines)) if lines[place].fits(command)]
        if fitting:
            best = max(fitting, key=lambda place: (sum(map(len, lines[place].literals)), -place))
            last = lines[best]
            at = best if last.open else best + 1
            found.append((command, last.ignored))
        elif last is None or not last.runs:
            found.append((command, False))
    return found


def unbroken(command: str) -> str:
    """A command without the line breaks that sh would remove as well; with them where that needs a closer look."""
    if "\n" not in command:
        return command
    pieces, quote, at = [], "", 0
    while at < len(command):
        character = command[at]
        if character == "\\" and quote != "'":
            pair = command[at : at + 2]
            pieces.append("" if pair == "\\\n" else pair)
            at += 2
            continue
        if character == "#" and not quote:
            return command
        if character in "'\"" and quote in ("", character):
            quote = "" if quote else character
        pieces.append(character)
        at += 1
    return "".join(pieces)


def tolerant(command: str) -> str:
    """A command whose failure does not count."""
    try:
        simple = [words for _, words in plain_commands(command)]
    except (NotPlainError, UnclosedQuoteError):
        simple = []
    odd = "#" in command or "\n" in command or command.endswith("\\")
    if len(simple) == 1 and not odd and simple[0][0] not in _SPECIAL:
        return f"{command} || true"
    return f"sh -c {shlex.quote(command)} || true"  # in a shell of its own: it may exit, or end in a comment


def under(command: str, shell: str, flags: str) -> str:
    """A command as make starts it with this SHELL and .SHELLFLAGS."""
    if (shell or "/bin/sh") in ("/bin/sh", "sh") and flags in ("", "-c"):
        return command
    return f"{shell or '/bin/sh'} {flags or '-c'} {shlex.quote(command)}"
