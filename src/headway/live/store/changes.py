"""What has changed since somebody last looked, without reading every job (decisions/0013)."""

from __future__ import annotations

from headway.live.store.rows import STATES
from headway.live.store.views import Changes, JobState
from headway.model.messages import WorkflowId
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

_ALL = (0, 1 << 62)  # numbers of all workflows


def changes(database: Database, after: int | None, workflow: WorkflowId | None) -> Changes:
    """Where the next answer goes on is read first: a change that is committed between the two reads is told twice."""
    ((latest,),) = database.run("latest_change")
    first, last = _ALL if workflow is None else (workflow, workflow)
    if after is None or after > latest:  # a later number is from another store, or one that was restored from a copy
        found = database.run("standing", first=first, last=last)
    else:
        found = database.run("changes", first=first, last=last, after=after)
    jobs = [
        JobState(number, job, Kind(kind), STATES[state], bool(off), attempts, lease)
        for number, job, kind, state, off, attempts, lease in found
    ]
    return Changes(jobs, latest)
