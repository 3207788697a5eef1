"""Views of sites for tests: what a workflow has seen, told in events."""

from __future__ import annotations

from collections.abc import Sequence

from headway.policies.where import View
from headway.policies.where.seen import HISTORY, began, ended, nothing_seen, sent


def view(
    *counts: tuple[int, int],
    candidates: Sequence[int] | None = None,
    processors: Sequence[float] | None = None,
    present: Sequence[float] | None = None,
    half_life: float = HISTORY,
) -> View:
    """Sites by (submitted, ended)."""
    rows = nothing_seen(len(counts), half_life)
    for site, (submitted, well) in enumerate(counts):
        for _ in range(submitted):
            sent(rows, site)
        for _ in range(well):
            began(rows, site, 0.0)
            ended(rows, site)
    size = len(counts)
    return View(
        list(range(size)) if candidates is None else candidates,
        rows,
        [1.0] * size if processors is None else processors,
        [0.0] * size if present is None else present,
    )
