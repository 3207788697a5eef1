"""Whether a deadline can be met, told before anything starts, and when each job must begin for that."""

from __future__ import annotations

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.model.quantities import duration


def latest_starts(dag: Dag, seconds: float) -> list[float]:
    """When each job must begin so that all can end so many seconds from now.

    As an order it is that of `what_next.critical_path`, whatever the deadline is.
    """
    latest = [seconds] * len(dag)
    for job in reversed(dag.order):
        end = min((latest[child] for child in dag.children_of(job)), default=seconds)
        latest[job] = end - dag.seconds[job]
    return latest


def check(dag: Dag, seconds: float) -> None:
    """Refuses a deadline that no schedule can meet, and says which one could be met, as far as run times tell it."""
    longest = dag.critical_path.seconds if dag.timed else 0.0
    enough = f"Choose a deadline at least {duration(longest)} away." if longest else "Choose a later one."
    if seconds <= 0:
        raise UsageError("the deadline is in the past.", enough)
    if longest > seconds:
        raise UsageError(
            f"the deadline is {duration(seconds)} away, and the longest path alone takes {duration(longest)}.", enough
        )
