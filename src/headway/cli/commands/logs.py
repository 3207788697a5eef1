"""`headway logs [JOB]…`: what jobs have printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.output import JobOutput
from headway.cli.display.terminal import harmless
from headway.cli.display.units import counted, exit_text
from headway.cli.options import run_options
from headway.cli.store import looked_at
from headway.model.errors import NotFoundError, UsageError, shown
from headway.model.states import Kind, Step

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Attempt, Member, Run
    from headway.model.messages import JobId

_STEPS = {"main": Step.MAIN, "pre": Step.PRE, "post": Step.POST}


@click.command("logs", short_help="What jobs have printed.")
@click.argument("jobs", metavar="[JOB]...", nargs=-1)
@run_options
@click.option("--attempt", "number", metavar="N", type=click.IntRange(min=1), help="Which attempt; else the last.")
@click.option("--step", type=click.Choice(list(_STEPS)), help="pre, post: what a DAGMan node's script has printed.")
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
    wanted = None if step is None else _STEPS[step]
    if follow and (as_json or len(jobs) != 1):
        raise UsageError("one job can be followed, and not in JSON.", "Name it: headway logs JOB -f.")
    places = [(job, place_of(database, run, job)) for job in jobs] if jobs else _begun(database, run)
    if as_json:
        found = [
            _answer(home, database, run, *one, number, wanted)
            for name, place in places
            for one in _apart(database, run, name, place, number, wanted)
        ]
        print_json({"workflow": run.workflow, "name": run.name, "logs": found})
        return
    for job, place in places:
        parts = _apart(database, run, job, place, number, wanted)
        if follow and parts != [(job, place)]:
            raise UsageError(f"{shown(job)} has {len(parts)} processes.", f"Follow one: {shown(parts[0][0])}.")
        if follow and number is None and step is None:
            from headway.live.answers.logs import follow as followed

            with JobOutput() as out:
                last = followed(home, database, run, place, out.write, _talk)
            if last is not None:
                _tell_end(database, run, place)
            continue
        for name, part in parts:
            if len(places) > 1 or parts != [(job, place)]:
                _talk(f"{name}:")
            _show(home, database, run, part, number, wanted, follow)


def _begun(store: Store, run: Run) -> list[tuple[str, JobId]]:
    """The jobs that were ever started, each where it first was."""
    return list(
        {
            one.name: (one.name, one.job) for one in store.history.attempts(run.workflow) if one.step is Step.MAIN
        }.values()
    )


def _apart(
    store: Store, run: Run, name: str, job: JobId, number: int | None, step: Step | None
) -> list[tuple[str, JobId]]:
    """The processes of a node, if `queue` made several and no attempt of the node itself is meant; else the job."""
    parts = _processes(store, run, job) if step is None and number is None else []
    return [(part.name, part.job) for part in parts] or [(name, job)]


def _answer(
    home: Home, store: Store, run: Run, name: str, job: JobId, number: int | None, step: Step | None
) -> dict[str, Any]:
    """What one attempt has printed, as docs/json.md says."""
    from headway.live.answers.logs import Output

    attempt = _attempt(store.history.attempts(run.workflow, job), number, step)
    if attempt is None:
        nothing = dict.fromkeys(("attempt", "step", "exit_code", "site", "path"))
        return {"job": name, **nothing, "files": [], "text": ""}
    pieces = list[bytes]()
    output = Output.of(home, store, run, attempt)
    output.pass_on(attempt.ended is not None, pieces.append, lambda _: None)
    output.close()
    named = [tail.path for tail in output.named]
    return {
        "job": name,
        "attempt": attempt.number,
        "step": attempt.step.name.lower(),
        "exit_code": attempt.exit_code,
        "site": "local",
        "path": named[0] if named else output.log,
        "files": [*named, output.log],
        "text": b"".join(pieces).decode("utf-8", "replace"),  # many parsers refuse lone surrogates
    }


def _processes(store: Store, run: Run, job: JobId) -> list[Member]:
    """A DAGMan node's own processes, if `queue` made several: they print, and the node itself does not."""
    if store.history.member(run.workflow, job).kind is not Kind.NODE:
        return []
    return [member for member in store.history.web(run.workflow).members if member.owner == job]


def _show(
    home: Home, store: Store, run: Run, job: JobId, number: int | None, step: Step | None, follow: bool = False
) -> None:
    from headway.live.answers.logs import Output, follow_attempt

    attempts = store.history.attempts(run.workflow, job)
    attempt = _attempt(attempts, number, step)
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


def _attempt(attempts: list[Attempt], number: int | None, step: Step | None) -> Attempt | None:
    """The attempt that is meant; None if there was none at all."""
    attempt = _wanted(attempts, number, step)
    if attempt is None and attempts and (number or step):
        told = ", ".join(f"{one.number} ({one.step.name.lower()})" for one in attempts[-8:])
        raise NotFoundError("there was no such attempt at it.", f"There were {told}.")
    return attempt


def _wanted(attempts: list[Attempt], number: int | None, step: Step | None) -> Attempt | None:
    """The attempt asked for; else the last at the job itself, or at a script of it if it did not get further."""
    fits = [one for one in attempts if number in (None, one.number) and step in (None, one.step)]
    main = [one for one in fits if one.step is Step.MAIN]
    return (main or fits)[-1] if fits else None


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
