"""`headway clean`: removes what is no longer needed from a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table
from headway.cli.display.units import amount, counted, moment
from headway.cli.options import WHICH, store_option
from headway.live.answers.clean import answer
from headway.live.answers.runs import state
from headway.model.errors import UsageError
from headway.model.quantities import seconds

if TYPE_CHECKING:
    from headway.live.home.cleaning import Plan, Wish


@click.command("clean", short_help="Remove finished workflows and their logs.")
@store_option
@click.option("--workflow", "workflows", metavar=WHICH, multiple=True, help="Only these, whatever their state.")
@click.option("--older-than", metavar="AGE", help="Only what nothing has happened to for that long: 30d, 12h.")
@click.option("--logs", "only_logs", is_flag=True, help="Only logs; what is known of jobs and attempts stays.")
@click.option("--all", "everything", is_flag=True, help="Also workflows that failed or were stopped.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(
    store: str | None,
    workflows: tuple[str, ...],
    older_than: str | None,
    only_logs: bool,
    everything: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove what is no longer needed: workflows whose jobs are all done, or that a later run of the same file has
    replaced, with their logs and history. What runs now always stays.

    A workflow that was removed starts from the beginning when it is run again.

    \b
      headway clean --dry-run
      headway clean --older-than 30d
      headway clean --logs --all
    """
    from headway.live.answers.which import chosen
    from headway.live.home.cleaning import Wish, carry_out, plan
    from headway.live.home.store_location import found_store

    home, database = found_store(store)
    now = database.clock()
    before = None if older_than is None else now - _age(older_than)
    wanted = frozenset(chosen(database, one, home).id for one in workflows)
    wish = Wish(wanted, everything, before, only_logs)
    found = plan(home, database, wish, now)
    if not as_json:
        _show(found, wish)
    freed = 0
    if found and not dry_run:
        if not yes and not _is_wanted(as_json):
            click.echo("nothing was removed.", err=True)
            return 1
        freed = carry_out(home, database, found, wish, now)
    if as_json:
        print_json(answer(found, dry_run, freed))
    elif freed:
        click.echo(f"{amount(freed)} are free again.", err=True)
    return 0


def _age(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise UsageError(f"--older-than {text!r} is no age.", f"Give {error}.") from None


def _show(found: Plan, wish: Wish) -> None:
    """What will be removed, for people."""
    for run in found.running:
        click.echo(f"kept: workflow {run.workflow} ({run.name}) is running.", err=True)
    if not found:
        click.echo("nothing to remove.")
        return
    if found.runs:
        rows = [
            (str(run.workflow), run.name, moment(run.last_sign), f"{run.jobs:,}", f"{run.attempts:,}", state(run, ()))
            for run in found.runs
        ]
        headings = (">no.", "name", "last sign of life", ">jobs", ">attempts", "state")
        click.echo("\n".join(table(headings, rows)))
    what = "logs" if wish.only_logs else counted(len(found.runs), "workflow")
    click.echo(f"to be removed: {what}, {amount(found.size)} in {counted(len(found.litter), 'folder')} of logs.")


def _is_wanted(as_json: bool) -> bool:
    """Asks the user."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("nothing was removed: nobody can be asked here.", "Say --yes, or --dry-run to see only.")
    return click.confirm("Remove it?")
