"""`headway logs [JOB]…`: what jobs have printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headway.cli.display.answer import print_json
from headway.cli.display.output import JobOutput
from headway.cli.display.terminal import harmless
from headway.cli.display.units import counted, exit_text
from headway.cli.options import run_options
from headway.cli.store import looked_at
from headway.live.answers.logs import STEPS, answer, meant, parts, started
from headway.model.errors import NotFoundError, UsageError, shown

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Attempt, Run
    from headway.model.messages import JobId
    from headway.model.states import Step


@click.command("logs", short_help="What jobs have printed.")
@click.argument("jobs", metavar="[JOB]...", nargs=-1)
@run_options
@click.option("--attempt", "number", metavar="N", type=click.IntRange(min=1), help="Which attempt; else the last.")
@click.option("--step", type=click.Choice(list(STEPS)), help="pre, post: what a DAGMan node's script has printed.")
@click.option("-f", "--follow", is_flag=True, help="As it comes, through retries, until the job is done or failed.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(
    jobs: tuple[str, ...],
    store: str | None,
    workflow: str | None,
    number: int | None,
    step: str | None,
    follow: bool,
    as_json: bool,
) -> None:
    """Print the output of the last attempt at jobs, also while they run; without JOB, of all that were begun.

    \b
      headway logs align-7
      headway logs align-7 --attempt 1
      headway logs align-7 -f
    """
    from headway.live.home.store_location import home_of
    from headway.live.runs.expected_times import chosen_run, place_of

    home, database = looked_at(store)
    run = chosen_run(database, workflow, home)
    home = home_of(home, store, database, run.workflow)
    if home is None:
        raise NotFoundError(
            "its logs are not found from here.",
            "They are on the computer where it was run (headway history tells which); if a job of another run ran it,"
            " with those of that run.",
        )
    wanted = None if step is None else STEPS[step]
    if follow and (as_json or len(jobs) != 1):
        raise UsageError("one job can be followed, and not in JSON.", "Name it: headway logs JOB -f.")
    places = [(job, place_of(database, run, job)) for job in jobs] if jobs else started(database, run)
    if as_json:
        print_json(answer(home, database, run, places, number, wanted))
        return
    for job, place in places:
        found = parts(database, run, job, place, number, wanted)
        if follow and found != [(job, place)]:
            raise UsageError(f"{shown(job)} has {len(found)} processes.", f"Follow one: {shown(found[0][0])}.")
        if follow and number is None and step is None:
            from headway.live.answers.outputs import follow as followed

            with JobOutput() as out:
                last = followed(home, database, run, place, out.write, _talk)
            if last is not None:
                _tell_end(database, run, place)
            continue
        for name, part in found:
            if len(places) > 1 or found != [(job, place)]:
                _talk(f"{name}:")
            _show(home, database, run, part, number, wanted, follow)


def _show(
    home: Home, store: Store, run: Run, job: JobId, number: int | None, step: Step | None, follow: bool = False
) -> None:
    from headway.live.answers.outputs import Output, follow_attempt

    attempts = store.history.attempts(run.workflow, job)
    attempt = meant(attempts, number, step)
    if attempt is None:
        _talk("it has not run yet.")
        return
    with JobOutput() as out:
        if follow:
            printed = follow_attempt(home, store, run, attempt, out.write, _talk)
        else:
            output = Output.of(home, store, run, attempt)
            output.pass_on(attempt.ended is not None, out.write, _talk)
            printed = output.printed
            output.close()
    if not printed:
        _talk(_nothing(attempt))
    last = attempts[-1]
    if attempt is not last and number is None and step is None and last.outcome == "failed":
        _talk(f"its {last.step.name} script failed: --step {last.step.name.lower()} shows what that printed.")


def _nothing(attempt: Attempt) -> str:
    """Why there is nothing to show."""
    if attempt.outcome == "running":
        return f"it has printed nothing yet (attempt {attempt.number})."
    if attempt.outcome == "given back":
        return f"there is nothing of attempt {attempt.number}: {attempt.reason or 'it was given back'}."
    return f"it printed nothing (attempt {attempt.number}, exit code {exit_text(attempt.exit_code)})."


def _tell_end(store: Store, run: Run, job: JobId) -> None:
    attempts = store.history.attempts(run.workflow, job)
    last = attempts[-1]
    if last.ended is not None:
        end = last.outcome if last.outcome != "failed" else f"failed ({exit_text(last.exit_code)})"
        _talk(f"{end} after {counted(len(attempts), 'attempt')}.")


def _talk(text: str) -> None:
    click.echo(harmless(text), err=True)
