"""`headway simulate queue W`: how much to ask a batch queue for, tried out in the log of a real one."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.display.answer import print_json
from headway.cli.display.terminal import harmless
from headway.cli.display.units import counted
from headway.cli.options import workflow_arguments
from headway.model.errors import UsageError, shown
from headway.model.quantities import duration, seconds

if TYPE_CHECKING:
    from headway.model.dag import Dag
    from headway.sim.submission import Case
    from headway.sim.trials import Trial, Trials

_MANY = 100_000  # jobs of a log that take more than a second or two
_LONGEST = 1e10  # seconds, as in logs: what takes longer is a mistake


@click.command("queue", short_help="How much to ask a batch queue for, tried out in a real queue's log.")
@workflow_arguments
@click.option("--log", "log_file", metavar="L", required=True, help="A log in the Standard Workload Format (.gz, .xz).")
@click.option("--policy", metavar="P", default="FCFS", show_default=True, help="FCFS, FL, FS, or a file like theirs.")
@click.option(
    "--method",
    "methods",
    metavar="A,B",
    default="hybrid,giant,individual",
    show_default=True,
    help="Methods to compare.",
)
@click.option(
    "--starts", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Moments of submission."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other moments.")
@click.option(
    "--estimate",
    metavar="NAME",
    default="requested",
    show_default=True,
    help="What methods know of waits: requested, corrected, history, history-median.",
)
@click.option(
    "--processors", type=click.IntRange(1), help="Of the machine, where the log does not tell, or another size."
)
@click.option(
    "--jobs",
    type=click.Choice(["finished", "all"]),
    default="finished",
    show_default=True,
    help="Which jobs of the log are replayed.",
)
@click.option("--time", "default_time", metavar="T", help="Run time of jobs that tell none, such as 10m.")
@click.option(
    "--error",
    type=click.FloatRange(0, 5),
    default=0.0,
    show_default=True,
    help="How wrong expected run times are: the sigma of a lognormal factor.",
)
@click.option(
    "--mapping",
    type=click.Choice(["loose", "strict"]),
    default="loose",
    show_default=True,
    help="Whether an allocation runs any job that fits once its own run (loose), or its own only, as in the paper.",
)
@click.option("--max-requests", type=click.IntRange(1), help="Allocations that may wait or run at once.")
@click.option(
    "--max-processors",
    type=click.IntRange(1),
    help="Processors of one allocation; hybrid+, individual: of all that are out at once.",
)
@click.option("--core-hours", type=click.FloatRange(0, min_open=True), help="What may be asked for in all (hybrid+).")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def queue(
    workflow: str,
    arguments: tuple[str, ...],
    format_name: str | None,
    log_file: str,
    policy: str,
    methods: str,
    starts: int,
    seed: int,
    estimate: str,
    processors: int | None,
    jobs: str,
    default_time: str | None,
    error: float,
    mapping: str,
    max_requests: int | None,
    max_processors: int | None,
    core_hours: float | None,
    as_json: bool,
) -> None:
    """Submit a workflow to a batch queue that serves a real log, by several methods, at many moments of the log.

    A method says which allocations to ask for: one for each job (individual), one for all (giant), or groups of levels
    such that one's wait hides behind another's run (hybrid). The wait of a workflow is what it takes beyond its run
    time on processors without end. All methods meet the same moments; differences are judged by pairs. The log's jobs
    come when they came; when they start may change because of us, and the answer says by how much.

    W is a workflow in any format, or a dag of the paper: EMAN:0 to EMAN:24, BLAST:…, Montage:…, FFT:…, Gauss:….

    \b
      headway simulate queue W --log CTC-SP2.swf.xz --policy FL --method hybrid,individual
      headway simulate queue Montage:12 --log KTH-SP2.swf.xz --starts 20 --estimate corrected
    """
    from headway.formats.swf import parse
    from headway.live.reading.files import Files
    from headway.policies.how_much import Limits, method
    from headway.sim.measures import queue_answer
    from headway.sim.queue_policies import policy as queue_policy
    from headway.sim.trials import Setting, Trials, moments

    names = list(dict.fromkeys(filter(None, map(str.strip, methods.split(",")))))
    if not names:
        raise UsageError("--method names no method.", "Try --method hybrid,giant,individual.")
    for one in names:
        method(one)
    for option, value in (("--error", error), ("--core-hours", core_hours or 0.0)):
        if not math.isfinite(value):
            raise UsageError(f"{option} is no number.", "Give one such as 0.5, or leave it out.")
    rules = queue_policy(policy)
    name, dag, cores, warnings = _workflow(workflow, arguments, format_name)
    dag = _timed(dag, default_time)
    log = parse(log_file, Files().lines(log_file), processors, jobs, Path(log_file).name)
    limits = Limits(max_requests, max_processors, core_hours)
    case = _case(dag, cores, error, seed, name)
    if dag.width > log.processors:
        warnings.append(
            f"the workflow is up to {dag.width:,} jobs wide, the machine has {log.processors:,} processors."
        )
    most = min(log.processors, max_processors or log.processors)
    wide = sum(one > most for one in cores or ())
    if wide:
        warnings.append(f"wider than {counted(most, 'processor')}: {counted(wide, 'job')}. Each gets {most:,}.")
    deaf = [one for one in names if one in ("individual", "giant", "hybrid")]
    if core_hours is not None and deaf:
        warnings.append(f"{', '.join(deaf)}: --core-hours is not looked at, only hybrid+ keeps to it.")
    _compiled(len(log))
    begun = time.perf_counter()
    trials = Trials(Setting(log, rules, estimate, limits, mapping == "loose"), moments(log, starts, seed))
    found = _measured(trials, case, names)
    spent = time.perf_counter() - begun
    warnings += _over_budget(found, core_hours)
    asked = {"starts": starts, "seed": seed, "estimate": estimate, "error": error, "log_jobs_replayed": jobs}
    asked["mapping"] = mapping
    answer = queue_answer(name, case, trials, found, asked, spent, warnings)
    if as_json:
        print_json(answer)
    else:
        click.echo(harmless(_text(answer)))


def _over_budget(found: Mapping[str, Sequence[Trial]], core_hours: float | None) -> list[str]:
    """What hybrid+ has used beyond the budget: where no group is within it, jobs go one by one."""
    rows = found.get("hybrid+", ()) if core_hours is not None else ()
    over = [row.core_hours for row in rows if row.core_hours > (core_hours or 0.0)]
    if not over:
        return []
    return [
        f"hybrid+: {counted(len(over), 'start')} of {len(rows)} took more than --core-hours {core_hours:g}, up to"
        f" {max(over):,.1f}. Where no group of levels is within it, jobs are asked for one by one."
    ]


def _compiled(jobs: int) -> None:
    from headway.cli.display.bar import Bar
    from headway.sim.kernels import kept
    from headway.sim.replay import prepare

    with Bar(1) as bar:
        if not kept("batch", "advance"):
            bar.say("compiling the simulator: once, some seconds.")
        prepare()
        if jobs > _MANY:
            bar.say(f"replaying {jobs:,} jobs of the log: some seconds.")


def _measured(trials: Trials, case: Case, names: Sequence[str]) -> dict[str, list[Trial]]:
    """A trial for each method and moment, on all cores."""
    from headway.cli.display.bar import Bar
    from headway.sim.trials import on_all_cores

    work = [(how, start) for how in names for start in range(len(trials.starts))]
    found: dict[str, list[Any]] = {how: [None] * len(trials.starts) for how in names}
    with Bar(len(work)) as bar:
        for at, trial in on_all_cores(lambda item: trials.trial(case, *item), work):
            how, start = work[at]
            found[how][start] = trial
            bar.add(1)
    return found


def _workflow(
    workflow: str, arguments: tuple[str, ...], format_name: str | None
) -> tuple[str, Dag, list[int] | None, list[str]]:
    """The dag that W names, its name, the cores of its jobs, and what there is to warn of."""
    if not arguments and format_name is None and not Path(workflow).exists():
        from headway.experiments.batchqueue.dags import FAMILIES, named

        known = named(workflow)
        if known is not None:
            return known.name, known.dag(), None, []
        if workflow.partition(":")[0].lower() in map(str.lower, FAMILIES) and ":" in workflow:
            raise UsageError(f"there is no dag {shown(workflow)}.", f"There are {', '.join(FAMILIES)}, each :0 to :24.")
    from headway.live.reading.read import read
    from headway.model.flatten import flatten

    found = read(workflow, *arguments, format=format_name)
    flat = flatten(found)
    cores = [1 if job is None else max(1, job.resources.cores) for job in flat.jobs]
    return found.name, flat.dag, cores, list(found.warnings)


def _timed(dag: Dag, default: str | None) -> Dag:
    """Every job with a run time: its own, or the one that is given for those that tell none."""
    try:
        known = None if default is None else seconds(default)
    except ValueError as expected:
        raise UsageError(f"--time is not {expected}.") from None
    if dag.timed < dag.job_count:
        if known is None:
            raise UsageError(
                f"{dag.job_count - dag.timed:,} of {dag.job_count:,} jobs tell no run time.",
                "Give one with --time, such as --time 10m.",
            )
        dag = dag.with_seconds([one or known for one in dag.seconds])
    for job, time_of in zip(dag.names, dag.seconds, strict=True):
        if time_of > _LONGEST:
            raise UsageError(f"job {shown(job)} takes {time_of:.3g} s, more than 300 years.", "Correct its run time.")
    return dag


def _case(dag: Dag, cores: list[int] | None, error: float, seed: int, name: str) -> Case:
    from headway.sim.submission import Case, mistaken

    return Case(dag, cores, mistaken(dag, error, seed, name) if error else None)


def _text(answer: Mapping[str, Any]) -> str:
    """Tables for people."""
    head = (
        f"{answer['workflow']}: {counted(answer['jobs'], 'job')}, {duration(answer['run_time'])} without a queue;"
        f" {answer['log']} ({counted(answer['log_jobs'], 'job')}, {counted(answer['processors'], 'processor')}),"
        f" {answer['policy']}, {counted(answer['starts'], 'start')}, seed {answer['seed']}"
    )
    columns = (
        f"{'wait (h)':>28}{'relative':>10}{'makespan':>14}{'all waits (h)':>15}{'core hours':>12}{'allocations':>12}"
    )
    lines = [head, "", f"{'mean':<14}{columns}"]
    for how, row in answer["methods"].items():
        lines.append(
            f"{how:<14}{_told(row['wait'], answer):>28}{row['relative_wait']['mean']:>10.2f}"
            f"{duration(row['makespan']['mean']):>14}{_hours(row['allocation_wait']['mean']):>15}"
            f"{row['core_hours']['mean']:>12,.0f}{row['allocations']:>12,.1f}"
        )
    if answer["comparisons"]:
        lines += ["", "wait (h), by pairs"]
    for pair in answer["comparisons"]:
        judged = "significant" if pair["significant"] else "not significant"
        test = f", {judged} at 0.05" if answer["starts"] > 1 else ""
        lines.append(f"  {pair['method']} − {pair['over']}: {_told(pair, answer)}{test}")
    lines += ["", "jobs of the log that started at another time because of us, until the workflow ended:"]
    for how, row in answer["methods"].items():
        held = f"; {row['held_log_jobs']:,.1f} still waited, by at least {row['held_seconds']:,.0f} s"
        lines.append(
            f"  {how}: {row['shifted_log_jobs']:,.1f}, by {row['shift_seconds']:+,.0f} s on average"
            + held * (row["held_log_jobs"] > 0)
        )
    lines.append(f"{answer['log_jobs_per_second']:,.0f} log jobs a second, {answer['seconds']:.1f} s.")
    lines += [f"warning: {warning}" for warning in answer["warnings"]]
    return "\n".join(lines)


def _told(value: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """A mean in hours with its interval; one start has none."""
    interval = f" [{_hours(value['low'])}, {_hours(value['high'])}]" if answer["starts"] > 1 else ""
    return _hours(value["mean"]) + interval


def _hours(value: float) -> str:
    return "-" if math.isnan(value) else f"{round(value / 3600, 2) + 0.0:,.2f}"
