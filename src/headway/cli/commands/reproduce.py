"""`headway reproduce NAME`: a paper's evaluation, done again."""

from __future__ import annotations

from pathlib import Path

import click

from headway.cli.display.answer import print_json
from headway.model.errors import UsageError

_DATA = Path(__file__).parents[5] / "shared" / "data" / "wf"  # beside a checkout

_SAID = {True: "holds", False: "does not hold", None: "is open"}


@click.command("reproduce", short_help="A paper's evaluation, done again.")
@click.argument("name", metavar="NAME", type=click.Choice(["prio", "opportunistic"]))
@click.option(
    "--quick",
    "how",
    flag_value="quick",
    default="quick",
    help="prio: ten minutes on two cores; opportunistic: less than one. This is the default.",
)
@click.option(
    "--full",
    "how",
    flag_value="full",
    help="prio: all readings of the dags, about an hour; interrupted, it goes on where it was. Else some minutes.",
)
@click.option(
    "--live",
    "how",
    flag_value="live",
    help="prio, some minutes: real placeholders that come in batches, beside the simulator.",
)
@click.option("-o", "--output", metavar="DIR", type=click.Path(file_okay=False), help="Without it, reproduced/NAME.")
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="A folder with wfinstances/ and dax/: real dags.",
)
@click.option("--json", "as_json", is_flag=True, help="Print report.json (docs/json.md says what each key means).")
def command(name: str, how: str, output: str | None, data: str | None, as_json: bool) -> None:
    """Do a paper's evaluation again: figures, tables and claims, with columns paper, here, holds?

    Writes report.md, report.json and the figures as SVG into DIR. What each setting of prio measured is kept in
    DIR/settings.jsonl and not measured again, by --full either. With --live they are live.md and live.json, from real
    processes.

    \b
      headway reproduce opportunistic
      headway reproduce prio
      headway reproduce prio --live
      headway reproduce prio --full -o full
    """
    from headway.cli.display.bar import Bar

    folder = Path(output) if output else Path("reproduced") / name
    found = Path(data) if data else _DATA if _DATA.is_dir() else None
    if how == "live" and name != "prio":
        raise UsageError(f"{name} has no --live.", "Leave --live out.")
    with Bar(1.0, quiet=as_json) as bar:
        if name == "opportunistic":
            from headway.experiments.opportunistic import all as opportunistic

            report = opportunistic.reproduce(opportunistic.PLANS[how], folder, found, bar.expect, bar.add)
        elif how == "live":
            from headway.experiments.prio import live

            report = live.reproduce(live.Trial(), folder, bar.expect, bar.add)
        else:
            from headway.experiments.prio.all import PLANS, reproduce

            report = reproduce(PLANS[how], folder, found, bar.expect, bar.add)
    if as_json:
        print_json(report.answer())
        return
    for claim in report.claims:
        click.echo(f"{_SAID[claim.holds]:<14}  {claim.id}: {claim.paper}")
    click.echo(f"{folder / ('live.md' if how == 'live' else 'report.md')} has the rest.")
