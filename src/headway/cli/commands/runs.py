"""`headway runs`: the workflows of a store."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table
from headway.cli.display.units import moment
from headway.cli.options import store_option
from headway.cli.store import looked_at
from headway.live.answers.runs import answer, listed, state
from headway.model.quantities import duration
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.store.views import Run


@click.command("runs", short_help="The workflows of a store.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(store: str | None, as_json: bool) -> None:
    """List the workflows of a store: when they were submitted, how far they are, and whether they run now."""
    home, database = looked_at(store)
    found = listed(home, store, database)
    if as_json:
        print_json(answer(found))
        return
    if found.runs:
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
        click.echo("\n".join(table((*headings, "source"), (_row(run, found.busy) for run in found.runs))))
    else:
        click.echo("no workflows: nothing was run yet.")


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
