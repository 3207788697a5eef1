"""DAG description scripts: TrellisDAG's own way to say a large workflow, by the names of the paper's Fig. 14.

The script is Python, so it runs in a child process (`World.describe`); here its answers become a Workflow.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from headway.formats.flat import name_of
from headway.formats.world import World
from headway.model import attributes, near_misses
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import Job
from headway.model.workflow import Group, Members, Workflow


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow that a description script describes when it is given these arguments."""
    try:
        answers = json.loads(world.describe(path, arguments))
        return _Reader(path, answers["lines"]).workflow(answers["groups"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise InputError(path, 1, "the script's answers cannot be understood.", "Let it print nothing.") from None


class _Reader:
    """Makes groups of answers, and knows which function to blame."""

    def __init__(self, path: str, lines: Mapping[str, int]) -> None:
        self.path = path
        self.lines = lines

    def error(self, function: str, what: str, fix: str) -> InputError:
        return InputError(self.path, self.lines.get(function, 1), what, fix)

    def workflow(self, rows: list[dict[str, Any]]) -> Workflow:
        workflow = Workflow(name_of(self.path))
        made: list[Group] = []
        levels: list[Members] = []
        for row in rows:
            group = self.group(row)
            members = workflow.groups if row["parent"] < 0 else made[row["parent"]].groups
            if group.name in members:
                what = f"generateGroup returns {shown(group.name)} twice."
                raise self.error("generateGroup", what, "Return each group once.")
            members.add(group)
            made.append(group)
            levels.append(members)
        if not made:
            raise self.error("generateGroup", "the script generates no groups.", "Does it need other arguments?")
        for row, group, members in zip(rows, made, levels, strict=True):
            workflow.dropped += self.depend(row, group, members)
        return workflow

    def depend(self, row: dict[str, Any], group: Group, members: Members) -> int:
        """Adds a group's dependencies; how many are on groups that were never generated."""
        dropped = 0
        child = members.place(group.name)
        for dep in row["deps"]:
            name = _name(row["level"], dep)
            if name == group.name:
                what = f"getDependent says that {shown(name)} depends on itself."
                raise self.error("getDependent", what, "Return other groups only.")
            parent = members.place(name)
            if parent is None or child is None:
                dropped += 1
            else:
                members.arc(parent, child, self.lines.get("getDependent", 0))
        return dropped

    def group(self, row: dict[str, Any]) -> Group:
        group = Group(_name(row["level"], row["id"]))
        parts = row["jobs"]
        group.prologue = tuple(self.jobs(group.name, parts.get("prologue", []), [], []))
        group.jobs = self.jobs(group.name, parts["jobs"], row["attributes"], row["parameters"])
        group.epilogue = tuple(self.jobs(group.name, parts.get("epilogue", []), [], []))
        return group

    def jobs(self, name: str, executables: list[Any], pairs: list[list[str]], parameters: list[Any]) -> list[Job]:
        for function, given in (("getJobsAttributes", pairs), ("getJobsParameters", parameters)):
            if len(given) > len(executables):
                what = f"{function} returns {len(given)} entries for the {len(executables)} jobs of {shown(name)}."
                raise self.error(function, what, "Return one for each of getJobsExecutables.")
        found = []
        for number, executable in enumerate(executables):
            command = self.command(name, executable, parameters[number] if number < len(parameters) else "")
            found.append(self.job(command, pairs[number] if number < len(pairs) else []))
        return found

    def command(self, name: str, executable: str | list[str], parameters: str | list[str]) -> str:
        words = [shlex.join(part) if isinstance(part, list) else part.strip() for part in (executable, parameters)]
        if not words[0]:
            what = f"an executable of {shown(name)} is empty."
            raise self.error("getJobsExecutables", what, "Return command lines.")
        return " ".join(filter(None, words))

    def job(self, command: str, pairs: list[str]) -> Job:
        job = Job(_text(self, command, "getJobsExecutables"))
        for pair in pairs:
            key, equals, value = _text(self, pair, "getJobsAttributes").partition("=")
            if not equals:
                raise self.error("getJobsAttributes", f"attribute {shown(pair)} has no value.", 'Expected "key=value".')
            try:
                near_misses.check(key.strip())
                attributes.apply(job, key.strip(), value.strip())
            except ModelError as error:
                raise self.error("getJobsAttributes", error.what, error.fix) from None
        return job


def _text(reader: _Reader, text: str, function: str) -> str:
    """A text that can stand in a file: no NUL, nothing that has no bytes."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise reader.error(function, f"{shown(text)} is no text.", "Use characters that UTF-8 has.") from None
    if "\0" in text:
        raise reader.error(function, f"{shown(text)} holds a NUL.", "Leave it out.")
    return text


def _name(level: str, numbers: Sequence[int]) -> str:
    """A group's name as in the paper's Fig. 15: `VS_2_1`."""
    return "_".join([level, *map(str, numbers)])
