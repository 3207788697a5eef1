"""GNU Makefiles. make itself is the parser: what it would run for the goals, and its database, are the workflow.

A target with a recipe is a group, each line of the recipe a job. Recipes that call mqsub, as in the paper's Fig. 13,
submit a workflow: then that one is meant.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from headway.formats.flat import beside, name_of
from headway.formats.makefile.database import Database, Entry, Trace, database
from headway.formats.makefile.recipe import Written, commands, tolerant, unbroken, under, written
from headway.formats.makefile.writer import (
    ATTRIBUTES,
    COMMAND,
    MARK,
    NAME,
    WORD,
    decoded,
)
from headway.formats.mqsub import Reading, add_call, parse_call
from headway.formats.shellwords import NotPlainError, UnclosedQuoteError, plain_commands
from headway.formats.world import World
from headway.model import attributes
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import HERE, Job, Setting
from headway.model.workflow import Group, Workflow

_EVAL = re.compile(rf'(?:cd .* && )?eval "\$({COMMAND}\d+)"')  # where it runs is among its attributes, too
_WORD = re.compile(rf'"\$({WORD}\d+_\d+)"')


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow that make would run for the goals; for its default goal, without any."""
    reading = _Reading(path, database(world.make(path, arguments)), beside(path, world))
    goals = [word for word in arguments if "=" not in word] or reading.default_goals()
    if reading.submits():
        return reading.submitted()
    return reading.workflow(goals)


class _Reading:
    """One Makefile being read."""

    def __init__(self, path: str, known: Database, read: Reading) -> None:
        self.path = path
        self.read = read
        self.known = known
        self.entries = known.entries
        self.ours = MARK in known.variables
        self.one_shell = ".ONESHELL" in self.entries and self.entries[".ONESHELL"].target
        self._written: dict[tuple[str, ...], list[Written]] = {}
        self.told = [(trace, self.lines(trace)) for trace in known.traces]
        self.recipes: dict[str, list[tuple[str, bool]]] = {}
        for trace, lines in self.told:
            if lines:
                self.recipes.setdefault(trace.name, []).extend(lines)
        self.setting = Setting(environment=known.exported) if known.exported else HERE
        self.leader = {also: name for name in self.recipes for also in self.entries[name].also}
        self.leader |= {name: name for name in self.recipes}

    def default_goals(self) -> list[str]:
        name = self.known.value(".DEFAULT_GOAL")
        if name in self.entries:
            return [name]
        waited = {before for entry in self.entries.values() for before in entry.prerequisites}
        return [name for name in self.recipes if name not in waited]

    # --- recipes that call mqsub

    def submits(self) -> bool:
        """Whether every recipe line is a call of mqsub."""
        calls = [_is_call(command) for _, lines in self.told for command, _ in lines]
        return bool(calls) and all(calls)

    def submitted(self) -> Workflow:
        """What the calls submit, in the order in which make would make them."""
        workflow = Workflow(name_of(self.path))
        for trace, lines in self.told:
            for command, _ in lines:
                self.submit(workflow, command, trace)
        if not len(workflow.groups):
            raise InputError(self.path, 1, "no recipe submits anything.", 'Expected: mqsub -deps "" -l A -c ./a.sh')
        return workflow

    def submit(self, workflow: Workflow, command: str, trace: Trace) -> None:
        try:
            for words in _calls(command, self.entries[trace.name].variables):
                add_call(workflow, parse_call(words[1:]), self.line(trace), self.read)
        except ModelError as error:
            raise self.error(trace, error.what, error.fix) from None
        except NotPlainError:
            what = f"the shell would change {shown(command)} before mqsub sees it."
            raise self.error(trace, what, "Put its words in single quotes.") from None
        except UnclosedQuoteError:
            raise self.error(trace, f"a quote is not closed in {shown(command)}.", "Close it.") from None

    def line(self, trace: Trace) -> int:
        return trace.line if trace.file == posixpath.basename(self.path) else 0

    def error(self, trace: Trace, what: str, fix: str) -> InputError:
        place = posixpath.join(posixpath.dirname(self.path), trace.file) if trace.file else self.path
        return InputError(place, trace.line, what, fix)

    def lines(self, trace: Trace) -> list[tuple[str, bool]]:
        """A recipe's command lines, and whether each may fail."""
        recipe = tuple(self.entries[trace.name].recipe)
        if recipe not in self._written:
            self._written[recipe] = written(recipe, self.known.variables)
        lines = self._written[recipe]
        if self.one_shell:
            script = "\n".join(trace.lines).strip("\n")
            return [(script, bool(lines) and lines[0].ignored)] if script else []
        return commands(trace.lines, lines, trace.doubtful)

    # --- recipes that are jobs

    def workflow(self, goals: Sequence[str]) -> Workflow:
        workflow = Workflow(name_of(self.path))
        names = self.names(goals)
        if not names:
            raise InputError(self.path, 1, "no target of this Makefile has anything to run.", "Name another target.")
        called = self.called(names)
        for name in names:
            try:
                workflow.groups.add(self.group(name, called[name]))
            except ModelError as error:
                raise InputError(self.path, self.entries[name].line, error.what, error.fix) from None
        self.add_arcs(workflow, names)
        if any(_is_call(command) for _, lines in self.told for command, _ in lines):
            workflow.warnings.append("some recipe lines call mqsub and others do not: all are taken as jobs.")
        if self.known.own_exports:
            exports = ", ".join(self.known.own_exports)
            workflow.warnings.append(f"exported for single targets, which is not read: {exports}.")
        return workflow

    def names(self, goals: Sequence[str]) -> list[str]:
        """The targets that are groups: as they were written if Headway did that, else each after what it waits for."""
        order = self.reached(goals)
        kept: dict[str, None] = {}
        waited = {self.leader.get(before, before) for name in order for before in self.waits_for(name)}
        for name in order:
            barrier = self.ours or any(before in kept for before in self.waits_for(name))
            if name in self.recipes or (self.entries[name].target and barrier and name in waited):
                kept[name] = None
        if not self.ours:
            return list(kept)
        place = {name: at for at, name in enumerate(self.entries[".PHONY"].prerequisites)}
        return sorted(kept, key=lambda name: place.get(name, len(place)))

    def reached(self, goals: Sequence[str]) -> list[str]:
        """What the goals need, and they themselves, each after what it waits for."""
        order: list[str] = []
        seen: set[str] = set()
        for goal in goals:
            start = self.leader.get(goal, goal)
            stack = [(start, iter(self.waits_for(start)))] if start not in seen else []
            seen.add(start)
            while stack:
                name, rest = stack[-1]
                before = next(rest, None)
                if before is None:
                    order.append(name)
                    stack.pop()
                elif before not in seen:
                    seen.add(before)
                    stack.append((before, iter(self.waits_for(before))))
        return [name for name in order if name in self.entries]

    def waits_for(self, name: str) -> Iterator[str]:
        """What a target waits for; of targets made together, the one whose recipe make ran speaks for all."""
        entry = self.entries.get(name)
        found: dict[str, None] = {}
        for also in (name, *(entry.also if entry is not None and name in self.recipes else ())):
            if also in self.entries:
                found |= dict.fromkeys(self.leader.get(before, before) for before in self.entries[also].prerequisites)
        found.pop(name, None)
        return iter(found)

    def called(self, names: Sequence[str]) -> dict[str, str]:
        """The groups' own names, kept where make cannot say them."""
        variables = {name: self.entries[name].variables for name in names}
        return {name: decoded(variables[name][NAME]) if NAME in variables[name] else name for name in names}

    def group(self, name: str, called: str) -> Group:
        entry = self.entries[name]
        group = Group(called)
        for number, (command, ignored) in enumerate(self.recipes.get(name, ()), 1):
            group.jobs.append(self.job(entry, command, ignored, number))
        if group.jobs:
            files = [before for before in entry.prerequisites if self.is_file(before)]
            first, last = group.jobs[0], group.jobs[-1]
            first.inputs += tuple(file for file in dict.fromkeys(files) if file not in first.inputs)
            made = [also for also in (name, *entry.also) if also in self.entries and not self.entries[also].phony]
            last.outputs += tuple(file for file in dict.fromkeys(made) if file not in last.outputs)
            if entry.precious and made:
                last.attributes = {**last.attributes, "precious": "yes"}
        return group

    def is_file(self, name: str) -> bool:
        """Whether a prerequisite is there and nothing makes it."""
        entry = self.entries.get(name)
        if entry is None:
            return True
        return name not in self.leader and not entry.phony and (entry.exists or not entry.target)

    def job(self, entry: Entry, command: str, ignored: bool, number: int) -> Job:
        kept = _EVAL.fullmatch(command)
        if kept and kept[1] in entry.variables:
            text = decoded(entry.variables[kept[1]])
        else:
            text = command if self.one_shell else unbroken(command)
            text = under(text, self.known.value("SHELL", entry), self.known.value(".SHELLFLAGS", entry))
            text = tolerant(text) if ignored or self.forgives(entry) else text
        job = Job(text, setting=self.setting)
        for key, value in _pairs(entry.variables, number):
            attributes.apply(job, key, value)
        return job

    def forgives(self, entry: Entry) -> bool:
        """Whether .IGNORE names a target, or names none and so means all."""
        ignore = self.entries.get(".IGNORE")
        return ignore is not None and ignore.target and (not ignore.prerequisites or entry.name in ignore.prerequisites)

    def add_arcs(self, workflow: Workflow, names: Sequence[str]) -> None:
        place = {name: at for at, name in enumerate(names)}
        for name, at in place.items():
            entry = self.entries[name]
            line = entry.line if entry.file == posixpath.basename(self.path) else 0
            for before in self.waits_for(name):
                if before in place:
                    workflow.groups.arc(place[before], at, line)


def _is_call(line: str) -> bool:
    words = line.split(None, 1)
    return bool(words) and posixpath.basename(words[0]) == "mqsub"


def _calls(command: str, variables: Mapping[str, str]) -> Iterator[list[str]]:
    """The words of each command in a line, those that Headway kept in variables filled in."""
    text = _WORD.sub(lambda found: f'"{found[1]}"' if found[1] in variables else found[0], command)
    for _, words in plain_commands(text):
        yield [decoded(variables[word]) if word.startswith(WORD) and word in variables else word for word in words]


def _pairs(variables: Mapping[str, str], number: int) -> list[tuple[str, str]]:
    """The attributes that Headway wrote beside a job."""
    text = variables.get(f"{ATTRIBUTES}{number}")
    if text is None:
        return []
    try:
        words = shlex.split(decoded(text))
    except ValueError:
        raise ModelError(f"{ATTRIBUTES}{number} has an unclosed quote.", "Expected KEY=VALUE words.") from None
    pairs = [(key, value) for key, equals, value in (word.partition("=") for word in words) if equals]
    if len(pairs) != len(words):
        raise ModelError(f"{ATTRIBUTES}{number} has a word without =.", "Expected KEY=VALUE words.")
    return pairs
