"""A job array: one command with places for a line, and a job for each line of a list.

`{}` stands for the line, `{1}`, `{2}`, … for its columns, `{#}` for its number, `{.}` for the line without its ending,
`{/}` for what follows its last slash, `{/.}` for both. As in GNU parallel; without any, the line comes last.
"""

from __future__ import annotations

import hashlib
import posixpath
import shlex
from collections.abc import Callable, Iterable, Mapping

from headway.model.errors import ModelError, shown
from headway.model.record import record
from headway.model.shell_reader import PLACE
from headway.model.template import from_line, from_words

_LONGEST = 80  # characters of a name


@record
class Line:
    """A line of a list, and its number in it, counted from 1."""

    text: str
    number: int

    def part(self, which: str) -> str:
        """What a place in a command stands for."""
        if which.isdigit():
            columns = self.text.split("\t") if "\t" in self.text else self.text.split()
            if not 0 < int(which[:9]) <= len(columns):
                raise ModelError(
                    f"line {self.number} has no column {shown(which)}: {shown(self.text)}.",
                    "Columns are counted from 1; tabs part them, or blanks where there is no tab.",
                )
            return columns[int(which) - 1]
        if which == "#":
            return str(self.number)
        text = posixpath.basename(self.text.rstrip("/")) if which.startswith("/") else self.text
        return posixpath.splitext(text)[0] if which.endswith(".") else text


def lines_of(texts: Iterable[str]) -> list[Line]:
    """Lines with something in them; the number of each is its place in the list."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ModelError("the lines of a job array are no list of lines.", 'Give it an open file: open("list.txt")')
    found = []
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise ModelError(f"line {number} of a job array is of type {type(text).__name__}.", "Expected text.")
        if text := text.rstrip("\r\n"):
            found.append(Line(text, number))
    return found


def names_of(lines: Iterable[Line]) -> list[str]:
    """A name for the job of each line: the line, so that it stays the same when others are added or removed."""
    names: dict[str, None] = {}
    for line in lines:
        name = line.text
        if len(name) > _LONGEST:
            digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
            name = f"{name[: _LONGEST - 9]} {digest}"
        again, plain = 1, name
        while name in names:
            again += 1
            name = f"{plain} ({again})"
        names[name] = None
    return list(names)


def filled_word(word: str, line: Line) -> str:
    """A word with the line in its places, as it is."""
    return PLACE.sub(lambda place: line.part(place[1]), word)


def command_of(command: str | Iterable[object]) -> Callable[[Line], str]:
    """What to run for a line: a line for sh, or a program and its arguments, with the line in its places."""
    template = from_line(command) if isinstance(command, str) else from_words([str(word) for word in command])
    return lambda line: template(line.part)


def filled_option(key: str, value: object, line: Line) -> object:
    """An option of a job with the line in its places: files, folders, and what else is text."""
    several = key in ("inputs", "outputs")
    if isinstance(value, str):
        return [filled_word(word, line) for word in _words(value)] if several else filled_word(value, line)
    if isinstance(value, Mapping):
        return {name: filled_option("", inner, line) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled_option("", inner, line) for inner in value]
    return value


def filled_pair(key: str, value: str, line: Line) -> str:
    """The same for an attribute that is text."""
    if key in ("inputs", "outputs"):
        return shlex.join([filled_word(word, line) for word in _words(value)])
    return filled_word(value, line)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return [text]  # what is wrong with it is told where it is read
