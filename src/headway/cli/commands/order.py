"""`headway order W`: what runs next, and how many jobs are eligible at every step."""

from __future__ import annotations

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import write_content
from headway.cli.display.units import counted
from headway.cli.options import order_option, workflow_arguments
from headway.live.answers.order import Compared, answer, compared
from headway.live.reading.read import no_collection, read, write_whole
from headway.model.flatten import flatten


@click.command("order", short_help="What runs next.")
@workflow_arguments
@order_option("--by", default="auto", show_default=True, help="The order; auto takes what suits the workflow best.")
@order_option("--compare", multiple=True, help="Another order to compare it with; may be given again.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Draw the eligible jobs to an .svg, .png or .pdf file.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    by_name: str,
    compare_name: tuple[str, ...],
    plot: str | None,
    as_json: bool,
) -> None:
    """Show the order in which jobs would be executed one at a time, one job a line.

    The orders: fifo (first come, first served), critical-path (longest way to the end first), prio (as many jobs
    eligible as can be), prio-weighted (longest way, with waits for workers, prio among equals), and those of installed
    packages. What is proved of the order, and a comparison, are told on standard error.

    \b
      headway order diamond.dag --by prio
      headway order montage.dag --by prio --compare fifo --plot eligible.svg
    """
    if plot is not None:
        from headway.experiments.eligibility import kind_of, picture

        kind = kind_of(plot)
    with no_collection():
        found = read(workflow, *arguments, format=format_name)
        dag = flatten(found).dag
        orders = compared(dag, by_name, compare_name)
        if plot is not None:
            curves = {each.by: each.eligible for each in (orders.ordered, *orders.others)}
            write_whole(plot, picture(found.name, curves, kind), "Choose another place with --plot.")
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
        if as_json:
            print_json(answer(dag, orders))
            return
        lines = "".join(f"{dag.names[node]}\n" for node in orders.ordered.jobs)
        write_content(lines.encode("utf-8", "surrogateescape"))
        click.echo(_summary(orders), err=True)


def _summary(found: Compared) -> str:
    ordered, judged = found.ordered, found.certificate
    verdict = {True: "IC-optimal", False: "not IC-optimal", None: "not known to be IC-optimal"}[judged.ic_optimal]
    steps = len(ordered.eligible)
    mean = sum(ordered.eligible) / steps
    lines = [
        f"{ordered.by}: {counted(len(ordered.jobs), 'job')}, {counted(len(found.plan.components), 'component')}; "
        f"{mean:,.1f} jobs eligible on average, {max(ordered.eligible):,} at most; {ordered.seconds:.2f} s.",
        f"{ordered.by} is {verdict}: {judged.reason}.",
    ]
    for other in found.others:
        difference = [ours - theirs for ours, theirs in zip(ordered.eligible, other.eligible, strict=True)]
        lines.append(
            f"Against {other.by}: more eligible jobs at {sum(value > 0 for value in difference):,} of {steps:,} steps, "
            f"fewer at {sum(value < 0 for value in difference):,}; {sum(difference) / steps:+,.1f} on average, "
            f"{max(difference):+,} at most, {min(difference):+,} at least."
        )
    return "\n".join(lines)
