"""What `headway submit` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.live.runs.handing_in import HandedIn


def answer(found: HandedIn, store: str) -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "workflow": found.workflow,
        "jobs": found.jobs,
        "done": found.done,
        "store": store,
        "warnings": list(found.warnings),
    }
