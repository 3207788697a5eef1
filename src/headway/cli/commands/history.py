"""`headway history`: every attempt, as a table, as JSON, or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table, without_local
from headway.cli.display.units import amount, counted, exit_text, moment
from headway.cli.options import run_options
from headway.cli.store import looked_at
from headway.live.answers.history import STEPS, answer, begun
from headway.model.quantities import duration
from headway.model.states import Step

if TYPE_CHECKING:
    from headway.live.store.views import Attempt


@click.command("history", short_help="Every attempt at a workflow's jobs.")
@click.argument("jobs", metavar="[JOB]...", nargs=-1)
@run_options
@click.option("--failed", is_flag=True, help="Only attempts that failed.")
@click.option(
    "--gantt",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Draw who ran when, and how many ran at once beside the minimal schedule, to FILE.svg, .png or .pdf.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(
    jobs: tuple[str, ...], store: str | None, workflow: str | None, failed: bool, gantt: str | None, as_json: bool
) -> None:
    """Show every attempt at the jobs of a workflow, the newest last: where it ran, how long, how it ended.

    JOB is a name, or a pattern with * and ?.

    \b
      headway history
      headway history 'align*' --failed
      headway history --gantt run.svg
    """
    from headway.live.runs.expected_times import chosen_run

    if gantt is not None:
        from headway.cli.display.gantt import checked

        checked(gantt)  # before anything is printed
    home, database = looked_at(store)
    run = chosen_run(database, workflow, home)
    attempts = begun(home, store, database, run, jobs)
    if gantt is not None:
        from headway.cli.display.gantt import draw

        draw(gantt, run.name, database.history.web(run.workflow), attempts)
    attempts = [one for one in attempts if one.outcome == "failed"] if failed else attempts
    if as_json:
        print_json(answer(run, attempts))
        return
    if attempts:
        headings = ("started", "job", ">try", "site", "host", ">took", ">CPU", ">memory", "ended")
        click.echo("\n".join(table(*without_local(headings, map(_row, attempts)))))
        click.echo()
    click.echo(_totals(attempts))
    if gantt is not None:
        click.echo(f"drawn: {gantt}", err=True)


def _row(attempt: Attempt) -> tuple[str, ...]:
    name = attempt.name if attempt.step is Step.MAIN else f"{attempt.name} ({STEPS[attempt.step]})"
    began = attempt.started is not None and attempt.ended is not None and not attempt.is_lost
    return (
        moment(attempt.started) or ("not known" if attempt.is_lost else "not started"),
        name,
        str(attempt.number),
        attempt.site,
        attempt.host,
        "" if attempt.seconds is None else duration(attempt.seconds),
        duration(attempt.cpu_seconds) if began and attempt.cpu_seconds is not None else "",
        amount(attempt.max_rss) if began and attempt.max_rss else "",
        _end(attempt),
    )


def _end(attempt: Attempt) -> str:
    """How it ended, and why where that is known."""
    if attempt.outcome == "running":
        return f"running: {attempt.status}" if attempt.status else "running"
    words = f"failed ({exit_text(attempt.exit_code)})" if attempt.outcome == "failed" else attempt.outcome
    why = attempt.reason if attempt.reason != words else None
    return f"{words}: {why}" if why else words


def _totals(attempts: Sequence[Attempt]) -> str:
    """One line on all of them."""
    if not attempts:
        return "no attempts."
    ends = dict.fromkeys(("done", "failed", "given back", "running"), 0)
    for attempt in attempts:
        ends[attempt.outcome] += 1
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in ends.items() if count)
    work = sum(attempt.seconds or 0.0 for attempt in attempts)
    processor = sum(attempt.cpu_seconds or 0.0 for attempt in attempts)
    most = max((attempt.max_rss or 0 for attempt in attempts), default=0)
    jobs = counted(len({attempt.job for attempt in attempts}), "job")
    begun = [attempt.started for attempt in attempts if attempt.started is not None]
    over = [attempt.ended for attempt in attempts if attempt.ended is not None]
    wall = f" in {duration(max(over) - min(begun))}" if begun and over else ""
    memory = f", at most {amount(most)} of memory" if most else ""  # scripts do not know it
    return (
        f"{counted(len(attempts), 'attempt')} at {jobs}: {told}; "
        f"{duration(work)} of work{wall}, {duration(processor)} of CPU{memory}."
    )
