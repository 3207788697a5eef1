"""The options of `headway run` that say which jobs it is about, and the answer of `--dry-run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.options import Command, print_json
from headway.cli.terminal import one_line

if TYPE_CHECKING:
    from headway.live.choice import Choice
    from headway.model.workflow import Workflow


def _number(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Every range has room for what is no number."""
    if value is not None and value != value:
        raise click.BadParameter("nan is no number.")
    return value


def _duration(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    from headway.model.quantities import seconds

    try:
        return None if text is None else seconds(text)
    except ValueError as expected:
        raise click.BadParameter(f"{text!r} is not {expected}.") from None


def _address(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    if text is not None and (text.startswith("-") or not text.isprintable() or not text.isascii() or " " in text):
        raise click.BadParameter(f"{text!r} is no address.")
    return text


_OPTIONS = (
    click.option("--until", multiple=True, metavar="JOB", help="Run only this job or group and what it needs."),
    click.option(
        "--from", "since", multiple=True, metavar="GROUP", help="Run this group anew and all that follows from it."
    ),
    click.option("--always-make", "-B", is_flag=True, help="Run also what make calls up to date."),
    click.option("--array", metavar="FILE", help="Run a command for each line of a file: --array FILE -- COMMAND {}."),
    click.option(
        "--retries", type=click.IntRange(min=0), metavar="N", help="Try jobs again that say nothing of it, N times."
    ),
    click.option(
        "--backoff", callback=_duration, metavar="TIME", help="Wait before the first retry; twice as long each time."
    ),
    click.option(
        "--more-memory",
        type=click.FloatRange(min=1, max=1000),
        callback=_number,
        metavar="FACTOR",
        help="Ask for more memory with each retry.",
    ),
    click.option(
        "--notify", metavar="COMMAND", help="Run a command at the end; HEADWAY_FAILED and others tell how it went."
    ),
    click.option("--mail", callback=_address, metavar="ADDRESS", help="Send a mail at the end."),
    click.option("--dry-run", is_flag=True, help="Say for each job whether it would run, and why. Runs nothing."),
)


# What holds for a run as a whole, the workflows that run in place of its jobs included.
_OF_THE_WHOLE = ("fail_fast", "retries", "backoff", "more_memory")


def for_inside(wishes: Mapping[str, Any], fail_fast: bool) -> str:
    """What sub-DAGs are to know of these options, as `of_the_whole` reads it."""
    given = {**wishes, "fail_fast": fail_fast or None}
    if all(given[name] is None for name in _OF_THE_WHOLE):
        return ""
    from json import dumps

    return dumps({name: given[name] for name in _OF_THE_WHOLE})


def of_the_whole(text: str) -> dict[str, Any]:
    """The options of the run that a sub-DAG is part of."""
    if not text:
        return {}
    from json import loads

    given: dict[str, Any] = loads(text)
    return given


def choosing_options(function: Command) -> Command:
    """All of them; the command takes them as `**wishes`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def meant(workflow: str, arguments: Sequence[str], format_name: str | None, wishes: Mapping[str, Any]) -> Workflow:
    """The workflow of a file; with --array, the arguments as a command for each of its lines."""
    if wishes["array"] is not None:
        from headway.live.lines import array

        return array(workflow, arguments)
    from headway.live.read import read

    return read(workflow, *arguments, format=format_name)


def chosen(workflow: Workflow, arguments: Sequence[str], wishes: Mapping[str, Any], retry: bool) -> Choice:
    """What the options say."""
    from headway.live.choice import Choice

    defaults, given = None, (wishes["retries"], wishes["backoff"], wishes["more_memory"])
    if given != (None, None, None):
        from headway.live.store.defaults import Defaults

        defaults = Defaults(*given)
    return Choice(workflow, arguments, wishes["until"], wishes["since"], retry, wishes["always_make"], defaults)


def dry_run(choice: Choice, store: Path | str, fresh: bool, edited: str, json: bool) -> int:
    """Prints what a run would do with each job. Makes no folder, no store, and changes nothing in one."""
    from headway.live.dry_run import dry_run as planned

    flat, plan = planned(choice, store, fresh, edited)
    names = flat.dag.names
    verdicts = [(names[node], verdict) for node, verdict in enumerate(plan.verdicts) if verdict is not None]
    counts = Counter(verdict.why for _, verdict in verdicts)
    runs = sum(verdict.runs for _, verdict in verdicts)
    if json:
        jobs = [
            {
                "job": name,
                "runs": verdict.runs,
                "why": str(verdict.why),
                "because": verdict.because or None,
                "reason": verdict.reason,
            }
            for name, verdict in verdicts
        ]
        print_json({"runs": runs, "counts": {str(why): count for why, count in counts.items()}, "jobs": jobs})
        return 0
    for name, verdict in verdicts:
        click.echo(f"{'run ' if verdict.runs else 'skip'}  {one_line(name)}: {verdict.reason}")
    click.echo(f"{runs:,} of {len(verdicts):,} jobs would run.", err=True)
    return 0


def tell_the_end(wishes: Mapping[str, Any], *end: Any) -> None:
    """Runs what --notify and --mail ask for; the arguments are those of `live.hooks.End`."""
    if wishes["notify"] is None and wishes["mail"] is None:
        return
    from headway.live.hooks import End, notified

    for problem in notified(End(*end), wishes["notify"], wishes["mail"]):
        click.echo(f"warning: {problem}", err=True)
