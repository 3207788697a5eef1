"""`headway show W`: what a workflow looks like."""

from __future__ import annotations

import shutil

import click

from headway.cli.display.answer import print_json
from headway.cli.display.report import text
from headway.cli.options import workflow_arguments
from headway.live.answers.show import report
from headway.live.reading.read import no_collection, read
from headway.model.dag import Dag


@click.command("show", short_help="What a workflow looks like.")
@workflow_arguments
@click.option(
    "--job",
    "job_name",
    metavar="NAME",
    help="Everything known of one job instead: its command (a DAGMan node's from its submit file), scripts, files.",
)
@click.option(
    "--draw/--no-draw",
    "draw",
    default=None,
    help="Draw it, or not; without either, small ones are drawn if the terminal has room.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    job_name: str | None,
    draw: bool | None,
    as_json: bool,
) -> None:
    """Show what a workflow looks like: jobs, arcs, groups, levels, width, critical path, and a drawing of small ones.

    W is a workflow in any format, - standard input. ARGUMENTS go to a script, are make's goals, or set a submit file's
    variables (NAME=VALUE).

    \b
      headway show diamond.dag
      headway show checkers.py 4
      headway show Makefile all --json
    """
    with no_collection():
        found = read(workflow, *arguments, format=format_name)
        if job_name is not None:
            from headway.cli.display.details import details_text
            from headway.live.answers.job import details

            answer = details(found, job_name)
            if as_json:
                print_json(answer)
            else:
                click.echo(details_text(answer))
            return
        answer, flat = report(found)
        if as_json:
            print_json(answer)
        else:
            click.echo(text(answer))
            if draw is not False:
                _draw(flat.dag, insist=draw is True)


def _draw(dag: Dag, insist: bool) -> None:
    """Prints the drawing of a small dag; one that does not fit is left out, which is said if it was asked for."""
    from headway.cli.display.drawing import MOST_JOBS, drawing

    columns = shutil.get_terminal_size().columns
    picture = drawing(dag, columns)
    if picture is not None:
        click.echo(f"\n{picture}")
    elif insist:
        click.echo(
            f"note: no drawing: it has to fit into {columns} columns, and at most {MOST_JOBS} jobs are drawn. "
            "headway convert --to dot draws any.",
            err=True,
        )
