"""As many allocations as there is work for, each asked for again while there is more: a placeholder a host.

TrellisDAG's step 3: a placeholder that ends submits the next. Here the engine does that, which knows what is left.
"""

from __future__ import annotations

from headway.model.record import record


@record
class Standing:
    """What there is to do, and what was asked for."""

    eligible: int  # cores that eligible jobs want
    running: int  # cores that jobs use in allocations that run
    cores: int  # of each allocation
    queued: int  # allocations that wait
    granted: int  # allocations that run
    most: int  # allocations at once


def change(now: Standing) -> int:
    """How many more allocations to ask for; negative: how many of those that wait to take back."""
    wanted = min(now.most, -(-(now.eligible + now.running) // now.cores))
    missing = wanted - now.queued - now.granted
    if missing >= 0:
        return missing
    # What waits may be of use in a moment: it is taken back only when nothing is left that could begin in it.
    return -now.queued if now.eligible == 0 else 0
