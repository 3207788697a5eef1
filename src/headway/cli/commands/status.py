"""`headway status [GROUP]`: how far it is, and what runs."""

from __future__ import annotations

import click

from headway.cli.display.status import MOST, show
from headway.cli.options import store_options


@click.command("status", short_help="How far it is: groups, counts, running jobs.")
@click.argument("group", required=False)
@store_options
@click.option("--all", "show_all", is_flag=True, help=f"Every group, not just the first {MOST}.")
@click.option("--watch", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Again and again, until Ctrl-C.")
def command(
    group: str | None,
    place: str | None,
    wanted: str | None,
    as_json: bool,
    show_all: bool,
    watch: float | None,
) -> None:
    """Show how far a workflow is: its groups with their states and counts, and the jobs that run now.

    With GROUP, the groups and jobs right below it. A job says how it is itself with mqstatus.

    \b
      headway status
      headway status VS_2_1
      headway status --watch 5
    """
    show(group, place, wanted, as_json, show_all, watch)
