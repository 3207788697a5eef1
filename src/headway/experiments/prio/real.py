"""Dags of real workflows, where their files are at hand: PRIO against FIFO, and known run times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from headway.experiments.prio.known_times import Subject, timed
from headway.experiments.report import Report
from headway.live.read import read
from headway.model.dag import Dag
from headway.model.flatten import flatten
from headway.policies.what_next import order
from headway.sim.comparison import Effort, compared
from headway.sim.grid import Model, Queue, Workers

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


def add(report: Report, dags: Mapping[str, Dag], effort: Effort, done: Callable[[float], None]) -> None:
    """The best and the worst setting of each at a mean interval of 1, run times as in the paper."""
    report.say(
        "## Real dags",
        "Ratio of mean execution times, PRIO over FIFO, in the model of the paper (run times of mean 1) at μ_BIT = 1,"
        f" least and greatest over μ_BS {', '.join(f'{batch:g}' for batch in BATCHES)}, jobs in the order of their"
        f" files (p = {effort.p}, q = {effort.q}).",
    )
    rows = []
    for name, dag in dags.items():
        plain = dag.with_seconds([None] * len(dag))
        model, queues = Model(plain), {one: Queue.by(order(one)(plain)) for one in ("prio", "fifo")}
        ratios = []
        for batch in BATCHES:
            ratio = compared(model, queues, Workers(1.0, batch), effort, done).ratios["prio"]["execution_time"].paired
            ratios.append((*(ratio or (1.0, 1.0, 1.0)), batch))
        rows.append([name, f"{dag.job_count:,}", *(_told(*which(ratios)) for which in (min, max))])
    report.table(["workflow", "jobs", "least", "greatest"], rows)
    report.data["real"] = rows


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
    return 2 * len(BATCHES) * effort.p * effort.q * sum(dag.job_count for dag in dags.values())
