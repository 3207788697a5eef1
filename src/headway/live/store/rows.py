"""Rows of a database as the rules see them."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.progress import Node, Row
from headway.live.store.text import decode
from headway.model.errors import HeadwayError
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.states import State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.database import Database

STATES = tuple(State)
ELIGIBLE, RUNNING = int(State.ELIGIBLE), int(State.RUNNING)


class MovedError(HeadwayError):
    """Somebody else changed rows meanwhile, so that more are touched than are locked: do the transaction again."""

    def __init__(self) -> None:
        super().__init__("somebody else has just changed the store.", "Try again.")


def row(values: Sequence[Any]) -> Row:
    """A row as the rules see it; a lease counts only while its job runs."""
    workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off = values
    return Row(
        workflow,
        job,
        STATES[state],
        waiting_for,
        tries,
        retries,
        kind,
        lease if state == RUNNING else None,
        arrival,
        off,
        lease if state == ELIGIBLE else None,
    )


def node(values: Sequence[Any]) -> Node:
    """What a job has beyond its row."""
    from headway.live.store.rules import read

    step, rules, result, pre_result, not_before, parts, parts_left, parts_failed, owner, late = values
    return Node(read(rules), Step(step), result, pre_result, not_before, parts, parts_left, parts_failed, owner, late)


def node_of(database: Database, workflow: WorkflowId, job: JobId) -> Node:
    """The same, read from a database."""
    return node(database.run("node", workflow=workflow, job=job)[0])


def good(database: Database, found: Row, lease: LeaseId, counts: object) -> Row | None:
    """The job of a lease if the lease is good: it runs, or its end is still to come and would count."""
    if found.lease == lease:
        return found
    if not counts or found.state is not State.ELIGIBLE or database.run("is_followed", workflow=found.workflow):
        return None
    found.lease = lease
    return found


def names(database: Database, workflow: WorkflowId) -> dict[JobId, str]:
    """The names of a workflow's jobs."""
    return {JobId(job): decode(name) for job, name in database.run("names", workflow=workflow)}
