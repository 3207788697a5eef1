"""`headway sites`: where jobs can run, and with --check whether they really can; start and stop what works there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headway.live.home.folder import Home
    from headway.live.sites.checking import Checked
    from headway.live.sites.site import Site
    from headway.live.store import Store


class _Sites(click.Command):
    """`headway sites start` and `stop` are commands of their own; all other words are names of sites."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in _STEERING:
            return _STEERING[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


_store_option = click.option(
    "--store", metavar="FOLDER|URL", help="The store that is meant; without it, $HEADWAY_STORE, or the nearest."
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md).")


@click.command("sites", cls=_Sites, short_help="The sites of headway.toml; with --check, whether jobs run there.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Run a job at each, and say what is wrong and what to do.")
@click.option(
    "--store", metavar="FOLDER|URL", help="The store whose placeholders are counted; without it, the nearest."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md).")
def command(names: tuple[str, ...], check: bool, store: str | None, as_json: bool) -> int:
    """List the sites that headway.toml names: other hosts and batch queues where headway run --site NAME runs jobs.

    \b
      headway sites
      headway sites --check cluster
      headway sites start cluster     let it run the workflows that were submitted
      headway sites stop cluster
    """
    from headway.live.home.store_location import found_store
    from headway.live.sites.checking import checked
    from headway.live.sites.named import all_sites, named_sites
    from headway.model.errors import HeadwayError

    sites = named_sites(names) if names else all_sites()
    checks: dict[str, Checked] = {}
    for site in sites if check else ():
        print(f"checking {site.name}…", file=sys.stderr, flush=True)
        checks[site.name] = checked(site)
    home: Home | None = None
    try:
        home, known = found_store(store, to_look=True)
    except HeadwayError:
        if store is not None:
            raise
        known = None
    if home is None and known is not None:
        home = _server_home(str(known.place), to_look=True)
    _show(sites, home, known, checks, as_json)
    return 1 if any(not one.ok for one in checks.values()) else 0


def _show(
    sites: list[Site], home: Home | None, store: Store | None, checks: Mapping[str, Checked], as_json: bool
) -> None:
    from headway.live.answers.sites import answer

    found = answer(sites, home, store, checks)
    if as_json:
        print_json(found)
        return
    rows = []
    for one in found["sites"]:
        state = "" if one["ok"] is None else "ok" if one["ok"] else "cannot be used"
        rows.append(
            (
                one["name"],
                one["host"] or "this computer",
                one["queue"] or "",
                one["files"],
                str(one["placeholders"]),
                str(one["standing"]) if one["standing"] else "",
                state,
            )
        )
    click.echo("\n".join(table(("site", "host", "queue", "files", "placeholders", "standing", ""), rows)))
    for one in found["sites"]:
        if one["problem"]:
            click.echo(f"{one['name']}: {one['problem']}", err=True)


@click.command("start", short_help="Let sites run the workflows that were submitted.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--count",
    type=click.IntRange(1, 100_000),
    help="For a batch queue: how many allocations at once; without it, what headway.toml says.",
)
@_store_option
@_json_option
def start(names: tuple[str, ...], count: int | None, store: str | None, as_json: bool) -> None:
    """Let sites run the workflows that were submitted to a store (headway submit), until headway sites stop.

    Nobody has to wait here. On a host behind ssh a placeholder begins at once; a batch queue is asked for allocations
    while there is work for them. What works for a site on this computer ends with it, for instance when it restarts:
    then start it again.

    \b
      headway submit big.dag
      headway sites start cluster --count 20
    """
    from headway.live.home.store_location import found_store
    from headway.live.sites.named import named_sites
    from headway.live.sites.standing import begin

    sites = named_sites(names)
    home, known = found_store(store)
    if home is None:
        home = _server_home(str(known.place))
    for site in sites:
        most = begin(home, str(known.place), site, count)
        what = f"up to {most:,} allocation{'s' * (most != 1)} at once" if site.queue else "one placeholder"
        print(
            f"{site.name} runs what is submitted, with {what}. headway sites stop {site.name} ends that.",
            file=sys.stderr,
        )
    if as_json:
        _show(sites, home, known, {}, as_json)


@click.command("stop", short_help="Let sites begin nothing more of what was submitted.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--now", is_flag=True, help="End what runs there, too: it is given back, and runs again elsewhere.")
@_store_option
@_json_option
def stop(names: tuple[str, ...], now: bool, store: str | None, as_json: bool) -> None:
    """Let sites begin nothing more of what was submitted: the opposite of headway sites start.

    Jobs that run there come to their end, and allocations that wait in a queue are taken back. A headway run that
    uses the site goes on.
    """
    from headway.live.home.store_location import found_store
    from headway.live.sites.named import named_sites
    from headway.live.sites.standing import end

    sites = named_sites(names)
    home, known = found_store(store)
    if home is None:
        home = _server_home(str(known.place))
    for site in sites:
        did = end(home, site.name, now)
        print(f"{site.name} {'begins nothing more' if did else 'was not started'}.", file=sys.stderr)
    if as_json:
        _show(sites, home, known, {}, as_json)


_STEERING = {"start": start, "stop": stop}


def _server_home(server: str, to_look: bool = False) -> Home:
    """The folder beside which a server's store has the processes of its sites, for this folder."""
    from headway.live.home.folder import Home
    from headway.live.home.store_location import FOLDER, server_folder

    return Home(server_folder(Path.cwd() / FOLDER, server), to_look)
