"""The concrete jobs of a submit description: its commands run for one node, one job for each process it queues."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from headway.formats.submit import queue as submitqueue
from headway.formats.submit.commands import unknown
from headway.formats.submit.description import (
    MOST_FILES,
    Assignment,
    Branch,
    Command,
    Description,
    Include,
    Message,
    Queue,
    Value,
    included,
    key_of,
    located,
)
from headway.formats.submit.job import job_of
from headway.formats.submit.macros import BLANK, Expansion
from headway.formats.world import World
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import Job, Pairs
from headway.model.record import field, mutable

VERSION = (25, 0, 0)  # of HTCondor, for `if version >= …`
_VERSION = re.compile(r"version\s*(==|!=|<=|>=|<|>)\s*(\d{1,6}(?:\.\d{1,6}){1,2})", re.IGNORECASE)
_DEFINED = re.compile(r"defined(?:\s+([\w.+]+))?", re.IGNORECASE | re.ASCII)
_TRUTH = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")

# What HTCondor or DAGMan sets when it submits. What is known only then has the value of a first, dry run.
_AUTOMATIC = {
    "cluster": "1",
    "clusterid": "1",
    "dagmanjobid": "1",
    "dag_status": "0",
    "failed_count": "0",
    "retry": "0",
    "process": "0",
    "procid": "0",
    "node": "",
    "item": "",
    "islinux": "true",
    "iswindows": "false",
    "arch": "X86_64",
    "opsys": "LINUX",
}
# Whoever only reads is warned that these are not known yet.
_LATE = {
    "cluster": "Cluster",
    "clusterid": "ClusterId",
    "jobid": "JobId",
    "dagmanjobid": "DAGManJobId",
    "dag_status": "DAG_STATUS",
    "failed_count": "FAILED_COUNT",
    "retry": "RETRY",
}


@mutable
class Setup:
    """What a node brings to its description."""

    node: str
    variables: Pairs = ()
    overrides: Pairs = ()
    directory: str | None = None  # DIR of the node: where it is submitted from
    runs: bool = False  # it is to be run, not only read
    warnings: list[str] = field(default_factory=list)


def processes(
    description: Description,
    node: str,
    variables: Pairs = (),
    overrides: Pairs = (),
    world: World | None = None,
    directory: str | None = None,
    warnings: list[str] | None = None,
    runs: bool = False,
) -> list[Job]:
    """One concrete job for each process that the description queues for a node; one if it has no queue statement."""
    setup = Setup(node, variables, overrides, directory, runs, [] if warnings is None else warnings)
    return list(_Run(description, setup, world).jobs(description))


def has_queue(description: Description) -> bool:
    """Whether there is a queue statement, in it or in what it includes."""
    return any(
        isinstance(command, Queue)
        or (isinstance(command, Include) and (command.description is None or has_queue(command.description)))
        for command in description.commands
    )


def mentions(description: Description, key: str) -> bool:
    """Whether a description may use a macro of this name."""
    return any(
        isinstance(command, Branch | Include)
        or (isinstance(command, Assignment) and key in command.value.text.lower())
        or (isinstance(command, Queue) and key in command.text.lower())
        for command in description.commands
    )


class _Run:
    """The commands of a description, carried out for one node."""

    def __init__(self, description: Description, setup: Setup, world: World | None) -> None:
        self.setup = setup
        self.description = description
        self.world = world
        self.path = description.path
        self.line = 1
        self.files = 0
        self.process = 0
        self.live: dict[str, str] = {}  # the item's variables
        self.automatic = {**_AUTOMATIC, "job": setup.node, "submit_file": description.path}
        self.table: dict[str, Value] = {key_of(name): Value(text, name, self.path, 1) for name, text in setup.variables}
        environment, line = None if world is None else world.environment, (lambda: self.line) if setup.runs else None
        self.expansion = Expansion(self.lookup, self.warn, None, environment, line)
        self.queued = False

    def warn(self, text: str) -> None:
        warning = f"{self.path}:{self.line}: {text}"
        if warning not in self.setup.warnings:
            self.setup.warnings.append(warning)

    def lookup(self, key: str) -> str | None:
        if key in self.live:
            return self.live[key]
        value = self.table.get(key)
        if value is not None:
            return value.text
        found = self.automatic.get(key)
        if key in _LATE and not self.setup.runs:
            self.warn(f"$({_LATE[key]}) is known only when the job is submitted; here it is {found}.")
        return found

    def jobs(self, description: Description) -> Iterator[Job]:
        if description.table is not None:
            self.table.update(description.table)
            if description.queue is not None:
                yield from self.queue(description.queue)
        else:
            yield from self.all(description.path, description.commands, (description.path,))
        if not self.queued:
            yield from self.queue(Queue("", None, 1))

    def all(self, path: str, commands: tuple[Command, ...], chain: tuple[str, ...]) -> Iterator[Job]:
        """The jobs that commands queue, in the branches that are taken."""
        taken: list[bool] = []  # of each open if: whether a branch was taken
        here: list[bool] = []  # of each open if: whether this branch is the one
        for command in commands:
            self.path, self.line = path, command.line
            if isinstance(command, Branch):
                self.branch(command, taken, here)
            elif not all(here):
                continue
            elif isinstance(command, Assignment):
                self.assign(command)
            elif isinstance(command, Queue):
                yield from self.queue(command)
            elif isinstance(command, Include):
                yield from self.include(command, path, chain)
            else:
                self.message(command)

    def guarded(self, text: str) -> str:
        """A text with its macros replaced; errors name the current line."""
        try:
            return self.expansion.of(text)
        except ModelError as error:
            raise InputError(self.path, self.line, error.what, error.fix) from None

    def branch(self, command: Branch, taken: list[bool], here: list[bool]) -> None:
        if command.word == "if":
            holds = all(here) and self.condition(command.condition)
            taken.append(holds or not all(here))
            here.append(holds)
        elif command.word == "endif":
            taken.pop()
            here.pop()
        else:
            here[-1] = not taken[-1] and (command.word == "else" or self.condition(command.condition))
            taken[-1] = taken[-1] or here[-1]

    def condition(self, text: str) -> bool:
        """Whether an if's condition holds."""
        plain = self.guarded(text).strip(BLANK)
        negated = plain.startswith("!")
        plain = plain[1:].strip(BLANK) if negated else plain
        value = self.simple_condition(plain, written=text.strip(BLANK).removeprefix("!").strip(BLANK))
        return value is not negated

    def simple_condition(self, plain: str, written: str) -> bool:
        if not plain and written:
            return False
        if plain.lower() in _TRUTH:
            return _TRUTH[plain.lower()]
        if _NUMBER.fullmatch(plain):
            return bool(plain.strip("+-0."))
        if version := _VERSION.fullmatch(plain):
            return _compared(version[1], tuple(map(int, version[2].split("."))))
        if defined := _DEFINED.fullmatch(plain):
            name = defined[1] or ""
            return name.lower() in _TRUTH or bool(_NUMBER.fullmatch(name)) or bool(self.lookup(key_of(name)))
        raise InputError(
            self.path,
            self.line,
            f"{shown(plain)} is no condition.",
            'Expected "true", "false", a number, "defined NAME" or "version >= X.Y", perhaps after "!".',
        )

    def assign(self, command: Assignment) -> None:
        value = command.value
        if command.own:
            try:
                value = value._replace(text=Expansion(self.lookup, self.warn, command.key).of(value.text).strip(BLANK))
            except ModelError as error:
                raise InputError(self.path, self.line, error.what, error.fix) from None
        self.table[command.key] = value

    def include(self, command: Include, path: str, chain: tuple[str, ...]) -> Iterator[Job]:
        if command.runs:
            raise InputError(
                path, command.line, "an include that runs a program is not supported.", "Include a file instead."
            )
        description = command.description
        if description is None:
            target = self.guarded(command.target).strip(BLANK)
            if self.world is None or not self.world.exists(located(target, path, self.world)):
                if command.optional:
                    return
                raise InputError(path, command.line, f"{shown(target)}, included here, is missing.", "Check the path.")
            description = included(target, path, self.world, chain, command.line)
        self.files += 1
        if self.files > MOST_FILES:
            raise InputError(path, command.line, f"over {MOST_FILES} files are included.", "Include fewer.")
        yield from self.all(description.path, description.commands, (*chain, description.path))
        self.path = path

    def message(self, command: Message) -> None:
        if command.kind == "warning":
            self.warn(shown(command.text))
        elif command.kind == "use":
            self.warn(f"use {shown(command.text)} is not known here and left out.")
        elif command.kind == "error":
            raise InputError(self.path, self.line, shown(command.text), "The file itself says so.")
        else:
            raise InputError(
                self.path, self.line, f"{shown(command.text)} is no command.", 'Expected "name = value" or "queue".'
            )

    # --- queue -------------------------------------------------------------------------------------------------

    def queue(self, command: Queue) -> Iterator[Job]:
        self.queued = True
        if self.setup.runs:
            self.warn_of_slips()
        kept = self.table
        if self.setup.overrides:
            later = {key_of(name): Value(text, name, self.path, 1) for name, text in self.setup.overrides}
            self.table = {**kept, **later}
        self.line = command.line
        place = self.path, command.line
        known = self.table.get("cluster")
        cluster = self.automatic["cluster"] if known is None else known.text
        try:
            statement = submitqueue.statement(self.guarded(command.text), command.items is not None)
            for index, step, variables in submitqueue.rows(statement, command.items, self.item_lines, self.matches):
                self.live = variables
                self.automatic.update(
                    process=str(self.process),
                    procid=str(self.process),
                    jobid=f"{cluster}.{self.process}",
                    step=str(step),
                    row=str(index),
                    itemindex=str(index),
                )
                yield job_of(self.table, self.value, self.setup.directory, self.warn_at, place, self.setup.runs)
                self.process += 1
        except ModelError as error:
            raise InputError(*place, error.what, error.fix) from None
        self.live, self.table = {}, kept

    def warn_of_slips(self) -> None:
        """Warns of names that are nearly a command; a node's own variables are not the file's."""
        own = {key_of(name) for name, _ in self.setup.variables}
        if names := [value for value in unknown(self.table) if key_of(value.name) not in own]:
            from headway.formats.submit.misspelt import misspelt

            for value, what in misspelt(self.description, names):
                self.warn_at(value, what)

    def matches(self, pattern: str, kind: str) -> list[str]:
        if self.world is None:
            raise ModelError(f"what matches {shown(pattern)} cannot be looked up.", "List the items instead.")
        return self.world.matches(posixpath.dirname(self.path), pattern, kind)

    def item_lines(self, target: str) -> Iterator[str]:
        if self.world is None:
            raise ModelError(f"the items in {shown(target)} cannot be read.", "Write them into the description.")
        return self.world.lines(located(target, self.path, self.world))

    def value(self, value: Value) -> str:
        self.path, self.line = value.path, value.line
        return self.guarded(value.text).strip(BLANK)

    def warn_at(self, value: Value, text: str) -> None:
        self.path, self.line = value.path, value.line
        self.warn(text)


def _compared(sign: str, wanted: tuple[int, ...]) -> bool:
    """Whether our version compares so with another, of which perhaps only the first numbers are given."""
    ours = VERSION[: len(wanted)]
    order = (ours > wanted) - (ours < wanted)
    return {"==": order == 0, "!=": order != 0, "<=": order <= 0, ">=": order >= 0, "<": order < 0, ">": order > 0}[
        sign
    ]
