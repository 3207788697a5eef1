"""What the workflows of one Makefile, whatever goals they were run with, have last done with its targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from headway.live.store.text import decode, encode
from headway.model.messages import LeaseId, WorkflowId
from headway.model.record import record
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.store.database import Database


@record
class Begun:
    """A job of another workflow: whether it is done, and its last attempt, if there was one."""

    done: bool
    lease: LeaseId | None


def of_file(database: Database, file: str, but: WorkflowId | None) -> list[WorkflowId]:
    """The other workflows that were read from a file, whatever their arguments."""
    sources = database.run("sources", owner=database.owner)
    found = ((number, database.paths.found_source(decode(source))) for number, source in sources)
    return [
        WorkflowId(one) for one, source in found if one != but and (source == file or source.startswith(f"{file} "))
    ]


def unfinished(database: Database, workflows: Iterable[WorkflowId]) -> list[dict[str, Begun]]:
    """The jobs by name of each of these workflows that has begun something and is not done."""
    found: dict[int, dict[str, Begun]] = {}
    for workflow, name, state, lease in database.run("unfinished", workflows=database.array(list(workflows))):
        found.setdefault(workflow, {})[decode(name)] = Begun(state == State.DONE, lease)
    return list(found.values())


def last_attempts(database: Database, workflows: Iterable[WorkflowId], names: Iterable[str]) -> Mapping[str, LeaseId]:
    """The last attempt at jobs of these names, in whichever of the workflows."""
    wanted = database.array([encode(name) for name in names])
    found = database.run("last_attempts", workflows=database.array(list(workflows)), names=wanted)
    return {decode(name): LeaseId(lease) for name, lease in found}


def being_made(database: Database, workflows: Iterable[WorkflowId]) -> dict[str, WorkflowId]:
    """The jobs of these workflows that run now, by name."""
    rows = database.run("unfinished", workflows=database.array(list(workflows)))
    return {decode(name): WorkflowId(workflow) for workflow, name, state, _ in rows if state == State.RUNNING}
