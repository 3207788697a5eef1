"""`headway simulate grid W`: orders against each other on workers that arrive in batches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import harmless
from headway.cli.options import workflow_arguments
from headway.model.errors import UsageError

if TYPE_CHECKING:
    from headway.model.dag import Dag
    from headway.sim.answer import Measured
    from headway.sim.comparison import Effort
    from headway.sim.grid import Model, Queue, Workers


@click.command("grid", short_help="Orders against each other on workers that arrive in batches.")
@workflow_arguments
@click.option("--order", "orders", metavar="A,B", default="prio,fifo", show_default=True, help="The orders to compare.")
@click.option("--bit", type=float, default=1.0, show_default=True, help="Mean time between batches of workers.")
@click.option("--bs", type=float, default=16.0, show_default=True, help="Mean number of workers in a batch.")
@click.option("--p", type=click.IntRange(1, 3000), default=300, show_default=True, help="How many samples.")
@click.option("--q", type=click.IntRange(1, 10**6), default=50, show_default=True, help="Replications in a sample.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other random numbers.")
@click.option(
    "--times",
    type=click.Choice(["equal", "file", "relative"]),
    default="equal",
    show_default=True,
    help="Mean run times: 1 for every job, those that W tells, or those divided by their mean.",
)
@click.option(
    "--spread",
    type=click.FloatRange(min=0),
    default=0.1,
    show_default=True,
    help="Standard deviation of a run time, as a share of its mean.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def grid(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    orders: str,
    bit: float,
    bs: float,
    p: int,
    q: int,
    seed: int,
    times: str,
    spread: float,
    as_json: bool,
) -> None:
    """Compare orders of a workflow's jobs on workers that arrive in batches and take one job each.

    It is the model of the PRIO paper: batches arrive after exponential times, their sizes are exponential, run times
    are normal. Each order is measured p times, each time by the mean of q replications; a ratio of two orders is that
    of all p² pairs, with the interval that holds 95% of them. Orders are compared with the last one named. As all
    orders meet the same workers, the ratio of their means is known more closely, and has an interval of its own.

    W is a workflow in any format, or a dag of the paper: airsn, airsn:WIDTH, inspiral, montage, sdss.

    \b
      headway simulate grid airsn --order prio,fifo --bit 1 --bs 16
      headway simulate grid W.json --order prio-weighted,prio,fifo --times relative
    """
    from headway.policies.what_next import order
    from headway.sim.answer import answer
    from headway.sim.comparison import Effort
    from headway.sim.grid import Model, Queue, Workers

    names = list(dict.fromkeys(filter(None, map(str.strip, orders.split(",")))))
    if not names:
        raise UsageError("--order names no order.", "Try --order prio,fifo.")
    rules = {one: order(one) for one in names}
    workers = Workers(bit, bs)
    name, dag, warnings = _dag(workflow, arguments, format_name)
    dag, means = _timed(dag, times)
    model = Model(dag, means, spread)
    model.check(workers)
    queues = {one: Queue.by(rule(dag)) for one, rule in rules.items()}
    settings = {"bit": bit, "bs": bs, "p": p, "q": q, "seed": seed, "times": times, "spread": spread}
    found = answer(name, model, settings, _measured(model, queues, workers, Effort(p, q, seed)), warnings)
    if as_json:
        print_json(found)
    else:
        click.echo(harmless(_text(found)))


def _measured(model: Model, queues: Mapping[str, Queue], workers: Workers, effort: Effort) -> Measured:
    """Compares orders, and shows how far that is."""
    from headway.cli.display.bar import Bar
    from headway.sim.answer import measured, simulated
    from headway.sim.kernels import kept

    with Bar(simulated(model, queues, effort)) as bar:
        if not kept():
            bar.say("compiling the simulator: once, some seconds.")
        return measured(model, queues, workers, effort, bar.add)


def _dag(workflow: str, arguments: tuple[str, ...], format_name: str | None) -> tuple[str, Dag, list[str]]:
    """The dag that W names, its name, and what there is to warn of."""
    if not arguments and format_name is None and not os.path.exists(workflow):  # noqa: PTH110 - no error for any name
        from headway.experiments.prio.dags import named

        known = named(workflow)
        if known is not None:
            return workflow, known.dag(), []
    from headway.live.reading.read import read
    from headway.model.flatten import flatten

    found = read(workflow, *arguments, format=format_name)
    return found.name, flatten(found).dag, list(found.warnings)


def _timed(dag: Dag, times: str) -> tuple[Dag, list[float] | None]:
    """The dag as orders see it, and the mean run times; orders know them if W tells them and they are asked for."""
    if times == "equal":
        return dag.with_seconds([None] * len(dag)), None
    if not dag.timed:
        raise UsageError(f"--times {times}: the workflow tells no run times.", "Without --times all are 1.")
    mean = dag.work / dag.timed
    unknown = mean if dag.timed < dag.job_count else 0.0
    unit = mean if times == "relative" and mean else 1.0
    means = [
        0.0 if milestone else (seconds or unknown) / unit
        for seconds, milestone in zip(dag.seconds, dag.milestones, strict=True)
    ]
    return dag.with_seconds(means), means


def _text(answer: Mapping[str, Any]) -> str:
    """A table for people."""
    lines = [
        f"{answer['workflow']}: {answer['jobs']:,} jobs, batches of {answer['bs']:g} workers every {answer['bit']:g}"
        f" on average, p = {answer['p']}, q = {answer['q']}, seed {answer['seed']}",
        "",
        _row("mean", ["execution time", "stalling", "utilisation"]),
        *(_row(name, [f"{value:.4g}" for value in row.values()]) for name, row in answer["orders"].items()),
    ]
    for name, row in answer["comparisons"].items():
        lines += [
            "",
            _row(f"{name} / {answer['over']}", [_number(it["median"]) for it in row.values()]),
            _row("  95% of all pairs", [_interval(it["low"], it["high"]) for it in row.values()]),
            _row("  95%, means", [_interval(*(it["paired"] or (0, None, None))[1:]) for it in row.values()]),
        ]
    lines += ["", f"{answer['jobs_per_second'] / 1e6:.1f} million jobs a second, {answer['seconds']:.1f} s."]
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    return "\n".join(lines)


def _row(name: str, cells: list[str]) -> str:
    return f"{name:<28}" + "".join(f"{cell:>18}" for cell in cells)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None else f"{_number(low)} … {_number(high)}"
