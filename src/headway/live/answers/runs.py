"""The answer of `headway runs`: the workflows of a store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from headway.model.errors import HeadwayError
from headway.model.messages import Seconds, WorkflowId
from headway.model.record import record
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Run


@record
class Runs:
    """The workflows of a store, those of them that run now, and whether somebody is there to run jobs."""

    runs: Sequence[Run]
    busy: Collection[WorkflowId]
    is_served: bool


def listed(home: Home | None, place: str | None, store: Store) -> Runs:
    """All that there are. A job that its runner has not begun is eligible."""
    from headway.live.client.asking import is_served, prefetched
    from headway.live.home.store_location import home_of

    runs, now = store.history.runs(), store.clock()
    homes = [home_of(home, place, store, run.workflow) for run in runs if run.held]
    ahead = prefetched({one.folder: one for one in homes if one is not None}.values(), store.is_shared)
    runs = [run.without(ahead.count(run.held)) for run in runs]
    return Runs(runs, _busy(home, store, runs, now), is_served(home, store, now))


def _busy(home: Home | None, store: Store, runs: Sequence[Run], now: Seconds) -> Collection[WorkflowId]:
    """Those that somebody runs; where the runner hangs, those whose jobs are given out."""
    from headway.live.client.asking import GLANCE
    from headway.live.home.cleaning import running

    try:
        return running(home, store, runs, now, GLANCE)
    except HeadwayError:
        return {run.workflow for run in runs if run.leases}


def state(run: Run, busy: Collection[int]) -> str:
    """running, ended (all jobs done), failed, halted (by one of its jobs), or stopped: it could go on."""
    if run.workflow in busy:
        return "running"
    if run.is_done:
        return "ended"
    if run.halted:
        return "halted"
    return "stopped" if run.is_under_way else "failed"


def answer(found: Runs) -> dict[str, Any]:
    """As docs/json.md says."""
    return {"runner": found.is_served, "workflows": [_run(run, found.busy) for run in found.runs]}


def _run(run: Run, busy: Collection[int]) -> dict[str, Any]:
    return {
        "workflow": run.workflow,
        "name": run.name,
        "source": run.source,
        "directory": run.directory,
        "submitted": run.submitted,
        "order": run.what_next,
        "state": state(run, busy),
        "jobs": run.jobs,
        **{one.name.lower(): run.count(one) for one in State},
        "attempts": run.attempts,
        "started": run.started,
        "ended": run.ended,
    }
