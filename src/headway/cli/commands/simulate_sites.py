"""`headway simulate sites W`: site policies against each other at sites whose queues come and go."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import harmless
from headway.cli.options import workflow_arguments
from headway.model.errors import UsageError, shown
from headway.model.quantities import duration

if TYPE_CHECKING:
    from headway.sim.site_answer import Measured
    from headway.sim.site_work import Workload
    from headway.sim.sites import Model, Strategy, World


@click.command("sites", short_help="Site policies against each other at sites whose queues come and go.")
@workflow_arguments
@click.option("--sites", "sites_file", metavar="FILE", default="osg", show_default=True, help="The sites, in TOML.")
@click.option(
    "--where",
    "policies",
    metavar="A,B",
    default="opportunistic,round-robin",
    show_default=True,
    help="The policies to compare.",
)
@click.option("--runs", type=click.IntRange(1, 10**6), default=20, show_default=True, help="Runs of each policy.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other random numbers.")
@click.option(
    "--patience",
    metavar="TIME,…",
    default="0",
    show_default=True,
    help="How long a job may be idle in a queue before it is sent elsewhere; 0: for ever. Several are a sweep.",
)
@click.option("--history", metavar="TIME", help="Half-life of what prompt remembers; 0: it forgets nothing. [1h]")
@click.option("--seconds", metavar="TIME", help="Run time of jobs that tell none. [the mean of those that do, or 60]")
@click.option("--retries", type=click.IntRange(0, 1000), default=3, show_default=True, help="For jobs that set none.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def sites(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    sites_file: str,
    policies: str,
    runs: int,
    seed: int,
    patience: str,
    history: str | None,
    seconds: str | None,
    retries: int,
    as_json: bool,
) -> None:
    """Compare policies that choose a site for each job, at sites that other people use too.

    A site has processors of which others take a part, or for a while all. A job is planned, its files are moved, and it
    waits in the queue of its site. All policies meet the same spells at the same sites; each is compared with the last
    one named. docs/sites.md describes the file of sites and the policies.

    W is a workflow in any format, or the pipeline of the opportunistic paper: pipeline, pipeline:WIDTH. Without a file
    of sites they are the paper's twelve (osg).

    \b
      headway simulate sites pipeline --where opportunistic,round-robin --patience 10m
      headway simulate sites W.json --sites sites.toml --where prompt,weighted --patience 0,5m,30m --runs 100
    """
    from headway.policies.where import where
    from headway.policies.where.seen import HISTORY
    from headway.sim.site_answer import answer
    from headway.sim.sites import Model, Strategy

    names = list(dict.fromkeys(filter(None, map(str.strip, policies.split(",")))))
    if not names:
        raise UsageError("--where names no policy.", "Try --where opportunistic,round-robin.")
    for name in names:
        where(name)
    waits = list(dict.fromkeys(_time("--patience", text) for text in patience.split(",")))
    half_life = HISTORY if history is None else _time("--history", history)
    unknown = None if seconds is None else _time("--seconds", seconds)
    world = _world(sites_file)
    title, load, warnings = _workload(workflow, arguments, format_name, unknown, retries)
    strategies = [Strategy(name, wait, half_life) for name in names for wait in waits]
    model = Model(load, world)
    settings = {"sites": sites_file, "runs": runs, "seed": seed, "patience": waits, "history": half_life}
    found = answer(title, model, settings, _measured(model, strategies, runs, seed), warnings)
    if as_json:
        print_json(found)
    else:
        click.echo(harmless(_text(found)))


def _time(option: str, text: str) -> float:
    from headway.model.quantities import seconds

    try:
        return seconds(text)
    except ValueError as error:
        raise UsageError(f"{option} {shown(text)} is no time.", f"Expected {error}.") from None


def _world(name: str) -> World:
    """The sites of a file, or the paper's."""
    from headway.experiments.opportunistic import osg
    from headway.sim.site_file import parse

    path = Path(name)
    if name == osg.NAME and not path.exists():
        return osg.world()
    try:
        return parse(path.read_text("utf-8"), name)
    except OSError as error:
        raise UsageError(
            f"--sites {shown(name)} cannot be read: {error.strerror}.", "docs/sites.md shows one."
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"--sites {shown(name)} is no text.", "docs/sites.md shows a file of sites.") from None


def _workload(
    workflow: str, arguments: tuple[str, ...], format_name: str | None, unknown: float | None, retries: int
) -> tuple[str, Workload, list[str]]:
    """What W names, its name, and what there is to warn of."""
    from headway.sim.site_work import Workload, timed

    if not arguments and format_name is None and not os.path.exists(workflow):  # noqa: PTH110 - no error for any name
        from headway.experiments.opportunistic.pipeline import named

        known = named(workflow, retries)
        if known is not None:
            return workflow, known, []
    from headway.live.reading.read import read
    from headway.model.flatten import flatten

    found = read(workflow, *arguments, format=format_name)
    flat, warnings = flatten(found), list(found.warnings)
    if found.final or found.provisioner or found.services:
        warnings.append("final, provisioner and service nodes are not simulated.")
    if found.throttles or any(job and (job.rules.pre or job.rules.post) for job in flat.jobs):
        warnings.append("scripts and throttles are not simulated.")
    load = Workload.of(flat, dict(found.files), timed(flat.dag, unknown), retries)
    return found.name, load, warnings


def _measured(model: Model, strategies: Sequence[Strategy], runs: int, seed: int) -> Measured:
    """Runs all strategies, and shows how far that is."""
    from headway.cli.display.bar import Bar
    from headway.sim.kernels import kept
    from headway.sim.site_answer import compared, simulated

    with Bar(simulated(model, strategies, runs)) as bar:
        if not kept("sites"):
            bar.say("compiling the simulator: once, some seconds.")
        return compared(model, strategies, runs, seed, bar.add)


def _text(answer: Mapping[str, Any]) -> str:
    """A table for people."""
    lines = [
        f"{answer['workflow']}: {answer['jobs']:,} jobs, {duration(answer['work_seconds'])} of work, longest path"
        f" {duration(answer['critical_path_seconds'])}; sites {answer['sites']}, {answer['runs']} runs,"
        f" seed {answer['seed']}",
        "",
        _row("execution time", ["least", "median", "mean", "95%", "greatest", "speed-up", "withdrawn"]),
    ]
    for name, one in answer["wheres"].items():
        it = one["makespan"]
        shares = [f"{it['min']:,.0f}", f"{it['median']:,.0f}", f"{it['mean']:,.0f}"]
        between = f"{it['low']:,.0f} … {it['high']:,.0f}"
        lines.append(
            _row(name, [*shares, between, f"{it['max']:,.0f}", f"{one['speedup']:.1f}", f"{one['withdrawn']:.1f}"])
        )
        if one["failed"]:
            lines.append(f"  {one['failed']:.1f} jobs failed for good on average")
    for name, ratio in answer["ratios"].items():
        value, low, high = ratio
        lines.append(f"{name} / {answer['over']}: mean {value:.3f}, 95% {low:.3f} … {high:.3f}")
    lines += ["", f"{answer['jobs_per_second'] / 1e6:.2f} million jobs a second, {answer['seconds']:.1f} s."]
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    return "\n".join(lines)


def _row(name: str, cells: list[str]) -> str:
    widths = (10, 10, 10, 20, 10, 10, 11)
    return f"{name:<30}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
