"""WfFormat, the JSON of WfCommons: 1.5 and 1.6.

A task is a group of one job under the task's id. What WfFormat has no key for travels in an object "headway" of a task
or file, which other programs pass over: the schema allows extra keys. docs/formats/wfformat.md says what is kept.
"""

from __future__ import annotations

import math
import posixpath
import re
import shlex
from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

from headway.formats.wfformat.jsontext import Document, Steps, spelled
from headway.formats.wfformat.writer import MEASURED, number_text
from headway.formats.world import World
from headway.model import attributes
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import NO_ATTRIBUTES, Job, Resources, Rules
from headway.model.workflow import Group, Workflow

VERSIONS = ("1.5", "1.6")
_TASKS: Steps = ("workflow", "specification", "tasks")
_FILES: Steps = ("workflow", "specification", "files")
_EXECUTED: Steps = ("workflow", "execution", "tasks")
_ID = re.compile(r'"id"\s*:\s*"([^"\\]*)"')


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow of an instance; it takes no arguments."""
    document = Document(path, world.text(path))
    if arguments:
        raise InputError(path, 1, "a WfFormat instance takes no arguments.", "Leave them out.")
    _check_version(document)
    flow = document.get(document.root, ("workflow",), dict)
    specification = document.get(flow, _TASKS[:2], dict)
    workflow = Workflow(document.get(document.root, ("name",), str, "") or posixpath.basename(path) or "workflow")
    try:
        return _filled(document, flow, specification, workflow)
    except ModelError as error:  # what the model refuses, the reader below has not looked at: no line is known
        raise InputError(path, 1, error.what, error.fix) from None


def _check_version(document: Document) -> None:
    version = document.get(document.root, ("schemaVersion",), str, "")
    if version in VERSIONS:
        return
    reads = f"Headway reads WfFormat {' and '.join(VERSIONS)}"
    if not version:
        what, fix = "schemaVersion is missing: this is no WfFormat.", f"{reads}."
    elif version in ("1.0", "1.1", "1.2", "1.3", "1.4"):
        what = f"this is WfFormat {version}, whose tasks are laid out differently."
        fix = f"{reads}: WfCommons' migration tool turns older instances into those."
    else:
        what, fix = f"schemaVersion {shown(version)} is not known.", f"{reads}."
    raise document.wrong(("schemaVersion",), what, fix)


def _filled(document: Document, flow: dict[str, Any], specification: dict[str, Any], workflow: Workflow) -> Workflow:
    tasks = document.objects(specification, _TASKS)
    if not tasks:
        raise document.wrong(_TASKS, f"{spelled(_TASKS)} is empty.", "A workflow has at least one task.")
    names = _files(document, specification, workflow)
    places: dict[str, int] = {}
    for at, task in enumerate(tasks):
        _add_task(document, task, (*_TASKS, at), workflow, places, names)
    if "execution" in flow:
        _add_execution(document, document.get(flow, _EXECUTED[:2], dict), workflow, places)
    for at, task in enumerate(tasks):  # after the execution: a label here has the last word on what is known
        _apply_extras(document, task, (*_TASKS, at), workflow.groups.groups[at].jobs[0])
    _add_arcs(document, tasks, workflow, places)
    return workflow


def _files(document: Document, specification: dict[str, Any], workflow: Workflow) -> dict[str, str]:
    """Fills in the sizes; the names of files that could not be their ids."""
    names: dict[str, str] = {}
    for at, file in enumerate(document.objects(specification, _FILES)):
        steps: Steps = (*_FILES, at)
        name = document.get(file, (*steps, "id"), str)
        size = document.number(file, (*steps, "sizeInBytes"))
        if size is not None and (size != int(size) or size >= 2**63):
            raise document.wrong((*steps, "sizeInBytes"), f"{spelled(steps)} has no such size.", "Expected bytes.")
        extras = document.get(file, (*steps, "headway"), dict, {})
        real = names[name] = document.get(extras, (*steps, "headway", "name"), str, name)
        if size is not None and document.get(extras, (*steps, "headway", "sized"), bool, True):
            workflow.files[real] = int(size)
    return names


def _add_task(
    document: Document,
    task: dict[str, Any],
    steps: Steps,
    workflow: Workflow,
    places: dict[str, int],
    names: dict[str, str],
) -> None:
    """A task becomes a group of one job."""
    identity = document.get(task, (*steps, "id"), str)
    if not identity:
        raise document.wrong((*steps, "id"), f"{spelled(steps)}.id is empty.", "Give the task an id.")
    if identity in places:
        raise document.wrong((*steps, "id"), f"task {shown(identity)} is there already.", "Ids are unique.")
    name = document.get(task, (*steps, "name"), str, identity)
    label = identity
    if "headway" in task:
        label = document.get(document.get(task, (*steps, "headway"), dict), (*steps, "headway", "name"), str, identity)
    job = Job(
        inputs=tuple(names.get(file, file) for file in document.strings(task, (*steps, "inputFiles"))),
        outputs=tuple(names.get(file, file) for file in document.strings(task, (*steps, "outputFiles"))),
        attributes={"transformation": name} if name not in ("", identity, label) else NO_ATTRIBUTES,
    )
    try:
        places[identity] = workflow.groups.add(Group(label, [job]))
    except ModelError as error:
        raise document.wrong(steps, error.what, error.fix) from None


def _apply_extras(document: Document, task: dict[str, Any], steps: Steps, job: Job) -> None:
    """What Headway itself wrote beside the schema's keys."""
    if "headway" not in task:
        return
    steps = (*steps, "headway")
    extras = document.get(task, steps, dict)
    if not document.get(extras, (*steps, "timed"), bool, True):
        job.seconds = None
    pairs = document.get(extras, (*steps, "attributes"), dict, {})
    for key in pairs:
        value = document.get(pairs, (*steps, "attributes", key), str)
        try:
            document.check(key, (*steps, "attributes"))
            attributes.apply(job, key, value)
        except ModelError as error:
            raise document.wrong((*steps, "attributes", key), error.what, error.fix) from None


def _add_execution(document: Document, execution: dict[str, Any], workflow: Workflow, places: dict[str, int]) -> None:
    """What is known from a run: times, commands, cores, measurements."""
    seen: set[str] = set()
    for at, task in enumerate(document.objects(execution, _EXECUTED)):
        steps: Steps = (*_EXECUTED, at)
        identity = document.get(task, (*steps, "id"), str)
        place = places.get(identity)
        if place is None:
            raise _unknown(document, (*steps, "id"), identity, places)
        if identity in seen:
            raise document.wrong(steps, f"{spelled(_EXECUTED)} has {shown(identity)} twice.", "Leave one.")
        seen.add(identity)
        job = workflow.groups.groups[place].jobs[0]
        seconds = document.number(task, (*steps, "runtimeInSeconds"))
        job.seconds = None if seconds is None else float(seconds)
        if "command" in task:
            job.command = _command(document, task, (*steps, "command"))
        cores = document.number(task, (*steps, "coreCount"))
        if cores is not None:
            job.resources = _resources(_whole(document, (*steps, "coreCount"), math.ceil(cores) or 1))
        priority = document.number(task, (*steps, "priority"), negative=True)
        if priority:
            job.rules = _rules(_whole(document, (*steps, "priority"), round(priority)))
        measured = _measurements(document, task, steps)
        if measured:
            job.attributes = {**job.attributes, **measured}


def _measurements(document: Document, task: dict[str, Any], steps: Steps) -> dict[str, str]:
    """How a run of the task went, as attributes: it is no request for the next run."""
    found: dict[str, str] = {}
    for key in MEASURED:
        value = document.number(task, (*steps, key))
        if value is not None:
            found[key] = number_text(value)
    if "executedAt" in task:
        found["executedAt"] = document.get(task, (*steps, "executedAt"), str)
    machines = document.strings(task, (*steps, "machines"))
    if not machines and "machine" in task:
        machines = [document.get(task, (*steps, "machine"), str)]
    if machines:
        found["machines"] = shlex.join(machines)
    return found


def _command(document: Document, task: dict[str, Any], steps: Steps) -> str | None:
    """The command line; `sh -c TEXT` is TEXT, which is how any command line is written."""
    command = document.get(task, steps, dict)
    program = document.get(command, (*steps, "program"), str, "")
    words = document.strings(command, (*steps, "arguments"))
    if program == "sh" and len(words) == 2 and words[0] == "-c":
        return words[1]
    return shlex.join([program, *words]) if program else None


def _whole(document: Document, steps: Steps, value: int) -> int:
    if abs(value) >= 2**31:
        raise document.wrong(steps, f"{spelled(steps)} is too large.", "Expected at most 2147483647.")
    return value


@cache
def _resources(cores: int) -> Resources:
    return Resources(cores)


@cache
def _rules(priority: int) -> Rules:
    return Rules(priority=priority)


def _add_arcs(document: Document, tasks: list[dict[str, Any]], workflow: Workflow, places: dict[str, int]) -> None:
    """Parents and children both say arcs; often both say the same."""
    lines = _lines(document, len(places))
    known: set[tuple[int, int]] = set()
    for at, task in enumerate(tasks):
        for key in ("parents", "children"):
            steps: Steps = (*_TASKS, at, key)
            for number, name in enumerate(document.strings(task, steps)):
                other = places.get(name)
                if other is None:
                    raise _unknown(document, (*steps, number), name, places)
                if other == at:
                    raise document.wrong(
                        (*steps, number), f"{shown(name)} depends on itself.", f"Remove it from its {key}."
                    )
                arc = (other, at) if key == "parents" else (at, other)
                if arc not in known:
                    known.add(arc)
                    workflow.groups.arc(*arc, line=lines[at] if at < len(lines) else 1)


def _lines(document: Document, count: int) -> array[int]:
    """The line of each task, near enough to name a cycle's place: where ids stand after the first "tasks"."""
    text = document.text
    at = max(text.find('"tasks"'), 0)
    line = text.count("\n", 0, at) + 1
    lines = array("i")
    for match in _ID.finditer(text, at):
        if len(lines) == count:
            break
        line += text.count("\n", at, match.start())
        at = match.start()
        lines.append(line)
    return lines


def _unknown(document: Document, steps: Steps, name: str, places: dict[str, int]) -> InputError:
    from difflib import get_close_matches

    close = get_close_matches(name[:100], places, 1) if len(places) <= 10_000 else []
    hint = f" (did you mean {shown(close[0])}?)" if close else ""
    return document.wrong(steps, f"{spelled(steps)} names {shown(name)}, which is no task{hint}.", "Add that task.")
