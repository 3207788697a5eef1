"""Flat submission scripts: lines of mqsub, as in the paper's Fig. 12.

A script of nothing but such lines is read as it is. One that is more (loops, variables) is run by sh with an mqsub that
only notes its calls.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from headway.formats.losses import known_command, lost
from headway.formats.mqsub import OPTIONS, Call, Reading, add_call, label_of, parse_call, words_of
from headway.formats.shellwords import NotPlainError, UnclosedQuoteError, plain_commands, quoted
from headway.formats.world import Rendering, World
from headway.model import attributes
from headway.model.dag import Dag
from headway.model.errors import InputError, ModelError
from headway.model.job import Job
from headway.model.workflow import Group, Members, Workflow


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow that a script submits. A plain one has no use for arguments."""
    text = world.text(path)
    try:
        workflow = from_text(path, text, read=beside(path, world))
    except NotPlainError:
        workflow = _collected(path, text, world.collect(path, arguments), beside(path, world))
    if not len(workflow.groups):
        raise InputError(
            path, 1, "the script submits nothing.", 'Expected lines such as: mqsub -deps "" -l A -c ./a.sh'
        )
    return workflow


def beside(path: str, world: World) -> Reading:
    """How the lines of a file are read that a script names: from the script's own folder."""
    return lambda name: world.lines(posixpath.join(posixpath.dirname(path), name))


def _collected(path: str, text: str, calls: str, read: Reading) -> Workflow:
    """The workflow of the calls that a script made; errors are placed where it calls mqsub, if that is one line."""
    places = [number for number, line in enumerate(text.split("\n"), 1) if _CALL.search(line)]
    try:
        return from_text(path, calls, places[0] if len(places) == 1 else 1, read)
    except NotPlainError:
        raise InputError(path, 1, "the script's calls of mqsub could not be noted.", "Write them as lines.") from None


_CALL = re.compile(r"^[^#]*\bmqsub\b")


def from_text(path: str, text: str, line: int | None = None, read: Reading | None = None) -> Workflow:
    """The workflow of a plain script; NotPlainError if it needs sh.

    Where the text is not what the user wrote, errors in it name the line given here.
    """
    workflow = Workflow(name_of(path))
    try:
        for number, words in plain_commands(text):
            if posixpath.basename(words[0]) != "mqsub" or "=" in words[0]:
                raise NotPlainError(number)
            try:
                add_call(workflow, parse_call(words[1:]), line or number, read)
            except ModelError as error:
                raise InputError(path, line or number, error.what, error.fix) from None
    except UnclosedQuoteError as error:
        raise InputError(path, line or error.line, "a quote is opened here and not closed.", "Close it.") from None
    return workflow


def name_of(path: str) -> str:
    """A workflow's name from its file's."""
    name = posixpath.basename(path)
    for ending in (".xz", ".gz"):
        name = name.removesuffix(ending)
    stem = posixpath.splitext(name)[0]
    return stem or name or "workflow"


def render(workflow: Workflow) -> Rendering:
    """The script that submits a workflow."""
    lines = [line_of(words_of(call)) for call in calls(workflow)]
    return Rendering("\n".join(["#!/bin/sh", *lines, ""]), lost(workflow, can={"groups", "retries"}))


def line_of(words: Sequence[str]) -> str:
    """The line that calls mqsub with these arguments."""
    return " ".join(["mqsub", *(word if word in OPTIONS else quoted(word) for word in words)])


def calls(workflow: Workflow) -> Iterator[Call]:
    """The mqsub calls that submit a workflow, in an order in which they could run."""
    yield from _level_calls(workflow.groups, ())


def _level_calls(members: Members, prefix: tuple[str, ...]) -> Iterator[Call]:
    parents = members.parents_of()
    for group in in_legal_order(members):
        path = (*prefix, group.name)
        deps = tuple((name,) for name in parents.get(group.name, ()))
        if group.members or not any(True for _ in group.all_jobs()):
            yield Call(path, deps)
            deps = ()
        for part, jobs in (("prologue", group.prologue), ("jobs", group.jobs), ("epilogue", group.epilogue)):
            if part == "jobs" and group.members:
                yield from _level_calls(group.members, path)
            for job in jobs:
                yield Call(path, deps, _command(job, path), tuple(attributes.pairs_of(job)), part)
                deps = ()


def _command(job: Job, path: tuple[str, ...]) -> str:
    """Never empty: mqsub would take that for no command at all."""
    command = known_command(job, label_of(path))
    return command if command.strip() else ":"


def in_legal_order(members: Members) -> list[Group]:
    """The groups so that each comes after those it waits for; as they are, where that is such an order."""
    if all(parent < child for parent, child in zip(members.parents, members.children, strict=True)):
        return members.groups
    dag = Dag([group.name for group in members], members.parents, members.children)
    return [members.groups[at] for at in dag.order]
