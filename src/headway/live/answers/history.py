"""The answer of `headway history`: attempts at the jobs of a workflow."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from headway.model.states import Step

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Attempt, Run

STEPS = {Step.MAIN: "main", Step.PRE: "pre", Step.POST: "post"}


def answer(run: Run, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """As docs/json.md says."""
    return {"workflow": run.workflow, "name": run.name, "attempts": [_attempt(one) for one in attempts]}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "job": attempt.name,
        "attempt": attempt.number,
        "step": STEPS[attempt.step],
        "host": attempt.host,
        "site": attempt.site,
        "started": attempt.started,
        "ended": attempt.ended,
        "exit_code": attempt.exit_code,
        "max_rss": attempt.max_rss if attempt.started is not None and not attempt.is_lost else None,
        "cpu_seconds": attempt.cpu_seconds if attempt.started is not None and not attempt.is_lost else None,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "status": attempt.status,
    }


def begun(home: Home | None, place: str | None, store: Store, run: Run, jobs: Sequence[str]) -> list[Attempt]:
    """The attempts at jobs of these names or patterns, at all of them without any.

    A lease that its runner has not begun is no attempt yet.
    """
    from headway.live.client.asking import prefetched
    from headway.live.home.store_location import home_of

    attempts = _selected(store, run, jobs)
    own = home_of(home, place, store, run.workflow) if any(one.ended is None for one in attempts) else None
    ahead = prefetched([own] if own is not None else [], store.is_shared)
    return [one for one in attempts if one.ended is not None or one.lease not in ahead]


def _selected(store: Store, run: Run, jobs: Sequence[str]) -> list[Attempt]:
    from headway.live.runs.expected_times import place_of

    if not jobs:
        return store.history.attempts(run.workflow)
    patterns = [job for job in jobs if any(sign in job for sign in "*?[")]
    plain = [job for job in jobs if job not in patterns or store.history.named(run.workflow, job) is not None]
    places = {place_of(store, run, job) for job in plain}
    patterns = [job for job in patterns if job not in plain]
    return [
        one
        for one in store.history.attempts(run.workflow)
        if one.job in places or any(fnmatchcase(one.name, pattern) for pattern in patterns)
    ]
