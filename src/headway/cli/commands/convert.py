"""`headway convert W --to FORMAT`: a workflow in another format."""

from __future__ import annotations

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import write_content
from headway.cli.options import workflow_arguments
from headway.formats.registry import FORMATS
from headway.live.answers.convert import answer
from headway.live.reading.read import no_collection, read, render, write_whole
from headway.live.reading.relocation import keep_places
from headway.model.flatten import flatten


@click.command("convert", short_help="Write a workflow in another format.")
@workflow_arguments
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Choice([format.name for format in FORMATS.values() if format.writes]),
    help="The format to write.",
)
@click.option(
    "-o",
    "output",
    metavar="OUT",
    type=click.Path(readable=False),
    help="The file to write; without it, or for -, standard output.",
)
@click.option("--json", "as_json", is_flag=True, help="Report in JSON what was written and what was lost; needs -o.")
def command(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    target: str,
    output: str | None,
    as_json: bool,
) -> None:
    """Write a workflow in another format.

    Order and commands are always kept, or it is an error, and so is where jobs run, if OUT is in another folder.
    Standard output is taken to be meant for a file in the current folder. What else the format cannot say is told on
    standard error.

    \b
      headway convert diamond.dag --to makefile -o Makefile
      headway convert checkers.py 4 --to flat
    """
    if output == "-":
        output = None
    if as_json and output is None:
        raise click.UsageError("--json reports on a file: name it with -o OUT.")
    with no_collection():
        found = read(workflow, *arguments, format=format_name)
        flatten(found)  # a cycle is an error here, before anything is written
        keep_places(found, output or "-")  # what is printed is taken to be meant for a file here
        rendering = render(found, target)
    if output is None:  # as bytes, which click leaves alone: of text it takes escape sequences out
        write_content(rendering.text.encode("utf-8", "surrogateescape"))
    else:
        write_whole(output, rendering.text)
    warnings = found.warnings + rendering.warnings
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    if rendering.lost:
        click.echo(f"note: {target} cannot say: {'; '.join(rendering.lost)}.", err=True)
    if as_json and output is not None:
        print_json(answer(output, target, rendering.lost, warnings))
