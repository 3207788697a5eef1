"""What `headway show --job` says of one job, as a JSON value and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headway.cli.display.report import RULES, Answer
from headway.cli.display.terminal import harmless
from headway.formats.clusters import special_nodes
from headway.formats.submit import node_processes
from headway.live.reading.files import Files
from headway.model import attributes
from headway.model.errors import InputError, NotFoundError, shown
from headway.model.flatten import Flat, flatten
from headway.model.job import Job
from headway.model.record import asdict, is_record
from headway.model.workflow import Workflow

MOST_NAMED = 12  # jobs that an error lists
MOST_SHOWN = 20  # commands of one node's processes that are printed


def details(workflow: Workflow, name: str) -> Answer:
    """Everything known of one job, its submit description included."""
    flat = flatten(workflow)
    for kind, group in special_nodes(workflow):
        if group.name == name and group.jobs:
            return {**_described(workflow, name, kind, group.jobs[0]), "parents": [], "children": []}
    for node, job in enumerate(flat.jobs):
        if job is not None and flat.dag.names[node] == name:
            break
    else:
        raise NotFoundError(f"there is no job {shown(name)} in {workflow.name}.", _hint(name, workflow, flat))
    names = flat.dag.names
    return {
        **_described(workflow, name, "job", job),
        "level": flat.dag.level_of[node] + 1,
        "parents": [names[parent] for parent in flat.dag.job_parents(node)],
        "children": [names[child] for child in flat.dag.job_children(node)],
    }


def _hint(name: str, workflow: Workflow, flat: Flat) -> str:
    from difflib import get_close_matches

    known = [flat.dag.names[node] for node in flat.dag.jobs()] + [group.name for group in workflow.special()]
    close = get_close_matches(name, known, 3) if len(known) <= 10_000 else []
    if close:
        return f"Did you mean {' or '.join(map(shown, close))}?"
    if len(known) <= MOST_NAMED:
        return f"There is {', '.join(map(shown, known))}."
    return "headway convert --to mermaid names all jobs."


def _described(workflow: Workflow, name: str, kind: str, job: Job) -> Answer:
    processes, warnings = _processes(workflow, name, job)
    first = processes[0]
    rules = {key: value for key, usual in RULES if (value := getattr(first.rules, key)) != usual}
    return {
        "job": name,
        "kind": kind,
        "command": first.command,
        "processes": len(processes) if first.command is not None else None,
        "commands": [process.command for process in processes] if len(processes) > 1 else [],
        "description": job.description or None,
        "variables": dict(job.variables + job.overrides),
        "attributes": dict(attributes.pairs_of(first)),
        "rules": {key: asdict(value) if is_record(value) else value for key, value in rules.items()},
        "warnings": warnings,
    }


def _processes(workflow: Workflow, name: str, job: Job) -> tuple[list[Job], list[str]]:
    """The job as its submit description makes it; one that is wrong is no reason to say nothing of the job."""
    try:
        return node_processes(workflow, name, job, Files())
    except InputError as error:
        return [job], [str(error)]


def details_text(answer: Mapping[str, Any]) -> str:
    """One job for people."""
    return harmless("\n".join(f"{name:<12} {value}".rstrip() for name, value in _rows(answer)))


def _rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What is known, a line each."""
    for key, value in answer.items():
        if key == "warnings":
            yield from (("warning:", warning) for warning in value)
        elif key == "commands":
            yield from _different(value)
        elif isinstance(value, Mapping):
            yield from ((key, f"{name} = {content}") for name, content in _leaves(value))
        elif isinstance(value, list):
            yield key, " ".join(value) or "-"
        elif value is not None and (key, value) not in (("kind", "job"), ("processes", 1)):
            yield key, value


def _different(commands: list[str]) -> Iterator[tuple[str, object]]:
    """The commands of a node's processes, where they are not all the same."""
    if len(set(commands)) > 1:
        yield from (("", command) for command in commands[:MOST_SHOWN])
        if len(commands) > MOST_SHOWN:
            yield "", f"… {len(commands) - MOST_SHOWN:,} more"


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from ((f"{name} {inner}", content) for inner, content in _leaves(value))
        elif isinstance(value, list | tuple):
            yield name, " ".join(str(item) for item in value if item is not None)
        elif value is not None:
            yield name, "yes" if value is True else value
