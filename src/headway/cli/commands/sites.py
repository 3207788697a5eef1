"""`headway sites`: where jobs can run, and with --check whether they really can."""

from __future__ import annotations

import sys

import click

from headway.cli.display.answer import print_json
from headway.cli.display.table import table


@click.command("sites", short_help="The sites of headway.toml; with --check, whether jobs run there.")
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
    """
    from headway.live.answers.sites import answer
    from headway.live.home.store_location import found_store
    from headway.live.sites.checking import Checked, checked
    from headway.live.sites.named import all_sites, named_sites
    from headway.model.errors import HeadwayError

    sites = named_sites(names) if names else all_sites()
    checks: dict[str, Checked] = {}
    for site in sites if check else ():
        print(f"checking {site.name}…", file=sys.stderr, flush=True)
        checks[site.name] = checked(site)
    try:
        _, known = found_store(store, to_look=True)
    except HeadwayError:
        if store is not None:
            raise
        known = None
    found = answer(sites, known, checks)
    code = 1 if any(not one.ok for one in checks.values()) else 0
    if as_json:
        print_json(found)
        return code
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
                state,
            )
        )
    click.echo("\n".join(table(("site", "host", "queue", "files", "placeholders", ""), rows)))
    for one in found["sites"]:
        if one["problem"]:
            click.echo(f"{one['name']}: {one['problem']}", err=True)
    return code
