"""`headway run W`: a workflow to its end, here."""

from __future__ import annotations

from typing import Any

import click

from headway.cli.commands.running import MOST_SLOTS, Options, run
from headway.cli.options import order_option, workflow_arguments


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


@click.command("run", short_help="Run a workflow to its end, here.")
@workflow_arguments
@click.option("--slots", type=click.IntRange(1, MOST_SLOTS), help="How many cores to use; without it, all there are.")
@order_option(
    "--order",
    envvar="HEADWAY_ORDER",
    default="auto",
    help="What runs next; headway order shows it. auto: what suits best.",
)
@click.option(
    "--store",
    metavar="PLACE",
    envvar="HEADWAY_STORE",
    help="Where the store is: a folder or postgresql://HOST/DATABASE; without it, .headway beside W.",
)
@click.option("--memory", metavar="SIZE", help="How much memory jobs may ask for in all; without it, all there is.")
@click.option(
    "--resource",
    "resources",
    multiple=True,
    metavar="NAME=N",
    envvar="HEADWAY_RESOURCES",
    help="How many there are of something that jobs ask for by name: gpu=2, licence=5.",
)
@click.option("--fail-fast", is_flag=True, help="Start nothing new after the first failure.")
@click.option("--retry", is_flag=True, help="Retry the jobs that failed in an earlier run.")
@click.option("--fresh", is_flag=True, help="Start from the beginning; of a Makefile, do what make would do.")
@click.option(
    "--edited",
    type=click.Choice(["refuse", "rerun", "keep"]),
    default="refuse",
    help="If the file has changed since: refuse it (exit code 2), rerun what has changed and what follows, or keep all"
    " that is done.",
)
@click.option("--detach", is_flag=True, help="Go on in the background; headway attach watches it.")
@click.option("--sync", type=click.Choice(["normal", "full"]), default="normal", help="full: survive power loss too.")
@click.option(
    "--share",
    type=click.Choice(["private", "group", "all"]),
    help="Who else may read the store and the logs. Default: private for a new store, unchanged for an existing one.",
)
@click.option(
    "--export",
    "exports",
    multiple=True,
    metavar="NAME",
    help="A variable of your environment that jobs on other hosts get too. Jobs on this one get all of it.",
)
@click.option("--in-place-of", "place", metavar="WORKFLOW.JOB", hidden=True)  # the runner says this of a sub-DAG
@click.option("--json", "as_json", is_flag=True, help="Report in JSON at the end.")
@click.option("--until", multiple=True, metavar="JOB", help="Run only this job or group and what it needs.")
@click.option(
    "--from", "since", multiple=True, metavar="GROUP", help="Run this group again, and everything that depends on it."
)
@click.option("--always-make", "-B", is_flag=True, help="Of a Makefile, run everything, as make -B does.")
@click.option("--array", metavar="FILE", help="Run a command for each line of a file: --array FILE -- COMMAND {}.")
@click.option(
    "--retries", type=click.IntRange(min=0), metavar="N", help="Default number of retries for jobs that set none."
)
@click.option(
    "--backoff", callback=_duration, metavar="TIME", help="Wait before the first retry; twice as long each time."
)
@click.option(
    "--more-memory",
    type=click.FloatRange(min=1, max=1000),
    callback=_number,
    metavar="FACTOR",
    help="Ask for more memory with each retry.",
)
@click.option(
    "--notify", metavar="COMMAND", help="Run a command at the end; HEADWAY_FAILED and others tell how it went."
)
@click.option("--mail", callback=_address, metavar="ADDRESS", help="Send a mail at the end.")
@click.option("--dry-run", is_flag=True, help="Say for each job whether it would run, and why. Runs nothing.")
def command(**given: Any) -> int:
    """Run a workflow to its end on this computer.

    Run again, it goes on where it stopped: done jobs stay done. Ctrl-C (or SIGTERM) lets running jobs end and stops;
    twice ends them too; a third time leaves at once. If this command dies, the jobs that run are finished and recorded
    all the same.

    \b
      headway run diamond.dag
      headway run Makefile --slots 4
      headway run --array photos.txt -- convert {} -resize 50% small/{/}
    """
    return run(Options(**given))
