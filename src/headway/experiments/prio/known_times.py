"""Beyond the paper: run times that differ and are known. Which order is best, and so which one `auto` should take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random

from headway.experiments.prio.results import Result, Results
from headway.experiments.report import Report
from headway.model.dag import Dag
from headway.model.record import record
from headway.policies.what_next import order
from headway.policies.what_next.prio_weighted import ranks_with_wait
from headway.sim.comparison import Effort
from headway.sim.grid import Model, Queue, Workers

INTERVALS, BATCHES = (0.1, 1.0, 10.0), (4.0, 16.0, 64.0)
CLOSE = 0.005  # as good as the best
DRAWS = 3
KNOWING = "wait known"
ORDERS = ("critical-path", "prio-weighted", KNOWING, "prio", "fifo")  # the last is what others are compared with


@record
class Subject:
    """A dag whose run times are known, their mean being 1."""

    name: str
    times: str
    dag: Dag


def subjects(dags: Mapping[str, Dag], draws: int = DRAWS) -> list[Subject]:
    """Run times drawn job by job (lognormal, deviation 1 of the logarithm), and the same for all jobs of a level."""
    found = []
    for name, dag in dags.items():
        for draw in range(draws):
            random = Random(f"{name} {draw}")
            jobs = [random.lognormvariate(0, 1) for _ in range(len(dag))]
            level = [random.lognormvariate(0, 1) for _ in dag.levels]
            found.append(Subject(name, "each job its own", timed(dag, jobs)))
            found.append(Subject(name, "alike on a level", timed(dag, [level[at] for at in dag.level_of])))
    return found


def timed(dag: Dag, seconds: Sequence[float]) -> Dag:
    """The dag with run times in units of their mean."""
    mean = sum(seconds[node] for node in dag.jobs()) / max(dag.job_count, 1)
    return dag.with_seconds([value / mean for value in seconds])


def add(
    report: Report, chosen: Sequence[Subject], effort: Effort, results: Results, done: Callable[[float], None]
) -> None:
    """Ratios to FIFO by dag and setting, and the geometric mean of all."""
    report.say(
        "## Beyond the paper: run times that are known",
        "Mean execution time over that of FIFO where run times differ and are known to the order (their mean is 1,"
        " each varies by a tenth). *critical-path* is the longest remaining path; *prio-weighted* adds a mean run time"
        " to every job for the wait for a worker and breaks ties by PRIO; *wait known* adds μ_BIT instead. Geometric"
        f" means over the settings μ_BIT {', '.join(f'{at:g}' for at in INTERVALS)} by μ_BS"
        f" {', '.join(f'{at:g}' for at in BATCHES)}, and over draws of run times (p = {effort.p}, q = {effort.q}).",
    )
    logs: dict[tuple[str, str], list[dict[str, float]]] = {}
    by_setting: dict[tuple[float, float], list[dict[str, float]]] = {}
    for subject in chosen:
        model = Model(subject.dag, subject.dag.seconds)
        fixed = {name: Queue.by(order(name)(subject.dag)) for name in ORDERS if name != KNOWING}
        for interval in INTERVALS:
            queues = {KNOWING: Queue.by(ranks_with_wait(subject.dag, interval)), **fixed}
            for batch in BATCHES:
                row = _logs(results.compared("known", model, queues, Workers(interval, batch), effort, done))
                logs.setdefault((subject.name, subject.times), []).append(row)
                by_setting.setdefault((interval, batch), []).append(row)
    names = ORDERS[:-1]
    rows = [[*subject, *_means(found, names)] for subject, found in logs.items()]
    everything = [row for found in logs.values() for row in found]
    report.table(["dag", "run times", *names], [*rows, ["all", "", *_means(everything, names)]])
    report.say("The same by setting, over all dags:")
    settings = [[f"({at:g}, {size:g})", *_means(found, names)] for (at, size), found in by_setting.items()]
    report.table(["(μ_BIT, μ_BS)", *names], settings)
    best = min(names, key=lambda name: sum(row[name] for row in everything))
    near = {name: sum(row[name] <= min(row.values()) + CLOSE for row in everything) for name in names}
    ratio, low, high = _over(everything, "prio-weighted", "critical-path")
    report.say(
        f"Least over all: **{best}**. Within {CLOSE:g} of the best of all five are, in {len(everything)} cases, "
        + ", ".join(f"{name} {near[name]}" for name in names)
        + f". prio-weighted over critical-path: {ratio:.4f} [{low:.4f}, {high:.4f}]."
    )
    report.data["known_times"] = {
        "best": best,
        "near_best": near,
        "weighted_over_critical_path": [ratio, low, high],
        "rows": rows,
        "settings": settings,
    }


def _over(found: Sequence[Mapping[str, float]], one: str, other: str) -> tuple[float, float, float]:
    """The geometric mean of one order over another, and its 95% interval over cases."""
    logs = [row[one] - row[other] for row in found]
    mean = sum(logs) / len(logs)
    reach = 1.96 * math.sqrt(sum((value - mean) ** 2 for value in logs)) / len(logs)
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def _logs(found: Result) -> dict[str, float]:
    """The logarithm of each order's mean execution time over that of the last."""
    base = found["means"][ORDERS[-1]]["execution_time"]
    return {name: math.log(row["execution_time"] / base) for name, row in found["means"].items()}


def _means(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> list[str]:
    return [f"{math.exp(sum(row[name] for row in found) / len(found)):.3f}" for name in names]


def jobs(chosen: Sequence[Subject], effort: Effort) -> float:
    """How many jobs this simulates."""
    settings = len(INTERVALS) * len(BATCHES) * len(ORDERS)
    return settings * effort.p * effort.q * sum(subject.dag.job_count for subject in chosen)
