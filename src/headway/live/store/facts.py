"""All that tells why a job does not run."""

from __future__ import annotations

from headway.engine.explain import Awaited, Facts, LastAttempt
from headway.engine.ready import PLAIN
from headway.live.store.giving import traits
from headway.live.store.places import reached
from headway.live.store.progress import Progress
from headway.live.store.rows import STATES
from headway.live.store.text import decode
from headway.model.errors import NotFoundError
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind, Off, State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database


def facts(database: Database, workflow: WorkflowId, job: JobId, is_served: bool) -> Facts:
    """All that tells why a job does not run."""
    found = database.run("job_facts", workflow=workflow, job=job)
    if not found:
        raise NotFoundError(f"workflow {workflow} has no job {job}.")
    name, state, off, kind, tries, retries, cores, lane, rank, arrival, later, parts, left, halted = found[0]
    waits, may_run = state == State.WAITING, state == State.ELIGIBLE
    ahead = database.run("ahead", workflow=workflow, rank=rank, arrival=arrival, job=job) if may_run else [(0,)]
    in_lane = database.run("in_lane", workflow=workflow, lane=lane) if may_run and lane else []
    return Facts(
        decode(name),
        STATES[state],
        bool(off & Off.BY_USER),
        Kind(kind),
        _awaited(database, workflow, job) if waits else [],
        later or None,
        tries,
        retries,
        cores,
        traits(database, workflow).lanes.get(lane, PLAIN) if lane else PLAIN,
        [decode(one) for (one,) in in_lane],
        ahead[0][0],
        Progress(database).counts(workflow).get(State.RUNNING, 0),
        is_served,
        bool(halted),
        _last_attempt(database, workflow, job),
        [decode(one) for (one,) in database.run("doubts_of", workflow=workflow, job=job)] if not waits else [],
        _bound(database, workflow, job) if may_run else None,
        (parts, left),
    )


def _bound(database: Database, workflow: WorkflowId, job: JobId) -> tuple[str, str, bool] | None:
    """The host that a job is bound to by affinity, in a store that several hosts may use."""
    if not database.is_shared:
        return None
    for host, before, is_there in database.run("bound_to", workflow=workflow, job=job):
        return decode(host), decode(before), bool(is_there)
    return None


def _awaited(database: Database, workflow: WorkflowId, job: JobId) -> list[Awaited]:
    """What a job waits for, directly or through others; milestones are looked through."""
    parents: dict[int, list[int]] = {}
    for child, parent in database.run("open_arcs", workflow=workflow):
        parents.setdefault(child, []).append(parent)
    known = {one: values for one, *values in database.run("open_jobs", workflow=workflow)}
    near = reached([job], lambda at: parents.get(at, ()) if at == job or known[at][0] == Kind.MILESTONE else ())
    far = reached(near, lambda at: parents.get(at, ()))
    return [
        Awaited(decode(name), STATES[state], bool(off), one in near)
        for one in sorted(far - {int(job)})
        for kind, name, state, off in [known[one]]
        if kind != Kind.MILESTONE
    ]


def _last_attempt(database: Database, workflow: WorkflowId, job: JobId) -> LastAttempt | None:

    for number, host, leased, ended, code, reason, status, step, stop in database.run(
        "last_attempt", workflow=workflow, job=job
    ):
        texts = decode(reason), decode(status)
        return LastAttempt(number, decode(host), leased, ended, code, *texts, Step(step), decode(stop))
    return None
