"""A workflow as WfFormat. The graph is flat there, so groups are flattened first."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from headway.formats.losses import lost
from headway.formats.world import Rendering
from headway.model import attributes
from headway.model.errors import ModelError
from headway.model.flatten import Flat, flatten
from headway.model.job import Job
from headway.model.quantities import plain
from headway.model.workflow import Workflow

EPOCH = "1970-01-01T00:00:00+00:00"  # the schema wants a date; nothing here knows the time
MEASURED = ("avgCPU", "readBytes", "writtenBytes", "memoryInBytes", "energyInKWh", "avgPowerInW")
_OWN_KEYS = {"seconds", "inputs", "outputs", "cores"}
_IDENTITY = re.compile(r"[0-9a-zA-Z_.#:/-]+")  # what the schema lets an id be
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile(r"\d{1,30}(\.\d{1,300})?(e[+-]\d{1,2})?")

_MOST_ARCS = 10_000_000  # a file of a few hundred megabytes


def render_1_6(workflow: Workflow) -> Rendering:
    """The instance in schema version 1.6, which added only what may be left out."""
    return render(workflow, "1.6")


def render(workflow: Workflow, version: str = "1.5") -> Rendering:
    """The instance, one task a line."""
    flat = flatten(workflow)
    nodes = list(flat.dag.jobs())
    if not nodes:
        raise ModelError("the workflow has no jobs, and WfFormat needs one.", "Add a job.")
    identities = dict(zip(nodes, _identities(flat.dag.names[node] for node in nodes), strict=True))
    jobs = {node: job for node in nodes if (job := flat.jobs[node]) is not None}
    files = list(dict.fromkeys([f for job in jobs.values() for f in job.inputs + job.outputs] + [*workflow.files]))
    file_ids = dict(zip(files, _identities(files), strict=True))
    specification = {
        "tasks": _tasks(flat, jobs, identities, file_ids),
        "files": [_file(file, file_ids[file], workflow.files.get(file)) for file in files],
    }
    parts = {"specification": specification}
    executed = [_executed(job, identities[node]) for node, job in jobs.items()]
    head: dict[str, Any] = {
        "name": workflow.name or "workflow",
        "description": "Written by Headway; times are expected run times, not those of an execution.",
        "createdAt": EPOCH,
        "schemaVersion": version,
    }
    execution: dict[str, Any] = {}
    if flat.dag.timed or any(len(task) > 2 for task in executed):
        makespan = flat.dag.minimal_schedule.makespan
        execution = {"makespanInSeconds": makespan, "executedAt": EPOCH}
        parts["execution"] = {"tasks": executed}
        machines = dict.fromkeys(name for task in executed for name in task.get("machines", ()))
        if machines:
            parts["execution"]["machines"] = [{"nodeName": name} for name in machines]
    return Rendering("\n".join(_lines(head, parts, execution)) + "\n", _losses(workflow))


def _lines(head: dict[str, Any], parts: dict[str, dict[str, list[Any]]], execution: dict[str, Any]) -> Iterator[str]:
    """Small values and list members, a line each: the file can be read, and written fast."""
    yield "{"
    yield from (f"  {_json(key)}: {_json(value)}," for key, value in head.items())
    yield '  "workflow": {'
    for part, lists in parts.items():
        yield f'    "{part}": {{'
        if part == "execution":
            yield from (f"      {_json(key)}: {_json(value)}," for key, value in execution.items())
        for key, members in lists.items():
            yield f'      "{key}": ['
            last = len(members) - 1
            yield from (f"        {_json(value)}{',' if at < last else ''}" for at, value in enumerate(members))
            yield f"      ]{',' if key != list(lists)[-1] else ''}"
        yield f"    }}{',' if part != list(parts)[-1] else ''}"
    yield "  }"
    yield "}"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _SURROGATE.search(text) else text


def _identities(names: Iterable[str]) -> list[str]:
    """An id for each name, as the schema lets it be: the name itself where it can."""
    given = list(names)
    taken = {name for name in given if _IDENTITY.fullmatch(name)}
    found: list[str] = []
    used: set[str] = set()
    for name in given:
        if name not in taken or name in used:
            stem = re.sub(r"[^0-9a-zA-Z_.#:/-]", "_", name) or "_"
            identity, number = stem, 2
            while identity in taken or identity in used:
                identity, number = f"{stem}_{number}", number + 1
        else:
            identity = name
        used.add(identity)
        found.append(identity)
    return found


def _tasks(
    flat: Flat, jobs: dict[int, Job], identities: dict[int, str], file_ids: dict[str, str]
) -> list[dict[str, Any]]:
    if flat.dag.arc_count > _MOST_ARCS:
        raise ModelError(
            f"WfFormat would need {flat.dag.arc_count:,} arcs, since it knows no barriers.",
            "Convert to another format.",
        )
    children = {node: flat.dag.job_children(node) for node in jobs}
    parents: dict[int, list[str]] = {node: [] for node in jobs}
    for node, after in children.items():
        for child in after:
            parents[child].append(identities[node])
    tasks = []
    for node, job in jobs.items():
        name, identity = flat.dag.names[node], identities[node]
        task: dict[str, Any] = {
            "name": job.attributes.get("transformation") or name,
            "id": identity,
            "parents": parents[node],
            "children": [identities[child] for child in children[node]],
            "inputFiles": [file_ids[file] for file in job.inputs],
            "outputFiles": [file_ids[file] for file in job.outputs],
        }
        extras = _extras(job, name, identity)
        if extras:
            task["headway"] = extras
        tasks.append(task)
    return tasks


def _extras(job: Job, name: str, identity: str) -> dict[str, Any]:
    """What the schema has no key for."""
    extras: dict[str, Any] = {}
    if name != identity:
        extras["name"] = name
    measured = _measured(job)
    if job.attributes.get("transformation"):
        measured["transformation"] = ""
    kept = {key: value for key, value in attributes.pairs_of(job) if key not in _OWN_KEYS and key not in measured}
    if kept:
        extras["attributes"] = kept
    if job.seconds is None:
        extras["timed"] = False
    return extras


def _measured(job: Job) -> dict[str, Any]:
    """Attributes that are the schema's own keys of an executed task, where their values fit."""
    found: dict[str, Any] = {}
    for key in MEASURED:
        value = job.attributes.get(key, "")
        if _NUMBER.fullmatch(value):
            number = float(value) if "." in value or "e" in value else int(value)
            if number_text(number) == value:
                found[key] = number
    if job.attributes.get("executedAt"):
        found["executedAt"] = job.attributes["executedAt"]
    machines = _words(job.attributes.get("machines", ""))
    if machines and all(machines) and shlex.join(machines) == job.attributes["machines"]:
        found["machines"] = machines
    return found


def number_text(value: int | float) -> str:
    """A measured number as an attribute holds it."""
    return plain(value) if isinstance(value, float) else str(value)


def _words(text: str) -> list[str] | None:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _executed(job: Job, identity: str) -> dict[str, Any]:
    task: dict[str, Any] = {"id": identity, "runtimeInSeconds": job.seconds or 0}
    if job.command is not None:
        task["command"] = _command(job.command)
    if job.resources.cores != 1:
        task["coreCount"] = job.resources.cores
    if job.rules.priority:
        task["priority"] = job.rules.priority
    return {**task, **_measured(job)}


def _command(command: str) -> dict[str, Any]:
    """Program and arguments where the line is nothing more; else sh runs it. The schema has no empty words."""
    words = _words(command)
    if words and all(words) and shlex.join(words) == command and words[:2] != ["sh", "-c"]:
        return {"program": words[0], "arguments": words[1:]}
    return {"program": "sh", "arguments": ["-c", command or ":"]}


def _file(name: str, identity: str, size: int | None) -> dict[str, Any]:
    file: dict[str, Any] = {"id": identity, "sizeInBytes": size or 0}
    extras: dict[str, Any] = {} if size is not None else {"sized": False}
    if name != identity:
        extras["name"] = name
    return {**file, "headway": extras} if extras else file


def _losses(workflow: Workflow) -> list[str]:
    can = {"attributes", "environment", "resources", "seconds", "files", "retries", "sizes", "priority"}
    found = lost(workflow, can)
    walked = [group for _, group in workflow.walk()]
    empty = sum(not group.members and not any(True for _ in group.all_jobs()) for group in walked)
    if empty:
        found.append(f"{empty} {'group' if empty == 1 else 'groups'} without jobs, though not the order they stand for")
    described = sum(bool(job.description and job.command is None) for group in walked for job in group.all_jobs())
    if described:
        found.append(f"the submit {'description of 1 job' if described == 1 else f'descriptions of {described} jobs'}")
    return found
