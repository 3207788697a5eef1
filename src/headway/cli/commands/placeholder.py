"""`headway placeholder`: takes jobs from a store until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import click

from headway.cli.commands.run import moment_option, option_of
from headway.cli.commands.running import named_resources, size
from headway.cli.configured import Configured
from headway.cli.fast_path import MOST_SLOTS


def _duration(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    from headway.model.quantities import seconds

    try:
        return None if text is None else seconds(text)
    except ValueError as expected:
        raise click.BadParameter(f"{text!r} is not {expected}.") from None


@click.command("placeholder", cls=Configured, short_help="Take jobs from a store until it is stopped.")
@click.option(
    "--store",
    envvar="HEADWAY_STORE",
    metavar="FOLDER|URL",
    help="The store to take jobs from: a folder on this computer, or postgresql://HOST/DATABASE; without"
    " it, $HEADWAY_STORE, or .headway in this folder or the nearest above.",
)
@click.option("--server", metavar="CARD", help="Take jobs through a door: the file that headway serve has written.")
@click.option("--slots", type=click.IntRange(1, MOST_SLOTS), help="How many cores to use; without it, all there are.")
@click.option(
    "--until",
    callback=moment_option,
    metavar="TIME",
    help="End then: 18:30, or 2h 30m from now. No job is begun that cannot be expected to end before.",
)
@click.option(
    "--unknown",
    callback=_duration,
    metavar="TIME",
    help="With --until: how long a job is expected to take of which nothing is known. Default: 0.",
)
@option_of("memory", metavar="SIZE", help="How much memory jobs may ask for in all; without it, all there is.")
@option_of("resources", metavar="NAME=N", help="How many there are of something that jobs ask for by name: gpu=2.")
@click.option("--idle", callback=_duration, metavar="TIME", help="End when nothing could be taken for this long.")
@click.option(
    "--again",
    metavar="COMMAND",
    help="With --until: run this command when the time is over and there is more to do. In a script for a batch queue:"
    " --again 'sbatch place.sh'.",
)
@click.option("--script", is_flag=True, help="Print placeholder.sh, which does the same on a host without Python.")
def command(
    store: str | None,
    server: str | None,
    slots: int | None,
    until: float | None,
    unknown: float | None,
    memory: str | None,
    resources: tuple[str, ...],
    idle: float | None,
    again: str | None,
    script: bool,
) -> int:
    """Take jobs of every workflow that was submitted to a store (headway submit), in the order of their ranks.

    Any number of placeholders may share a store, on as many hosts as reach it. Jobs run in the folder where their
    workflow was submitted, so that must be there on this host too. Ctrl-C lets running jobs end and leaves; twice ends
    them, and they run again elsewhere.

    \b
      headway placeholder --store postgresql://db/lab --slots 4
      headway placeholder --store . --until 8:00
      headway placeholder --script > placeholder.sh         for hosts without Python: sh placeholder.sh -h
    """
    if script:
        from headway.cli.display.terminal import write_content
        from headway.live import placeholder as package

        write_content(Path(package.__path__[0], "placeholder.sh").read_bytes())
        return 0
    from headway.cli.display.progress import Display
    from headway.live.client.messages import Serve
    from headway.live.client.placeholder import OwnPlaceholder, served_place
    from headway.live.doors.serve_store import read_card
    from headway.live.home.store_location import given_store
    from headway.model.errors import UsageError
    from headway.model.quantities import duration

    if again is not None and until is None:
        raise UsageError("--again is for when its time is over.", "Say when that is: --until TIME.")
    place = None if server is not None else given_store(store)
    card = None if server is None else read_card(server)
    wish = Serve(slots or 0, until, unknown or 0.0, idle, size(memory), named_resources(resources))
    placeholder = OwnPlaceholder(None if card is not None else served_place(place), wish, card)
    display = Display(0, 0)
    cores = slots or len(os.sched_getaffinity(0))
    ends = "" if until is None else f" for {duration(until)}"
    what = f"placeholder on {socket.gethostname()}: {cores} slot{'s' * (cores != 1)}{ends}"
    display.say(f"{what}. Ctrl-C lets jobs end and leaves.")
    done = failed = 0
    for progress in placeholder.progress():
        done = progress.done or done
        failed += sum(one.final for one in progress.failures)
        display.serve(progress)
    display.say(f"{done:,} job{'s' * (done != 1)} done here{f', {failed:,} failed' if failed else ''}.")
    if again is not None and placeholder.leaves_work():
        display.say(f"there is more to do: {again}")
        sys.stderr.flush()
        return placeholder.submit_next(again)
    sys.stderr.flush()
    return 0
