"""How long a job may wait in a remote queue: the paper's MonitQueue, for any policy."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def runs_out(queued: float, patience: float) -> float:
    """When a job that has been idle in a queue since `queued` is to be withdrawn; a patience of 0 has no end."""
    return queued + patience if patience > 0.0 else inf


def elsewhere(candidates: Sequence[int], site: int) -> list[int]:
    """Where a job may go that is withdrawn from a site: not there at once. Nowhere: it stays where it is."""
    return [one for one in candidates if one != site]
