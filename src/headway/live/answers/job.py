"""The answer of `headway show --job`: everything known of one job."""

from __future__ import annotations

from headway.formats.clusters import special_nodes
from headway.formats.submit import node_processes
from headway.live.answers.show import RULES, Answer
from headway.live.reading.files import Files
from headway.model import attributes
from headway.model.errors import InputError, NotFoundError, shown
from headway.model.flatten import Flat, flatten
from headway.model.job import Job
from headway.model.record import asdict, is_record
from headway.model.workflow import Workflow

MOST_NAMED = 12  # jobs that an error lists


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
