"""The job that runs last, whatever happened: how far it is, and how a workflow is ended so that it still runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.engine.outlook import is_decisive
from headway.engine.progress import Row
from headway.live.store.shared import row
from headway.live.store.text import encode
from headway.model.messages import LeaseId, WorkflowId
from headway.model.states import Halt, State

if TYPE_CHECKING:
    from headway.live.store.claims import Claims


def final_state(store: Claims, workflow: WorkflowId) -> State | None:
    final = _final(store, workflow)
    return final.state if final is not None and is_decisive(final) else None


def _final(store: Claims, workflow: WorkflowId) -> Row | None:
    final = store._traits(workflow).final
    return None if final is None else row(store._run("job", workflow=workflow, job=final)[0])


def remove(store: Claims, workflow: WorkflowId) -> list[LeaseId] | None:
    with store._transaction():
        final = _final(store, workflow)
        if final is None or final.state not in (State.WAITING, State.ELIGIBLE, State.RUNNING):
            return None
        ((halted, _),) = store._run("halted", workflow=workflow)
        if halted or final.state is State.RUNNING:  # nothing but the final job is left
            return []
        leases = [LeaseId(lease) for (lease,) in store._run("running", workflow=workflow)]
        store._run("halt", workflow=workflow, halted=int(Halt.REMOVED), returns=None)
        for lease in leases:
            store._run("stop", lease=lease, reason=encode("the DAG that this is part of was ended"))
        store._news(workflow, stops=True)
    return leases
