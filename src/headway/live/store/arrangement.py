"""Tells a store what a run is about: which jobs run again, which count as done, and which are left out."""

from __future__ import annotations

from headway.engine.arrangement import Place, Waits, arranged, arrives
from headway.engine.plan import Known, Plan
from headway.live.store.rows import STATES
from headway.live.store.text import decode
from headway.model.errors import UsageError
from headway.model.flatten import Flat
from headway.model.messages import WorkflowId
from headway.model.record import record
from headway.model.states import Needs, Off, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database


def known(database: Database, workflow: WorkflowId) -> dict[int, Known]:
    """How far earlier runs have got with each job."""
    return {
        job: Known(STATES[state], attempts > 0, bool(off & Off.BY_USER))
        for job, state, _, off, attempts in database.run("places", workflow=workflow)
    }


@record
class Made:
    """What a job was, and how far it came."""

    definition: str
    done: bool = False
    begun: bool = False  # it was started at least once


def made(database: Database, workflow: WorkflowId) -> dict[str, Made]:
    """The jobs of a workflow by name."""
    from headway.live.store.submission import definition

    return {
        decode(name): Made(definition(spec, rules), state == State.DONE, attempts > 0)
        for name, state, attempts, spec, rules in database.run("made", workflow=workflow)
    }


def earlier(database: Database, workflow: WorkflowId) -> list[WorkflowId]:
    """The workflows of the same file and arguments before one, the latest first."""
    return [WorkflowId(number) for (number,) in database.run("earlier", workflow=workflow)]


def last_starts(database: Database, workflow: WorkflowId) -> dict[int, float]:
    """When each job that was ever started was last started."""
    return dict(database.run("last_starts", workflow=workflow))


def arrange(database: Database, workflow: WorkflowId, flat: Flat, plan: Plan | None) -> None:
    """Makes a store ready for a run as planned; None: for one of everything."""
    with database.transaction():
        rows = database.run("places_locked", workflow=workflow)
        places = {job: Place(STATES[state], waiting, off, attempts) for job, state, waiting, off, attempts in rows}
        if len(places) > len(flat.dag):
            raise UsageError(
                "jobs were added to this workflow with mqsub, so that it can be run only as a whole.",
                "Leave out --until, --from and -B; or run it with --fresh, without what was added.",
            )
        changed = sorted(arranged(flat, places, _waits(database, workflow, flat), plan).items())
        ((arrivals,),) = database.run("arrivals", workflow=workflow)
        for job, place in changed:
            is_new = arrives(places[job], place)
            arrivals += is_new
            anew = plan is not None and job in plan.anew and places[job].state in (State.DONE, State.FAILED)
            database.run(
                "arrange",
                workflow=workflow,
                job=job,
                state=int(place.state),
                waiting_for=place.waiting_for,
                off=place.off,
                arrival=arrivals if is_new else None,
                anew=int(anew),
            )
            if anew:
                database.run("reset_node", workflow=workflow, job=job)
                database.run("forget_job_doubts", workflow=workflow, job=job)
                database.run("unspend", workflow=workflow, parent=job)
        database.run("keep_arrivals", workflow=workflow, arrivals=arrivals)
        database.news.tell(workflow)


def _waits(database: Database, workflow: WorkflowId, flat: Flat) -> Waits:
    size = len(flat.dag)
    counted, beside = set(), dict[int, int]()
    for parent, child, needs, state in database.run("odd_arcs", workflow=workflow, size=size):
        if parent < size:
            counted.add((parent, child))
        elif needs < Needs.END_MET and state != State.DONE:
            beside[child] = beside.get(child, 0) + 1
    return Waits(counted, beside)
