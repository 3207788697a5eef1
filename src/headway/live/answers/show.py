"""The answer of `headway show`: what a workflow looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from headway.formats.clusters import special_nodes
from headway.model.flatten import Flat, flatten
from headway.model.job import HERE, NO_ATTRIBUTES, ORDINARY, PLAIN, Job
from headway.model.record import asdict, fields
from headway.model.workflow import Settings, Workflow

Answer = dict[str, Any]


def report(workflow: Workflow) -> tuple[Answer, Flat]:
    """The answer (docs/json.md explains each key), and the graph it is about."""
    flat = flatten(workflow)
    dag = flat.dag
    special = {group.name: kind for kind, group in special_nodes(workflow)}
    path, schedule = dag.critical_path, dag.minimal_schedule if dag.timed else None
    warnings = list(workflow.warnings)
    if 0 < dag.timed < dag.job_count:
        warnings.append(f"run times are known for {dag.timed} of {dag.job_count} jobs; the others count as 0 s.")
    answer: Answer = {
        "name": workflow.name,
        "format": workflow.format,
        "jobs": dag.job_count + len(special),
        "arcs": dag.arc_count,
        "groups": sum(not group.is_barrier for _, group in workflow.walk()) + len(special),
        "levels": len(dag.levels),
        "width": dag.width,
        "critical_path": {
            "seconds": path.seconds if dag.timed else None,
            "jobs": [dag.names[node] for node in path.nodes],
        },
        "work_seconds": dag.work if dag.timed else None,
        "minimal_schedule": schedule
        and {
            "seconds": schedule.makespan,
            "concurrency": max((count for _, count in schedule.concurrency), default=0),
        },
        "level_sizes": dag.levels,
        "milestones": len(dag) - dag.job_count,
        "dropped_dependencies": workflow.dropped,
        "special": special,
        "features": features(workflow, flat),
        "warnings": warnings,
    }
    return answer, flat


def features(workflow: Workflow, flat: Flat) -> Answer:
    """What the workflow asks for beyond order: how many jobs have each thing, and what it says of the whole."""
    jobs = [job for job in flat.jobs if job is not None]
    jobs += [job for group in workflow.special() for job in group.jobs]
    found: Answer = dict(sorted(Counter(_job_features(jobs)).items()))
    if flat.weak:
        found["weak_arcs"] = len(flat.weak)
    if workflow.throttles:
        found["throttles"] = workflow.throttles
    if workflow.settings != Settings():
        said = asdict(workflow.settings)
        found["settings"] = {key: value for key, value in said.items() if value}
    return found


RULES = [(name, getattr(PLAIN, name)) for name in fields(PLAIN)]


def _job_features(jobs: Iterable[Job]) -> Iterator[str]:
    for job in jobs:
        if job.rules is not PLAIN:
            yield from (name for name, usual in RULES if getattr(job.rules, name) != usual)
        if job.description:
            yield "submit_description"
        if job.variables or job.overrides:
            yield "variables"
        if job.inputs:
            yield "inputs"
        if job.outputs:
            yield "outputs"
        if job.resources is not ORDINARY and job.resources != ORDINARY:
            yield "resources"
        if job.setting is not HERE and job.setting != HERE:
            yield "setting"
        if job.attributes is not NO_ATTRIBUTES:
            yield from (f"attribute {key}" for key in job.attributes)
