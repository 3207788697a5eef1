"""A submit description file as its commands, in order, each with its line; nothing is expanded yet.

Any number of nodes may share one: what depends on a node's variables is done in `submitprocess`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from headway.formats.submit.macros import BLANK
from headway.formats.world import World
from headway.model.errors import InputError, shown
from headway.model.record import record

MOST_FILES = 1000  # that one description may include, all told
_DEEPEST = 20  # files that include files
_ASSIGNMENT = re.compile(r"(\+?[A-Za-z0-9_.]+)[ \t]*=(.*)", re.DOTALL)
_MANY_LINES = re.compile(r"(\+?[A-Za-z0-9_.]+)[ \t]+@=[ \t]*(\S+)")
_QUEUE = re.compile(r"queue(?:[ \t(](.*))?", re.IGNORECASE | re.DOTALL)
_BRANCH = re.compile(r"(if|elif|else|endif)(?:[ \t!$(](.*))?", re.IGNORECASE | re.DOTALL)
_INCLUDE = re.compile(r"@?include([^:]*):(.*)", re.IGNORECASE | re.DOTALL)
_MESSAGE = re.compile(r"@?(warning|error|use)[ \t]*:?(.*)", re.IGNORECASE | re.DOTALL)
_KEYWORD = re.compile(r"(?:^|[ \t,])(?:in|from|matching)(?=[ \t([])", re.IGNORECASE)
_MOST_IFS = 100  # in each other


class Value(NamedTuple):
    """What is assigned to a name, as written, and where."""

    text: str
    name: str
    path: str
    line: int


@record
class Assignment:
    key: str  # the name as macros find it
    value: Value
    own: bool  # the value mentions the name itself
    line: int


@record
class Branch:
    word: str  # if, elif, else, endif
    condition: str
    line: int


@record
class Include:
    target: str
    optional: bool
    runs: bool  # a program whose output is meant
    description: Description | None  # read already
    line: int


@record
class Queue:
    text: str
    items: tuple[str, ...] | None  # of a list over several lines
    line: int


@record
class Message:
    kind: str  # warning, error, use; "" for a line that is no command
    text: str
    line: int


Command = Assignment | Branch | Include | Queue | Message


@record
class Description:
    """A submit description file, read and not expanded."""

    path: str
    commands: tuple[Command, ...]
    table: Mapping[str, Value] | None  # all values, where they are the same whatever a node's variables are
    queue: Queue | None  # the one queue statement of such a file
    size: int = 1  # files read for it


def key_of(name: str) -> str:
    """A command's name as macros find it: without case, `+Attr` being `MY.Attr`."""
    return f"my.{name[1:]}".lower() if name.startswith("+") else name.lower()


def parse_description(path: str, text: str, world: World | None) -> Description:
    """The commands of a submit description; `world` reads what it includes."""
    return _Reader(path, world, ()).description(text)


def located(target: str, path: str, world: World) -> str:
    """A file that a description names: as it is, else beside the description."""
    beside = posixpath.join(posixpath.dirname(path), target)
    return beside if not world.exists(target) and world.exists(beside) else target


def included(target: str, path: str, world: World, chain: tuple[str, ...], line: int) -> Description:
    """The description of an included file; `chain` are the files that led to it."""
    found = located(target, path, world)
    if found in chain or len(chain) >= _DEEPEST:
        raise InputError(path, line, f"{shown(found)} includes itself, or too many levels.", "Break the circle.")
    return _Reader(found, world, chain).description(world.text(found))


class _Reader:
    """Reads one file."""

    def __init__(self, path: str, world: World | None, chain: tuple[str, ...]) -> None:
        self.path = path
        self.world = world
        self.chain = (*chain, path)
        self.size = 1

    def description(self, text: str) -> Description:
        lines = _Lines(text)
        commands = tuple(self.command(line, words, lines) for line, words in lines.logical())
        self._check_balance(commands)
        table, queue = _fixed(commands)
        return Description(self.path, commands, table, queue, self.size)

    def command(self, line: int, text: str, lines: _Lines) -> Command:
        if queue := _QUEUE.fullmatch(text):
            return self._queue(line, text[5:].strip(BLANK) if queue[1] is not None else "", lines)
        if many := _MANY_LINES.fullmatch(text):
            return self._assignment(many[1], self._until(line, many[2], lines), line)
        if assignment := _ASSIGNMENT.fullmatch(text):
            return self._assignment(assignment[1], assignment[2].strip(BLANK), line)
        if branch := _BRANCH.fullmatch(text):
            return Branch(branch[1].lower(), text[len(branch[1]) :].strip(BLANK), line)
        if include := _INCLUDE.fullmatch(text):
            return self._include(line, include[1].lower().split(), include[2].strip(BLANK))
        if message := _MESSAGE.fullmatch(text):
            return Message(message[1].lower(), message[2].strip(BLANK), line)
        return Message("", text, line)

    def _assignment(self, name: str, text: str, line: int) -> Assignment:
        key = key_of(name)
        own = "$" in text and re.search(rf"\([ \t]*{re.escape(key)}[ \t]*[:,)]", text, re.IGNORECASE) is not None
        return Assignment(key, Value(text, name, self.path, line), own, line)

    def _until(self, line: int, tag: str, lines: _Lines) -> str:
        """The lines of a value up to the one that closes it."""
        kept: list[str] = []
        for physical in lines.physical():
            if physical.strip(BLANK) == f"@{tag}":
                return "\n".join(kept).strip(BLANK)
            kept.append(physical)
        raise InputError(self.path, line, "a value of several lines is not closed.", f"Close it with @{tag}.")

    def _queue(self, line: int, text: str, lines: _Lines) -> Queue:
        head, paren, first = text.rpartition("(")
        if not paren or ")" in first or not _KEYWORD.search(f"{head}("):
            return Queue(text, None, line)
        items = [first.strip(BLANK)] if first.strip(BLANK) else []
        for _, item in lines.logical():
            if item.startswith(")"):
                return Queue(head, tuple(items), line)
            items.append(item)
        raise InputError(self.path, line, "the list of items is not closed.", 'Close it with a line ")".')

    def _include(self, line: int, options: list[str], target: str) -> Include:
        runs = "command" in options or target.endswith("|")
        description = None
        if self.world is not None and not runs and "$" not in target and target:
            found = located(target, self.path, self.world)
            if self.world.exists(found) and found not in self.chain and len(self.chain) < _DEEPEST:
                description = included(target, self.path, self.world, self.chain, line)
                self.size += description.size
                if self.size > MOST_FILES:
                    raise InputError(self.path, line, f"over {MOST_FILES} files are included.", "Include fewer.")
        return Include(target, "ifexist" in options, runs, description, line)

    def _check_balance(self, commands: tuple[Command, ...]) -> None:
        open_ifs: list[Branch] = []
        for command in commands:
            if not isinstance(command, Branch):
                continue
            if command.word == "if":
                open_ifs.append(command)
                if len(open_ifs) > _MOST_IFS:
                    raise InputError(self.path, command.line, f'over {_MOST_IFS} "if" in each other.', "Use fewer.")
                continue
            if not open_ifs:
                raise InputError(self.path, command.line, f'"{command.word}" without "if".', "Remove it.")
            if command.word == "endif":
                open_ifs.pop()
            elif open_ifs[-1].word == "else":
                raise InputError(self.path, command.line, f'"{command.word}" after "else".', "Put it before.")
            else:
                open_ifs[-1] = command
        if open_ifs:
            raise InputError(self.path, open_ifs[-1].line, '"if" without "endif".', "Close it with endif.")


def _fixed(commands: tuple[Command, ...]) -> tuple[dict[str, Value] | None, Queue | None]:
    """All values, and the queue statement, of a description that is only assignments and perhaps a queue."""
    table: dict[str, Value] = {}
    for at, command in enumerate(commands):
        if isinstance(command, Queue) and at == len(commands) - 1:
            return table, command
        if not isinstance(command, Assignment) or command.own:
            return None, None
        table[command.key] = command.value
    return table, None


class _Lines:
    """The lines of a text, one after the other: as they are, or continued ones joined and comments left out."""

    def __init__(self, text: str) -> None:
        self.lines = text.removeprefix("\ufeff").split("\n")
        self.at = 0

    def physical(self) -> Iterator[str]:
        while self.at < len(self.lines):
            self.at += 1
            yield self.lines[self.at - 1].rstrip("\r")

    def logical(self) -> Iterator[tuple[int, str]]:
        while self.at < len(self.lines):
            line = self.at + 1
            text = "".join(self._continued())
            if text and not text.startswith("#"):
                yield line, text.rstrip(BLANK)

    def _continued(self) -> Iterator[str]:
        first = True
        for physical in self.physical():
            text = physical.strip(BLANK)
            if text.startswith("#"):
                if first:
                    return
                continue  # a comment among continued lines
            first = False
            if not text.endswith("\\"):
                yield text
                return
            yield text[:-1]
