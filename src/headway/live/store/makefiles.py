"""What the workflows of one Makefile, whatever goals they were run with, have last done with its targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from headway.live.store.text import kept, said
from headway.model.messages import LeaseId, WorkflowId
from headway.model.record import record
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.store.claims import Claims


@record
class Begun:
    """A job of another workflow: whether it is done, and its last attempt, if there was one."""

    done: bool
    lease: LeaseId | None


def of_file(store: Claims, file: str, but: WorkflowId | None) -> list[WorkflowId]:
    """The other workflows that were read from a file, whatever their arguments."""
    found = (
        (number, store._paths.found_source(said(source))) for number, source in store._run("sources", owner=store.owner)
    )
    return [
        WorkflowId(one) for one, source in found if one != but and (source == file or source.startswith(f"{file} "))
    ]


def unfinished(store: Claims, workflows: Iterable[WorkflowId]) -> list[dict[str, Begun]]:
    """The jobs by name of each of these workflows that has begun something and is not done."""
    found: dict[int, dict[str, Begun]] = {}
    for workflow, name, state, lease in store._run("unfinished", workflows=store._list(list(workflows))):
        found.setdefault(workflow, {})[said(name)] = Begun(state == State.DONE, lease)
    return list(found.values())


def last_attempts(store: Claims, workflows: Iterable[WorkflowId], names: Iterable[str]) -> Mapping[str, LeaseId]:
    """The last attempt at jobs of these names, in whichever of the workflows."""
    wanted = store._list([kept(name) for name in names])
    found = store._run("last_attempts", workflows=store._list(list(workflows)), names=wanted)
    return {said(name): LeaseId(lease) for name, lease in found}


def being_made(store: Claims, workflows: Iterable[WorkflowId]) -> dict[str, WorkflowId]:
    """The jobs of these workflows that run now, by name."""
    rows = store._run("unfinished", workflows=store._list(list(workflows)))
    return {said(name): WorkflowId(workflow) for workflow, name, state, _ in rows if state == State.RUNNING}
