"""What `headway show` says of a workflow, as a JSON value and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headway.cli.display.terminal import harmless
from headway.formats.clusters import special_nodes
from headway.model.flatten import Flat, flatten
from headway.model.job import HERE, NO_ATTRIBUTES, ORDINARY, PLAIN, Job
from headway.model.quantities import duration
from headway.model.record import asdict, fields
from headway.model.workflow import Settings, Workflow

Answer = dict[str, Any]


def report(workflow: Workflow) -> tuple[Answer, Flat]:
    """The answer of `headway show --json` (docs/json.md explains each key), and the graph it speaks of."""
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


# --- as text ---------------------------------------------------------------------------------------------------


def text(answer: Mapping[str, Any]) -> str:
    """The report for people."""
    rows = [("workflow", f"{answer['name']} ({answer['format']})")]
    kinds = Counter(answer["special"].values())
    extra = "".join(f", {count} of them {kind}" for kind, count in kinds.items())
    rows.append(("jobs", f"{answer['jobs']:,}{extra}"))
    rows.append(("arcs", f"{answer['arcs']:,}"))
    if answer["groups"] != answer["jobs"]:
        rows.append(("groups", f"{answer['groups']:,}"))
    rows.append(("levels", f"{answer['levels']:,}"))
    rows.append(("width", f"{answer['width']:,}  {_bars(answer['level_sizes'])}"))
    path = answer["critical_path"]
    long = path["seconds"]
    rows.append(("critical path", f"{'' if long is None else long_duration(long) + ', '}{_trail(path['jobs'])}"))
    if answer["work_seconds"] is not None:
        rows.append(("work", long_duration(answer["work_seconds"])))
        minimal = answer["minimal_schedule"]
        rows.append(
            ("minimal schedule", f"{long_duration(minimal['seconds'])} on {minimal['concurrency']:,} processors")
        )
    counts = {name: value for name, value in answer["features"].items() if isinstance(value, int)}
    if counts:
        rows.append(("jobs with", ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in counts.items())))
    rows += [(name, _spelled(value)) for name, value in answer["features"].items() if name not in counts]
    if answer["dropped_dependencies"]:
        rows.append(("dropped", f"{answer['dropped_dependencies']} dependencies on groups never generated"))
    lines = [f"{name:<16}  {value}".rstrip() for name, value in rows]
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    return harmless("\n".join(lines))


def long_duration(seconds: float) -> str:
    """Seconds, and where they are many in larger units too."""
    return duration(seconds) if seconds < 99.5 else f"{seconds:,.0f} s ({duration(seconds)})"


def _spelled(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_spelled(content)}" for key, content in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_spelled(item) for item in value if item is not False)
    return str(value)


def _trail(jobs: list[str]) -> str:
    some = jobs if len(jobs) <= 8 else [*jobs[:4], "…", *jobs[-3:]]
    return f"{len(jobs):,} {'job' if len(jobs) == 1 else 'jobs'}: {' → '.join(some)}"


def _bars(sizes: list[int]) -> str:
    """Levels as a small bar chart; many levels are shown as the largest of each part."""
    if len(sizes) < 2:
        return ""
    most, room = max(sizes), 48
    parts = min(room, len(sizes))
    shares = [max(sizes[at * len(sizes) // parts : (at + 1) * len(sizes) // parts]) for at in range(parts)]
    return "".join("▁▂▃▄▅▆▇█"[min(7, (8 * share - 1) // most)] for share in shares)
