"""What the paper leaves open of AIRSN, varied: the order of the file, the handle, how batch sizes become whole."""

from __future__ import annotations

import math
from collections.abc import Callable

from headway.experiments.paper_dags import PaperDag, airsn
from headway.experiments.prio.results import Results
from headway.experiments.report import Report
from headway.model.dag import Dag
from headway.model.record import replace
from headway.policies.what_next import order
from headway.sim.comparison import Effort
from headway.sim.grid import Model, Queue, Workers

BATCHES = (8.0, 16.0, 32.0)
SMALL = (1.0, 2.0, 4.0, 16.0)
RULES = ("geometric", "nearest", "up", "down")
HANDLES = {"layers, depth 6": ("layers", 6), "layers, depth 4": ("layers", 4), "layers, depth 8": ("layers", 8)}
HANDLES |= {"chain": ("chain", 6), "fmri": ("fmri", 6)}


def add(report: Report, effort: Effort, results: Results, done: Callable[[float], None]) -> None:
    """Two tables on AIRSN at a mean interval of 1."""
    report.say(
        "## What the paper leaves open",
        "AIRSN at μ_BIT = 1: ratio of mean execution times, PRIO over FIFO, by the inside of the handle and the order"
        f" of the file (p = {effort.p}, q = {effort.q}; 95% intervals are about"
        f" ±{0.1 / math.sqrt(effort.p * effort.q):.3f}). *Fringes first* is the tidy file upside down.",
    )
    rows = []
    for handle, (shape, depth) in HANDLES.items():
        tidy = airsn(shape=shape, depth=depth)
        files = {"as generated": tidy, "shuffled": tidy.shuffled(1), "fringes first": upside_down(tidy)}
        for file, found in files.items():
            ratios = [_ratio(found.dag(), Workers(1.0, batch), effort, results, done) for batch in BATCHES]
            rows.append([handle, file, *(f"{ratio:.3f}" for ratio in ratios)])
    report.table(["handle", "file", *(f"μ_BS = {batch:g}" for batch in BATCHES)], rows)
    report.data["readings"] = rows
    report.say(
        "The paper's batch sizes are exponential, workers are whole. Here a size is *geometric* with exactly the mean"
        " that is asked for; the other rules round an exponential size to the *nearest* whole number, *up*, or *down*."
    )
    dag = airsn().shuffled(1).dag()
    rows = [
        [rule, *(f"{_ratio(dag, Workers(1.0, batch, rule), effort, results, done):.3f}" for batch in SMALL)]
        for rule in RULES
    ]
    report.table(["sizes", *(f"μ_BS = {batch:g}" for batch in SMALL)], rows)
    report.data["batch_sizes"] = rows


def upside_down(dag: PaperDag) -> PaperDag:
    """The same dag with the last job of the file first."""
    return replace(dag, jobs=dag.jobs[::-1])


def _ratio(dag: Dag, workers: Workers, effort: Effort, results: Results, done: Callable[[float], None]) -> float:
    queues = {name: Queue.by(order(name)(dag)) for name in ("prio", "fifo")}
    means = results.compared("handle", Model(dag), queues, workers, effort, done)["means"]
    ratio: float = means["prio"]["execution_time"] / means["fifo"]["execution_time"]
    return ratio


def jobs(effort: Effort) -> float:
    """How many jobs this simulates."""
    return 2 * 773 * effort.p * effort.q * (len(HANDLES) * 3 * len(BATCHES) + len(RULES) * len(SMALL))
