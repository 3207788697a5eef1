"""`headway explain JOB`: why it is not running."""

from __future__ import annotations

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import one_line
from headway.cli.options import store_options
from headway.cli.store import looked_at


@click.command("explain", short_help="Why a job is not running.")
@click.argument("job")
@store_options
def command(job: str, place: str | None, wanted: str | None, as_json: bool) -> None:
    """Say why a job is not running: what it waits for, who holds what it wants, how it failed.

    \b
      headway explain 0120
    """
    from headway.live.answers.explain import answer
    from headway.live.answers.which import chosen
    from headway.live.client.services import explained
    from headway.live.home.store_location import home_of

    home, store = looked_at(place)
    workflow = chosen(store, wanted, home)
    state, because = explained(store, home_of(home, place, store, workflow.id), workflow, job)
    if as_json:
        print_json(answer(job, state, because))
    else:
        click.echo(f"{one_line(job)}: {state}")
        for sentence in because:
            click.echo(f"  {sentence}")
