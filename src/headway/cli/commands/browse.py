"""`headway browse`: the groups of a workflow, full-screen."""

from __future__ import annotations

import click

from headway.cli.options import run_options


@click.command("browse", short_help="Look through the groups of a workflow, and change how they stand.")
@run_options
@click.option(
    "--plain", is_flag=True, help="A menu of numbers instead, as in the paper; also where input is no terminal."
)
def command(store: str | None, workflow: str | None, plain: bool) -> None:
    """Look through the groups of a workflow while it runs, and change how they stand: TrellisDAG's mqdump.

    It follows what happens. Its keys are at the bottom; arrows move, and the numbers of the paper's menu work as well.
    Groups are steered as by headway enable, disable, redo --only (not started), done and stop.

    \b
      headway browse
      headway browse --store results/.headway
    """
    from headway.cli.commands.mqdump import browse_groups

    browse_groups(store, workflow, plain)
