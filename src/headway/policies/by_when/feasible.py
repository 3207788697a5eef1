"""Whether a deadline can be met, told before anything starts, and an order by latest starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.model.quantities import duration
from headway.model.record import record


@record
class Outlook:
    """What the expected run times say of a deadline."""

    possible: bool  # with processors without end
    minimal: float  # seconds that the longest path takes
    expected: float | None  # seconds on so many slots; None where nobody asked
    slack: float  # seconds to spare after the greater of both; less than 0: missing
    unknown: int  # jobs that tell no run time, and count as nothing


def outlook(dag: Dag, seconds: float, expected: float | None = None) -> Outlook:
    """What can be said of a deadline so many seconds from now; `expected`: what a play of the run has taken."""
    minimal = dag.critical_path.seconds
    slack = seconds - max(minimal, expected or 0.0)
    return Outlook(minimal <= seconds, minimal, expected, slack, dag.job_count - dag.timed)


def latest_starts(dag: Dag, seconds: float, done: Callable[[int], bool] = lambda job: False) -> list[float]:
    """When each job must begin so that all can end so many seconds from now; jobs that are done do not count."""
    latest = [seconds] * len(dag)
    for job in reversed(dag.order):
        end = min((latest[child] for child in dag.children_of(job)), default=seconds)
        latest[job] = end if done(job) else end - dag.seconds[job]
    return latest


def ranks(dag: Dag) -> Sequence[int]:
    """An order by latest starts, the same whatever the deadline is: who has least time to spare runs first."""
    latest = latest_starts(dag, 0.0)
    found = [0] * len(dag)
    for rank, job in enumerate(sorted(range(len(dag)), key=lambda job: (latest[job], job))):
        found[job] = rank
    return found


def impossible_from(dag: Dag, seconds: float, done: Callable[[int], bool]) -> float:
    """Seconds from now after which the deadline cannot be met any more, if no job that is left has begun by then."""
    starts = latest_starts(dag, seconds, done)
    return min((starts[job] for job in dag.jobs() if not done(job)), default=seconds)


def check(dag: Dag, seconds: float) -> None:
    """Refuses a deadline that no schedule can meet, and says which one could be met."""
    if dag.job_count and not dag.timed:
        raise UsageError(
            "a deadline needs run times, and no job of this workflow tells one.",
            "Give the jobs run times, or run it once without a deadline: Headway remembers them.",
        )
    if seconds <= 0:
        raise UsageError(
            "the deadline is in the past.",
            f"The longest path takes {duration(dag.critical_path.seconds)}: choose a later deadline.",
        )
    if dag.critical_path.seconds > seconds:
        raise UsageError(
            f"the deadline is {duration(seconds)} away, and the longest path alone takes"
            f" {duration(dag.critical_path.seconds)}.",
            f"Choose a deadline at least {duration(dag.critical_path.seconds)} away.",
        )
