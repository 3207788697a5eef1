"""`headway run W`: a workflow to its end, here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from headway.cli.choosing import choosing_options, chosen, dry_run, for_inside, meant, of_the_whole, tell_the_end
from headway.cli.options import order_option, print_json, workflow_arguments

MOST_WARNINGS = 10  # that are worth a line each before a run


@click.command("run", short_help="Run a workflow to its end, here.")
@workflow_arguments
@click.option("--slots", type=click.IntRange(min=1), help="How many cores to use; without it, all there are.")
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
@click.option("--retry", is_flag=True, help="Try jobs again that failed in an earlier run.")
@click.option("--fresh", is_flag=True, help="Start from the beginning, whatever an earlier run has done.")
@click.option(
    "--edited",
    type=click.Choice(["refuse", "rerun", "keep"]),
    default="refuse",
    help="If the file has changed since: rerun what has changed and what follows, or keep all that is done.",
)
@click.option("--detach", is_flag=True, help="Go on in the background; headway attach watches it.")
@click.option("--sync", type=click.Choice(["normal", "full"]), default="normal", help="full: survive power loss too.")
@click.option("--in-place-of", "place", metavar="WORKFLOW.JOB", hidden=True)  # the runner says this of a sub-DAG
@click.option("--json", "as_json", is_flag=True, help="Report in JSON at the end.")
@choosing_options
def command(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    slots: int | None,
    order_name: str,
    store: str | None,
    memory: str | None,
    resources: tuple[str, ...],
    fail_fast: bool,
    retry: bool,
    fresh: bool,
    edited: str,
    detach: bool,
    sync: str,
    place: str | None,
    as_json: bool,
    **wishes: Any,
) -> int:
    """Run a workflow to its end on this computer.

    Run again, it goes on where it stopped: done jobs stay done. Ctrl-C (or SIGTERM) lets running jobs end and stops;
    twice ends them too; a third time leaves at once. If this command dies, the jobs that run are finished and recorded
    all the same.

    \b
      headway run diamond.dag
      headway run Makefile --slots 4
      headway run --array photos.txt -- convert {} -resize 50% small/{/}
    """
    if wishes["array"] is not None:  # W and its arguments are a command for each line of a file
        workflow, arguments, store = wishes["array"], (workflow, *arguments), store or ".headway"
    if workflow != "-" and not os.access(workflow, os.R_OK):
        from headway.live.read import read

        read(workflow, format=format_name)  # says what is wrong, before a folder is made for nothing
    folder, server = place_of_run(store, workflow)
    if wishes["dry_run"]:
        found = meant(workflow, arguments, format_name, wishes)
        from headway.live.store import FILE

        base = server if server is not None else folder / FILE
        return dry_run(chosen(found, arguments, wishes, retry), base, fresh, edited, as_json)
    if detach:
        from headway.cli.detach import detached

        code = detached()
        if code is not None:
            return code
    from headway.live.home import Home
    from headway.live.starter import Starter

    home = Home(folder)
    starter = Starter(home, sync, server)
    # The runner is on its way, and imports what it needs at the same time as this process does.
    from headway.cli.progress import Display
    from headway.live.read import no_collection
    from headway.live.run import Stops, watched
    from headway.live.session import INSIDE, Session, Wish
    from headway.live.store import opened, working

    if place is not None:
        wishes |= of_the_whole(os.environ.get(INSIDE, ""))
        fail_fast = bool(wishes.pop("fail_fast", fail_fast))
    slots = slots or len(os.sched_getaffinity(0))
    named = named_resources(resources)
    with no_collection():
        found = meant(workflow, arguments, format_name, wishes)
        line = watched(home, starter)
        base = server if server is not None else home.database
        inside = for_inside(wishes, fail_fast)
        wish = Wish(slots, order_name, fail_fast, retry, fresh, edited, size(memory), named, place, inside)
        session = Session(
            *(home, working(base, sync), lambda: opened(base, sync), line, found, arguments, wish),
            lambda read: chosen(read, arguments, wishes, retry),
        )
    display = Display(session.total, session.before.done, session.before.left_out, quiet=as_json)
    for warning in session.warnings[:MOST_WARNINGS]:
        display.say(f"warning: {warning}")
    if len(session.warnings) > MOST_WARNINGS:
        display.say(f"and {len(session.warnings) - MOST_WARNINGS:,} more warnings; headway show tells them.")
    if session.rescue is not None:
        display.say(f"going on from {session.rescue.name}.")
    stops = Stops()
    session.start()
    if detach:
        from headway.cli.detach import begun

        begun(home, session.number)
    for progress in session.reports(stops, display.say):
        display.show(progress)
    outcome = session.outcome
    display.end(outcome, slots)
    if as_json:
        print_json(
            {
                "done": outcome.tally.done,
                "failed": outcome.tally.failed,
                "skipped": outcome.tally.skipped,
                "left_out": outcome.tally.left_out,
                "seconds": outcome.seconds,
                "minimal_seconds": outcome.bounds.minimal,
                "work_seconds": outcome.bounds.work,
                "attempts": outcome.bounds.attempts,
                "store": str(home.folder) if server is None else _without_secret(server),
                "failures": [
                    {key: failure[key] for key in ("job", "exit_code", "log")} for failure in outcome.failures
                ],
            }
        )
    sys.stdout.flush()
    place = str(home.folder) if server is None else _without_secret(server)
    ended = outcome.tally
    counts = (ended.done, ended.failed, ended.skipped)
    tell_the_end(wishes, found.name, *counts, outcome.seconds, outcome.exit_code, place)
    return outcome.exit_code


def place_of_run(store: str | None, workflow: str) -> tuple[Path, str | None]:
    """The folder of the run, and its server if it has one; nothing heavy may be imported for that."""
    beside = Path(workflow).absolute().parent / ".headway"
    if store is None:
        return beside, None
    from headway.live.store import is_server

    if is_server(store):
        from headway.live.home import server_folder

        ours = os.environ.get("HEADWAY_HOME") if store == os.environ.get("HEADWAY_STORE") else None
        return Path(ours) if ours else server_folder(beside, store), store
    return Path(store.removeprefix("sqlite:///")), None


def named_resources(words: tuple[str, ...]) -> dict[str, int]:
    """NAME=N of each; graphics cards are counted where nothing is said of them."""
    found: dict[str, int] = {}
    for word in words:
        name, equals, count = word.partition("=")
        if not (equals and name and count.isdecimal() and len(count) < 10):
            raise click.UsageError(f"--resource {word} is not NAME=N.")
        found[name] = int(count)
    cards = Path("/proc/driver/nvidia/gpus")
    if cards.is_dir():
        there = sum(1 for _ in cards.iterdir())
        found.setdefault("gpus", there)
        found.setdefault("gpu", there)
    return found


def size(text: str | None) -> int:
    """Bytes; 0 where nothing is said."""
    if text is None:
        return 0
    from headway.model.quantities import size as bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise click.UsageError(f"--memory {text} is not {error}.") from None


def _without_secret(url: str) -> str:
    """A server's address without its password."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.password is None:
        return url
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", "@")).geturl()
