"""The answer of `headway status`: how far everything is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.engine.groups import WORDS, worded

if TYPE_CHECKING:
    from headway.live.client.services import Status


def answer(found: Status) -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "workflow": found.workflow.id,
        "workflows": [
            {"id": one.id, "name": one.name, "source": one.source, "submitted": one.submitted, **worded(counts)}
            for one, counts in found.workflows
        ],
        "groups": [
            {"path": group.path, "state": WORDS[group.state], "counts": worded(group.counts)} for group in found.groups
        ],
        "running": [
            {
                "job": job.name,
                "workflow": job.workflow,
                "attempt": job.attempt,
                "command": job.command,
                "host": job.host,
                "site": "local",
                "started": job.started,
                "status": job.status,
            }
            for job in found.running
        ],
        "in_doubt": [{"job": name, "because": because} for name, because in found.premature_starts],
    }
