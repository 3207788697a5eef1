"""The answer of `headway clean`: what was removed, or would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.live.home.cleaning import Plan


def answer(found: Plan, dry_run: bool, freed: int) -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "removed": [{"workflow": run.workflow, "name": run.name, "source": run.source} for run in found.runs],
        "logs": [str(one.path) for one in found.litter],
        "running": [run.workflow for run in found.running],
        "dry_run": dry_run,
        "bytes": freed,
    }
