"""`headway enable|disable|stop|done|redo GROUP…`: changes what is to be done."""

from __future__ import annotations

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import harmless
from headway.cli.options import store_options
from headway.engine.explain import named
from headway.live.answers.steering import answer

_SAID = {
    "enable": "enabled",
    "disable": "disabled",
    "stop": "stopped",
    "done": "marked as done",
    "redo": "to be run again",
}
_EPILOG = "GROUP is a group, with all below it, a job, or a pattern such as 'VS_*'."


def _steer(
    verb: str, groups: tuple[str, ...], place: str | None, wanted: str | None, as_json: bool, only: bool = False
) -> None:
    from headway.live.answers.which import chosen
    from headway.live.client.services import steer
    from headway.live.home.store_location import found_store, home_of

    home, store = found_store(place)
    workflow = chosen(store, wanted, home)
    outcome = steer(store, home_of(home, place, store, workflow.id), workflow, verb, groups, only)
    if as_json:
        print_json(answer(outcome))
        return
    count = len(outcome.changed)
    if not count:
        click.echo("nothing to change.")
        return
    click.echo(harmless(f"{count:,} job{'s' * (count != 1)} {_SAID[verb]}: {named(outcome.changed)}."))
    if outcome.stopping:
        click.echo(f"{outcome.stopping} told to end, and not ended yet: headway status shows which run.", err=True)


@click.command("enable", short_help="Let groups be started again.", epilog=_EPILOG)
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@store_options
def enable(groups: tuple[str, ...], place: str | None, wanted: str | None, as_json: bool) -> None:
    """Let the jobs of groups be started again that were disabled or stopped."""
    _steer("enable", groups, place, wanted, as_json)


@click.command("disable", short_help="Start nothing of some groups.", epilog=_EPILOG)
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@store_options
def disable(groups: tuple[str, ...], place: str | None, wanted: str | None, as_json: bool) -> None:
    """Start no job of some groups until they are enabled; what runs goes on."""
    _steer("disable", groups, place, wanted, as_json)


@click.command("stop", short_help="Disable groups, and end what runs of them.", epilog=_EPILOG)
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@store_options
def stop(groups: tuple[str, ...], place: str | None, wanted: str | None, as_json: bool) -> None:
    """Disable groups, and end what runs of them; that runs again when they are enabled."""
    _steer("stop", groups, place, wanted, as_json)


@click.command("done", short_help="Call groups done without running them.", epilog=_EPILOG)
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@store_options
def done(groups: tuple[str, ...], place: str | None, wanted: str | None, as_json: bool) -> None:
    """Mark groups as done without running them: what depends on them may go on."""
    _steer("done", groups, place, wanted, as_json)


@click.command("redo", short_help="Run groups again, and everything that depends on them.", epilog=_EPILOG)
@click.argument("groups", nargs=-1, required=True, metavar="GROUP...")
@click.option("--only", is_flag=True, help="Just these groups, not what depends on them.")
@store_options
def redo(groups: tuple[str, ...], only: bool, place: str | None, wanted: str | None, as_json: bool) -> None:
    """Run groups again, and everything that depends on them: a workflow from some stage on.

    The next headway run does them, or the one that goes on now.
    """
    _steer("redo", groups, place, wanted, as_json, only)
