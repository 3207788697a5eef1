"""The answer of `headway prio`: the priorities, and the files that they are written into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.formats.dagman.instrument import Instrumented


def answer(found: Instrumented, by: str | None, style: str | None, dry_run: bool) -> dict[str, Any]:
    """As docs/json.md says. Without an order and a style if lines were taken out."""
    return {
        "priorities": found.priorities,
        "files_changed": [change.path for change in found.changes],
        "by": by,
        "style": style,
        "dry_run": dry_run,
        "warnings": found.warnings,
    }
