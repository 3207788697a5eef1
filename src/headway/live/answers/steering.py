"""The answers of `headway enable`, `disable`, `stop`, `done`, `redo` and `cancel`: what they have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.live.client.services import Outcome
    from headway.model.messages import WorkflowId


def answer(outcome: Outcome) -> dict[str, Any]:
    """Of groups that were steered."""
    return {"changed": list(outcome.changed), "stopping": outcome.stopping}


def cancelled(workflow: WorkflowId) -> dict[str, Any]:
    """Of a workflow that was stopped."""
    return {"workflow": workflow, "cancelled": True}
