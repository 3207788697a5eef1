"""Workflows other than the paper's pipeline: generated ones, and real ones where their files are at hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from headway.experiments import paper_dags
from headway.experiments.opportunistic.measuring import OPPORTUNISTIC, TWENTY, jobs, run, told
from headway.experiments.opportunistic.osg import PATIENCE, world
from headway.experiments.report import Report
from headway.live.reading.read import read
from headway.model.dag import Dag
from headway.model.flatten import Flat, flatten
from headway.model.job import Job
from headway.model.quantities import duration
from headway.model.record import replace
from headway.sim.site_work import Transfers, Workload, timed
from headway.sim.sites import Strategy, World

SECONDS = 160.0  # of a job of a generated dag: the mean of the paper's pipeline
FILES = "wfinstances/*.json.xz", "dax/*.xml.xz"
MOST = 2000  # jobs
MOVING = Transfers(1.0, 10 * 2.0**20)  # seconds a file, bytes a second: a wide-area link of the time
POLICIES = ("prompt", "round-robin", "weighted", "last-used", "data-present")
STRATEGIES = (
    OPPORTUNISTIC,
    Strategy("opportunistic"),
    *(Strategy(name, patience) for name in POLICIES for patience in (PATIENCE, 0.0)),
)


def generated() -> dict[str, Workload]:
    """Shapes that the papers name, all jobs alike: what the shape alone does."""
    dags = {
        "bag of 300": Dag([f"n{at}" for at in range(300)], [], []),
        "chain of 30": Dag([f"n{at}" for at in range(30)], range(29), range(1, 30)),
        "fork-join of 100": paper_dags.fork_join(100).dag(),
        "AIRSN 50": paper_dags.airsn(50).dag(),
        "Gaussian 20": paper_dags.gauss(20).dag(),
        "FFT 64": paper_dags.fft(64).dag(),
    }
    return {name: _plain(dag) for name, dag in dags.items()}


def _plain(dag: Dag) -> Workload:
    flat = Flat(dag, [None if milestone else Job("true") for milestone in dag.milestones], frozenset())
    return Workload.of(flat, {}, [0.0 if milestone else SECONDS for milestone in dag.milestones])


def found_in(folder: Path) -> dict[str, Workload]:
    """Of each application the largest that is not too large, with its own run times, files and sizes."""
    best: dict[str, tuple[str, Workload]] = {}
    for pattern in FILES:
        for path in sorted(folder.glob(pattern)):
            workflow = read(path)
            flat = flatten(workflow)
            kind = path.name.lower().replace("_", "-").split("-")[0]
            count = flat.dag.job_count
            if count <= MOST and (kind not in best or count > best[kind][1].dag.job_count):
                load = Workload.of(flat, dict(workflow.files), timed(flat.dag))
                load.needs = [replace(needs, program="", cores=1, memory=0) for needs in load.needs]
                best[kind] = path.name.split(".")[0], load
    return dict(sorted(best.values()))


def there() -> World:
    """The paper's sites, with transfer times by size."""
    return replace(world(), transfers=MOVING)


def add(report: Report, loads: dict[str, Workload], sets: int, done: Callable[[float], None]) -> None:
    """Mean time over that of opportunistic, with and without patience."""
    report.say(
        "## Other workflows",
        "The same sites; mean time of each strategy over that of opportunistic, both with a patience of"
        f" {duration(PATIENCE)}, then both without. Generated dags have jobs of {SECONDS:g} s and no files. Real ones"
        f" have their own run times and files (a second each and {MOVING.bandwidth / 2**20:g} MB a second), one core a"
        f" job, and the largest of each application up to {MOST:,} jobs; {TWENTY * sets} runs of each strategy.",
    )
    head = ["workflow", "jobs", "work", "opportunistic's mean", "its gain over round-robin, patience for itself alone"]
    head += [f"{name}, patience" for name in POLICIES] + [f"{name}, none" for name in POLICIES]
    rows, data = [], {}
    logs: dict[str, list[float]] = {}
    for name, load in loads.items():
        group = run(load, there(), STRATEGIES, sets, done=done)
        alone = Strategy("opportunistic")
        gain = group.over(Strategy("round-robin"), OPPORTUNISTIC)
        patient = {one: group.over(Strategy(one, PATIENCE), OPPORTUNISTIC) for one in POLICIES}
        without = {one: group.over(Strategy(one), alone) for one in POLICIES}
        mean = float(group.times(OPPORTUNISTIC).mean())
        rows.append(
            [name, f"{load.dag.job_count:,}", duration(sum(load.seconds)), duration(mean), told(gain)]
            + [told(patient[one]) for one in POLICIES]
            + [told(without[one]) for one in POLICIES]
        )
        data[name] = {
            "jobs": load.dag.job_count,
            "gain": list(gain),
            "patience": {one: list(value) for one, value in patient.items()},
            "none": {one: list(value) for one, value in without.items()},
        }
        logs.setdefault("gain", []).append(math.log(gain[0]))
        for kind, ratios in (("patience", patient), ("none", without)):
            for one, value in ratios.items():
                logs.setdefault(f"{one} {kind}", []).append(math.log(value[0]))
    report.table(head, rows)
    means = {name: math.exp(sum(values) / len(values)) for name, values in logs.items()}
    report.say(
        "Geometric means over workflows: " + ", ".join(f"{name} {value:.2f}" for name, value in means.items()) + "."
    )
    report.data["others"] = {"rows": data, "means": means}


def all_jobs(loads: dict[str, Workload], sets: int) -> float:
    return sum(jobs(load, STRATEGIES, sets) for load in loads.values())
