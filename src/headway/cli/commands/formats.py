"""`headway formats`: what Headway reads and writes."""

from __future__ import annotations

import click

from headway.cli.display.answer import print_json
from headway.formats.registry import FORMATS
from headway.live.answers.formats import answer


@click.command("formats", short_help="The formats Headway reads and writes.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def command(as_json: bool) -> None:
    """List the formats that Headway reads and writes, and what reading them runs."""
    if as_json:
        print_json(answer())
        return
    for format in FORMATS.values():
        ways = " ".join(way for way, there in (("reads", format.reads), ("writes", format.writes)) if there)
        click.echo(f"{format.name:12} {ways:13} {format.about}")
        if format.runs_code:
            click.echo(f"{'':26} reading runs {format.runs_code}")
