"""`headway run W`: a workflow to its end, here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from headway.cli.commands.running import run
from headway.cli.configured import Configured
from headway.cli.fast_path import EDITED, MOST_SLOTS, SHARES, SYNC, VARIABLES, Options, without, words
from headway.cli.options import Command, order_option, workflow_arguments


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


def moment_option(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Seconds from now; a time of day is the next one."""
    if text is None:
        return None
    import time

    from headway.model.quantities import seconds

    now = time.time()
    parts = text.split(":")
    if len(parts) == 2 and all(part.isdecimal() for part in parts) and int(parts[0]) < 24 and int(parts[1]) < 60:
        today = time.localtime(now)
        moment = time.mktime((*today[:3], int(parts[0]), int(parts[1]), 0, *today[6:8], -1))
        if moment <= now:
            moment = time.mktime((*today[:2], today.tm_mday + 1, int(parts[0]), int(parts[1]), 0, *today[6:8], -1))
        return moment - now
    try:
        found = seconds(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a time of day (18:30) nor a duration (2h 30m).") from None
    if not found > 0:
        raise click.BadParameter("it must be later than now.")
    return found


def _address(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    if text is not None and (text.startswith("-") or not text.isprintable() or not text.isascii() or " " in text):
        raise click.BadParameter(f"{text!r} is no address.")
    return text


def option_of(name: str, **settings: Any) -> Callable[[Command], Command]:
    """An option, called as its field in `Options` says, which also has what holds without it."""
    default = without(name)
    if default is False:
        settings["is_flag"] = True
    elif default == ():
        settings["multiple"] = True
    elif default is not None:
        settings["default"] = default
    return click.option(*words(name), name, envvar=VARIABLES.get(name), **settings)


@click.command("run", cls=Configured, short_help="Run a workflow to its end.")
@workflow_arguments
@option_of("slots", type=click.IntRange(1, MOST_SLOTS), help="How many cores to use; without it, all there are.")
@order_option(
    *words("order_name"),
    envvar=VARIABLES["order_name"],
    default=without("order_name"),
    help="What runs next; headway order shows it. auto: what suits best.",
)
@option_of(
    "store",
    metavar="PLACE",
    help="Where the store is: a folder or postgresql://HOST/DATABASE; without it, .headway beside W.",
)
@option_of("memory", metavar="SIZE", help="How much memory jobs may ask for in all; without it, all there is.")
@option_of(
    "resources",
    metavar="NAME=N",
    help="How many there are of something that jobs ask for by name: gpu=2, licence=5.",
)
@option_of("fail_fast", help="Start nothing new after the first failure.")
@option_of("retry", help="Retry the jobs that failed in an earlier run.")
@option_of("fresh", help="Start from the beginning; of a Makefile, do what make would do.")
@option_of(
    "edited",
    type=click.Choice(EDITED),
    help="If the file has changed since: refuse it (exit code 2), rerun what has changed and what follows, or keep all"
    " that is done.",
)
@option_of("detach", help="Go on in the background; headway attach watches it.")
@option_of("sync", type=click.Choice(SYNC), help="full: survive power loss too.")
@option_of(
    "share",
    type=click.Choice(SHARES),
    help="Who else may read the store and the logs. Default: private for a new store, unchanged for an existing one.",
)
@option_of(
    "exports",
    metavar="NAME",
    help="A variable of your environment that jobs on other hosts get too. Jobs on this one get all of it.",
)
@option_of(
    "sites",
    metavar="NAME",
    help="Run at this site of headway.toml, for each --site given; local is this computer. Without it, only here.",
)
@option_of(
    "deadline",
    callback=moment_option,
    metavar="TIME",
    help="When all must be done: 18:30, or 2h 30m from now. Says beforehand whether that can be, and warns when it"
    " cannot be any more. Exit code 5: all done, but later.",
)
@option_of("place", metavar="WORKFLOW.JOB", hidden=True)  # the runner says this of a sub-DAG
@option_of("as_json", help="Report in JSON at the end.")
@option_of("until", metavar="JOB", help="Run only this job or group and what it needs.")
@option_of("since", metavar="GROUP", help="Run this group again, and everything that depends on it.")
@option_of("always_make", help="Of a Makefile, run everything, as make -B does.")
@option_of("array", metavar="FILE", help="Run a command for each line of a file: --array FILE -- COMMAND {}.")
@option_of("retries", type=click.IntRange(min=0), metavar="N", help="Default number of retries for jobs that set none.")
@option_of("backoff", callback=_duration, metavar="TIME", help="Wait before the first retry; twice as long each time.")
@option_of(
    "more_memory",
    type=click.FloatRange(min=1, max=1000),
    callback=_number,
    metavar="FACTOR",
    help="Ask for more memory with each retry.",
)
@option_of("notify", metavar="COMMAND", help="Run a command at the end; HEADWAY_FAILED and others tell how it went.")
@option_of("mail", callback=_address, metavar="ADDRESS", help="Send a mail at the end.")
@option_of("dry_run", help="Say for each job whether it would run, and why. Runs nothing.")
def command(**given: Any) -> int:
    """Run a workflow to its end: on this computer, or at sites of headway.toml.

    Run again, it goes on where it stopped: done jobs stay done. Ctrl-C (or SIGTERM) lets running jobs end and stops;
    twice ends them too; a third time leaves at once. If this command dies, the jobs that run are finished and recorded
    all the same.

    \b
      headway run diamond.dag
      headway run Makefile --slots 4
      headway run diamond.dag --site local --site lab
      headway run --array photos.txt -- convert {} -resize 50% small/{/}
    """
    return run(Options(**given))
