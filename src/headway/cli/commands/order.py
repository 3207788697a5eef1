"""`headway order W`: what runs next, and how many jobs are eligible at every step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import write_content
from headway.cli.display.units import counted
from headway.cli.options import order_option, workflow_arguments
from headway.live.reading.read import no_collection, read, write_whole
from headway.model.dag import Dag
from headway.model.flatten import flatten
from headway.model.record import asdict, record
from headway.policies.what_next import order, settled
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio.certificate import Certificate, certificate
from headway.policies.what_next.prio.plan import Plan

RIVALS = ("fifo", "critical-path")  # whose schedules may show that another is not best


@record
class Ordered:
    """A dag under one order."""

    by: str
    ranks: list[int]
    jobs: list[int]  # in the order in which one worker executes them
    eligible: list[int]
    seconds: float


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
        name = settled(by_name, dag)
        begun = time.process_time()
        plan = Plan(dag)
        ordered = _ordered(dag, name) if name != "prio" else _executed(dag, name, plan.ranks, begun)
        others = [_ordered(dag, settled(other, dag)) for other in compare_name]
        judged = _judged(dag, plan, ordered)
        if plot is not None:
            curves = {each.by: each.eligible for each in (ordered, *others)}
            write_whole(plot, picture(found.name, curves, kind), "Choose another place with --plot.")
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
        if as_json:
            print_json(_answer(dag, plan, by_name, ordered, others, judged))
            return
        lines = "".join(f"{dag.names[node]}\n" for node in ordered.jobs)
        write_content(lines.encode("utf-8", "surrogateescape"))
        click.echo(_summary(plan, ordered, others, judged), err=True)


def _ordered(dag: Dag, name: str) -> Ordered:
    begun = time.process_time()
    return _executed(dag, name, order(name)(dag), begun)


def _executed(dag: Dag, name: str, ranks: Sequence[int], begun: float) -> Ordered:
    seconds = time.process_time() - begun
    jobs = schedule(dag, ranks)
    return Ordered(name, list(ranks), jobs, eligible(dag, jobs), seconds)


def _judged(dag: Dag, plan: Plan, ordered: Ordered) -> Certificate:
    rivals = ((name, schedule(dag, order(name)(dag))) for name in RIVALS if name != ordered.by)
    if ordered.by == "prio":
        return certificate(dag, plan, None, rivals)
    return certificate(dag, plan, ordered.jobs, chain([("prio", plan.order)], rivals))


def _answer(
    dag: Dag, plan: Plan, by: str, ordered: Ordered, others: list[Ordered], judged: Certificate
) -> dict[str, object]:
    names = dag.names
    return {
        "by": by,
        "chosen": ordered.by,
        "order": [names[node] for node in ordered.jobs],
        "ranks": {names[node]: ordered.ranks[node] for node in dag.jobs()},
        "eligible": ordered.eligible,
        "seconds": ordered.seconds,
        "certificate": asdict(judged),
        "components": [asdict(component) for component in plan.components],
        "compared": [_comparison(dag, ordered, other) for other in others],
    }


def _comparison(dag: Dag, ordered: Ordered, other: Ordered) -> dict[str, object]:
    difference = [ours - theirs for ours, theirs in zip(ordered.eligible, other.eligible, strict=True)]
    return {
        "by": other.by,
        "order": [dag.names[node] for node in other.jobs],
        "eligible": other.eligible,
        "seconds": other.seconds,
        "more": sum(value > 0 for value in difference),
        "fewer": sum(value < 0 for value in difference),
        "most": max(difference),
        "least": min(difference),
        "mean": sum(difference) / len(difference),
    }


def _summary(plan: Plan, ordered: Ordered, others: list[Ordered], judged: Certificate) -> str:
    verdict = {True: "IC-optimal", False: "not IC-optimal", None: "not known to be IC-optimal"}[judged.ic_optimal]
    steps = len(ordered.eligible)
    mean = sum(ordered.eligible) / steps
    lines = [
        f"{ordered.by}: {counted(len(ordered.jobs), 'job')}, {counted(len(plan.components), 'component')}; {mean:,.1f} "
        f"jobs eligible on average, {max(ordered.eligible):,} at most; {ordered.seconds:.2f} s.",
        f"{ordered.by} is {verdict}: {judged.reason}.",
    ]
    for other in others:
        difference = [ours - theirs for ours, theirs in zip(ordered.eligible, other.eligible, strict=True)]
        lines.append(
            f"Against {other.by}: more eligible jobs at {sum(value > 0 for value in difference):,} of {steps:,} steps, "
            f"fewer at {sum(value < 0 for value in difference):,}; {sum(difference) / steps:+,.1f} on average, "
            f"{max(difference):+,} at most, {min(difference):+,} at least."
        )
    return "\n".join(lines)
