"""What earlier runs teach: how long jobs took, and the least that a run could have taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headway.engine.run_times import program_of
from headway.live.answers.which import chosen
from headway.live.store import Store
from headway.live.store.sub_dags import without_place
from headway.live.store.views import Attempt, Run, Web
from headway.model.dag import Dag
from headway.model.errors import NotFoundError, shown
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import JobId
from headway.model.states import Kind, Step

if TYPE_CHECKING:
    from headway.live.home.folder import Home

_BESIDE = (Kind.MILESTONE, Kind.SERVICE)  # no work that anybody waits for


def chosen_run(store: Store, option: str | None = None, home: Home | None = None) -> Run:
    """The workflow that a command means, with all that is known of it."""
    meant = chosen(store, option, home).id
    return next(run for run in store.history.runs() if run.workflow == meant)


def place_of(store: Store, run: Run, name: str) -> JobId:
    """The place of a job that must be there."""
    found = store.history.named(run.workflow, name)
    if found is not None:
        return found
    from difflib import get_close_matches

    close = get_close_matches(name, [job.name for job in store.progress.jobs(run.workflow)], 1)
    hint = f"Did you mean {shown(close[0])}?" if close else "headway history lists those that ran."
    raise NotFoundError(f"workflow {run.workflow} ({shown(run.name)}) has no job {shown(name)}.", hint)


# --- how long jobs took --------------------------------------------------------------------------------------------


def taken(attempts: Iterable[Attempt]) -> dict[JobId, dict[Step, float]]:
    """How long each step of each job took: its last attempt, but no failure where one succeeded."""
    found: dict[JobId, dict[Step, float]] = {}
    succeeded: set[tuple[JobId, Step]] = set()
    for attempt in attempts:
        seconds, key = attempt.seconds, (attempt.job, attempt.step)
        if seconds is None or attempt.exit_code is None or (attempt.exit_code and key in succeeded):
            continue
        if attempt.exit_code == 0:
            succeeded.add(key)
        found.setdefault(attempt.job, {})[attempt.step] = seconds
    return found


def measured(web: Web, attempts: Iterable[Attempt]) -> Dag:
    """The graph of a workflow with the run times that were measured; a node's processes are nodes of their own."""
    times = taken(attempts)
    names = [member.name for member in web.members]
    seconds = [sum(times[member.job].values()) if member.job in times else None for member in web.members]
    milestones = bytearray(member.kind in _BESIDE for member in web.members)
    inner: list[tuple[int, int]] = []
    ends: dict[int, int] = {}  # a node that has processes ends in another one, after them
    for member in web.members:
        if member.owner is None:
            continue
        if member.owner not in ends:
            steps = times.get(member.owner, {})
            seconds[member.owner] = steps.get(Step.PRE)
            ends[member.owner] = len(names)
            names.append(names[member.owner])
            seconds.append(steps.get(Step.POST))
            milestones.append(0)
        inner += [(member.owner, member.job), (member.job, ends[member.owner])]
    arcs = [(ends.get(parent, parent), child) for parent, child in web.arcs] + inner
    arcs += _to_the_final(web, len(names), arcs)
    return Dag(names, [parent for parent, _ in arcs], [child for _, child in arcs], seconds, bytes(milestones))


def _to_the_final(web: Web, size: int, arcs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The job that runs last waits for all that nothing else waits for."""
    final = next((member.job for member in web.members if member.kind is Kind.FINAL), None)
    if final is None:
        return []
    followed = {parent for parent, _ in arcs}
    services = {member.job for member in web.members if member.kind is Kind.SERVICE}
    return [(node, final) for node in range(size) if node != final and node not in followed and node not in services]


def run_times(store: Store, source: str) -> dict[str, float]:
    """Seconds that jobs took by name, from earlier runs of a source (a file with its arguments), the latest first."""
    found: dict[str, float] = {}
    for run in reversed(store.history.runs()):
        if without_place(run.source) != without_place(source) or not run.attempts:
            continue
        for name, seconds in _by_name(store.history.web(run.workflow), store.history.attempts(run.workflow)).items():
            found.setdefault(name, seconds)
        if run.is_done:
            break
    return found


def _by_name(web: Web, attempts: Iterable[Attempt]) -> dict[str, float]:
    times = {job: sum(steps.values()) for job, steps in taken(attempts).items()}
    longest: dict[JobId, float] = {}  # a node's processes run side by side
    for member in web.members:
        if member.owner is not None and member.job in times:
            longest[member.owner] = max(longest.get(member.owner, 0.0), times.pop(member.job))
    for job, seconds in longest.items():
        times[job] = times.get(job, 0.0) + seconds
    return {member.name: times[member.job] for member in web.members if member.job in times}


def noted(flat: Flat, directory: str) -> Iterator[tuple[JobId, str, int | None]]:
    """What every job of a workflow runs, and the bytes of its input as far as that is there already."""
    for place, job in enumerate(flat.jobs):
        if job is not None:
            yield JobId(place), job.attributes.get("program") or program_of(job.command or ""), _input(job, directory)


def _input(job: Job, directory: str) -> int | None:
    """The size of all that a job declares to read; None if some of it is not there, or nothing is declared."""
    names = [*job.inputs, *([job.setting.stdin] if job.setting.stdin else [])]
    folder = Path(directory, job.setting.directory or ".")
    try:
        return sum((folder / name).stat().st_size for name in names) if names else None
    except OSError:
        return None


def with_history(dag: Dag, times: Mapping[str, float]) -> Dag:
    """The same graph with the run times of earlier runs; what they do not tell is as given, or as most jobs are."""
    if not times:
        return dag
    usual = sum(times.values()) / len(times)
    seconds = [
        None if milestone else times.get(name, given or usual)
        for name, milestone, given in zip(dag.names, dag.milestones, dag.seconds, strict=True)
    ]
    return dag.with_seconds(seconds)
