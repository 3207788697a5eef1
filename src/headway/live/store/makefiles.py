"""What the workflows of one Makefile, whatever goals they were run with, have last done with its targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from headway.live.store.text import decode, encode
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
    sources = store._run("sources", owner=store.owner)
    found = ((number, store._paths.found_source(decode(source))) for number, source in sources)
    return [
        WorkflowId(one) for one, source in found if one != but and (source == file or source.startswith(f"{file} "))
    ]


def unfinished(store: Claims, workflows: Iterable[WorkflowId]) -> list[dict[str, Begun]]:
    """The jobs by name of each of these workflows that has begun something and is not done."""
    found: dict[int, dict[str, Begun]] = {}
    for workflow, name, state, lease in store._run("unfinished", workflows=store._list(list(workflows))):
        found.setdefault(workflow, {})[decode(name)] = Begun(state == State.DONE, lease)
    return list(found.values())


def last_attempts(store: Claims, workflows: Iterable[WorkflowId], names: Iterable[str]) -> Mapping[str, LeaseId]:
    """The last attempt at jobs of these names, in whichever of the workflows."""
    wanted = store._list([encode(name) for name in names])
    found = store._run("last_attempts", workflows=store._list(list(workflows)), names=wanted)
    return {decode(name): LeaseId(lease) for name, lease in found}
