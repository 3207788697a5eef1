"""Dags of real workflows, where their files are at hand: PRIO against FIFO, and known run times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.experiments.prio.known_times import Subject, timed
from headway.experiments.prio.results import Results
from headway.experiments.report import Report
from headway.live.reading.read import read
from headway.model.dag import Dag
from headway.model.flatten import flatten
from headway.policies.what_next import order
from headway.sim.comparison import Effort
from headway.sim.grid import Model, Queue, Workers

ORDERS = ("prio", "critical-path", "fifo")  # the last is what the others are compared with
BATCHES = tuple(4.0**power for power in range(1, 7))
MOST = 3000  # jobs: larger ones take long and say little more
FILES = "wfinstances/*.json.xz", "dax/*.xml.xz"
PER_KIND = 1  # of each application the largest that is not too large


def found_in(folder: Path) -> dict[str, Dag]:
    """One dag for each application, by name."""
    best: dict[str, tuple[str, Dag]] = {}
    for pattern in FILES:
        for path in sorted(folder.glob(pattern)):
            dag = flatten(read(path)).dag
            kind = path.name.lower().replace("_", "-").split("-")[0]
            if dag.job_count <= MOST and (kind not in best or dag.job_count > best[kind][1].job_count):
                best[kind] = path.name.split(".")[0], dag
    return dict(sorted(best.values()))


def add(
    report: Report, dags: Mapping[str, Dag], effort: Effort, results: Results, done: Callable[[float], None]
) -> None:
    """The best and the worst setting of each at a mean interval of 1, run times as in the paper."""
    report.say(
        "## Real dags, and the critical path",
        "In the model of the paper (run times of mean 1, not known to the order), mean execution time over that of"
        f" FIFO at μ_BIT = 1 and μ_BS {', '.join(f'{batch:g}' for batch in BATCHES)}: least, greatest and geometric"
        " mean. The dags of the paper have their jobs shuffled, the others are as their files. Critical path is here"
        f" the longest way to the end by the number of jobs (p = {effort.p}, q = {effort.q}).",
    )
    rows, sums = [], []
    for name, dag in dags.items():
        plain = dag.with_seconds([None] * len(dag))
        model, queues = Model(plain), {one: Queue.by(order(one)(plain)) for one in ORDERS}
        ratios, logs = [], []
        for batch in BATCHES:
            found = results.compared(name, model, queues, Workers(1.0, batch), effort, done)
            ratios.append((*(found["ratios"]["execution_time"]["paired"] or (1.0, 1.0, 1.0)), batch))
            times = [found["means"][one]["execution_time"] for one in ORDERS]
            logs.append([math.log(time / times[-1]) for time in times[:-1]])
        sums.append([sum(column) / len(BATCHES) for column in zip(*logs, strict=True)])
        rows.append([name, f"{dag.job_count:,}", *(_told(*which(ratios)) for which in (min, max)), *_means([sums[-1]])])
    rows.append(["all", "", "", "", *_means(sums)])
    report.table(["workflow", "jobs", "PRIO, least", "PRIO, greatest", "PRIO, mean", "critical path, mean"], rows)
    report.data["real"] = rows


def _means(logs: Sequence[Sequence[float]]) -> list[str]:
    """Geometric means, column by column."""
    return [f"{math.exp(sum(column) / len(logs)):.3f}" for column in zip(*logs, strict=True)]


def _told(ratio: float, low: float, high: float, batch: float) -> str:
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}] at {batch:g}"


def subjects(dags: Mapping[str, Dag]) -> list[Subject]:
    """Those whose files tell run times."""
    return [
        Subject(name, "its own", timed(dag, dag.seconds))
        for name, dag in dags.items()
        if dag.timed == dag.job_count and dag.work
    ]


def jobs(dags: Mapping[str, Dag], effort: Effort) -> float:
    """How many jobs this simulates."""
    return len(ORDERS) * len(BATCHES) * effort.p * effort.q * sum(dag.job_count for dag in dags.values())
