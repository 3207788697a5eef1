"""`headway runs`: the workflows of a store."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table
from headway.cli.display.units import moment
from headway.cli.options import store_option
from headway.cli.store import looked_at
from headway.model.quantities import duration
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.store.views import Run


@click.command("runs", short_help="The workflows of a store.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(store: str | None, as_json: bool) -> None:
    """List the workflows of a store: when they were submitted, how far they are, and whether they run now."""
    from headway.live.client.asking import at_hand, is_served
    from headway.live.home.cleaning import running
    from headway.live.home.store_location import home_of

    home, database = looked_at(store)
    runs, now = database.history.runs(), database.clock()
    homes = [home_of(home, store, database, run.workflow) for run in runs if run.held]
    ahead = at_hand({one.folder: one for one in homes if one is not None}.values(), database.is_shared)
    runs = [run.without(ahead.count(run.held)) for run in runs]
    busy = running(home, database, runs, now)
    there = is_served(home, database, now)
    if as_json:
        print_json({"runner": there, "workflows": [_answer(run, busy) for run in runs]})
        return
    if runs:
        headings = (
            ">no.",
            "name",
            "submitted",
            "order",
            ">jobs",
            ">done",
            ">failed",
            ">running",
            ">left",
            ">took",
            "state",
        )
        click.echo("\n".join(table((*headings, "source"), (_row(run, busy) for run in runs))))
    else:
        click.echo("no workflows: nothing was run yet.")


def state(run: Run, busy: Collection[int]) -> str:
    """running, ended (all jobs done), failed, halted (by one of its jobs), or stopped: it could go on."""
    if run.workflow in busy:
        return "running"
    if run.is_done:
        return "ended"
    if run.halted:
        return "halted"
    return "stopped" if run.is_under_way else "failed"


def _answer(run: Run, busy: Collection[int]) -> dict[str, Any]:
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


def _row(run: Run, busy: Collection[int]) -> tuple[str, ...]:
    done, failed, held = run.count(State.DONE), run.count(State.FAILED), run.count(State.RUNNING)
    left = run.jobs - done - failed - held
    took = run.ended - run.started if run.started is not None and run.ended is not None else None
    counts = [f"{count:,}" for count in (run.jobs, done, failed, held, left)]
    return (
        str(run.workflow),
        run.name,
        moment(run.submitted),
        run.what_next,
        *counts,
        "" if took is None else duration(took),
        state(run, busy),
        run.source,
    )
