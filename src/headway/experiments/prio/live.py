"""PRIO against FIFO on real placeholders that come in batches, beside what the simulator predicts of it.

A run has a real store, and a process for each worker of section 4.1: it enters, asks for one job, runs it and leaves.
Both orders meet the same batches, which are those of a replication of the simulator.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from headway import __version__
from headway.experiments.paper_dags import airsn
from headway.experiments.prio.placeholders import Batch, Outcome, outcome
from headway.experiments.report import Claim, Report, make
from headway.live.store import opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.record import asdict, record
from headway.policies.what_next import order
from headway.sim.grid import METRICS, Model, Queue, Reals, Task, Workers, arrivals, measured
from headway.sim.ratios import mean, paired
from headway.sim.rng import key

ORDERS = ("prio", "fifo")
MOST_BATCHES = 2000  # of a run; the simulator's have some hundred
SAMPLES = 400  # from which the interval of a prediction is known
SPREAD = 0.1  # of run times, as in the paper

Runs = dict[str, list[Outcome]]  # by order, one for each replication
Found = tuple[float, float, float]  # a value, and its 95% interval


@dataclass(frozen=True)
class Trial:
    """What is run, how often, and how long the paper's unit of time is."""

    width: int = 50
    workers: Workers = field(default_factory=lambda: Workers(0.5, 4.0))  # where AIRSN(50) gains most
    unit: float = 0.3  # seconds
    pairs: int = 8
    seed: int = 0

    @cached_property
    def dag(self) -> Dag:
        return airsn(self.width).shuffled(1).dag()

    @cached_property
    def ranks(self) -> dict[str, list[int]]:
        return {name: list(order(name)(self.dag)) for name in ORDERS}

    @property
    def stream(self) -> int:
        return key(self.seed, "live", self.workers.interval, self.workers.batch)

    def batches(self, pair: int) -> list[Batch]:
        """Those that both orders meet, in seconds."""
        met = arrivals(self.workers, self.stream, pair, MOST_BATCHES)
        return [Batch(self.unit * after, size) for after, size in met]

    def submission(self, name: str, pair: int) -> Submission:
        """The dag in one order, its jobs asleep for normal times; both orders have the same ones."""
        chance = Random(f"{self.seed}/{pair}")
        jobs = [Job(f"sleep {self.unit * max(0.0, chance.gauss(1, SPREAD)):.4f}") for _ in range(len(self.dag))]
        flat = Flat(self.dag, list(jobs), frozenset())
        return Submission(f"airsn-{self.width}", f"airsn {name} {pair}", "/", flat, self.ranks[name], None, name)


def reproduce(trial: Trial, folder: Path, begin: Callable[[float], None], done: Callable[[float], None]) -> Report:
    """Runs every pair, and writes live.md and live.json; `begin` and `done` are told of jobs to be run."""
    make(folder)
    begin(2.0 * trial.pairs * trial.dag.job_count)
    begun = time.monotonic()
    runs = _runs(trial, done)
    seconds = time.monotonic() - begun
    report = Report("PRIO against FIFO on real placeholders", "headway reproduce prio --live", source="simulator")
    report.data |= {"paper": "prio", "how": "live", "version": __version__, "seed": trial.seed}
    report.data |= {"seconds": round(seconds, 1), "unit": trial.unit, "pairs": trial.pairs}
    report.data |= {"bit": trial.workers.interval, "bs": trial.workers.batch, "jobs": trial.dag.job_count}
    _say(report, trial, seconds)
    _add(report, trial, runs)
    report.write(folder, "live")
    return report


def _runs(trial: Trial, done: Callable[[float], None]) -> Runs:
    """One run after the other; who is first changes from pair to pair."""
    found: Runs = {name: [] for name in ORDERS}
    with tempfile.TemporaryDirectory(prefix="headway-live-") as folder:
        for pair in range(trial.pairs):
            for name in ORDERS if pair % 2 else reversed(ORDERS):
                place = str(Path(folder) / f"{name}-{pair}" / "store.db")
                Path(place).parent.mkdir()
                store = opened(place)
                workflow = store.submissions.add(trial.submission(name, pair), time.time())
                store.close()
                found[name].append(outcome(place, workflow, trial.dag.job_count, trial.batches(pair)))
                done(trial.dag.job_count)
    return found


def rows(trial: Trial, runs: Sequence[Outcome]) -> Reals:
    """The three metrics of each run, in the paper's unit of time."""
    found = [(run.seconds / trial.unit, run.stalled / run.batches, run.jobs / run.requests) for run in runs]
    return np.array(found)


# --- predictions ----------------------------------------------------------------------------------------------------


@record
class Prediction:
    """What the simulator says of one metric: on the very batches of these runs, and on any, with a 95% interval."""

    same: float
    any: Found


def predictions(trial: Trial, run_time: float = 1.0, spread: float = SPREAD) -> dict[tuple[str, str], Prediction]:
    """By metric and order, and by metric for the ratio of the orders, with run times of that mean and spread."""
    model = Model(trial.dag, [run_time] * len(trial.dag), spread)
    queues = [Queue.by(trial.ranks[name]) for name in ORDERS]
    same = [model.sample(queue, trial.workers, trial.stream, trial.pairs).mean(axis=0) for queue in queues]
    tasks = [Task(model, queue, trial.workers, SAMPLES, trial.pairs, trial.seed + 1) for queue in queues]
    prio, fifo = measured(tasks)
    found = {}
    for at, metric in enumerate(METRICS):
        for name, here, samples in zip(ORDERS, same, (prio, fifo), strict=True):
            found[metric, name] = Prediction(float(here[at]), _middle(samples[:, at]))
        ratios = prio[:, at] / np.where(fifo[:, at], fifo[:, at], np.nan)
        found[metric, "ratio"] = Prediction(float(same[0][at] / same[1][at]), _middle(ratios))
    return found


def _middle(samples: Reals) -> Found:
    """The median, and the ends of what holds 95% of the samples."""
    low, median, high = np.nanquantile(samples, [0.025, 0.5, 0.975])
    return float(median), float(low), float(high)


# --- the report -----------------------------------------------------------------------------------------------------


def _say(report: Report, trial: Trial, seconds: float) -> None:
    report.say(
        f"AIRSN({trial.width}), {trial.dag.job_count} jobs, its file shuffled; μ_BIT = {trial.workers.interval:g}, "
        f"μ_BS = {trial.workers.batch:g}, a unit of time is {trial.unit:g} s; {trial.pairs} pairs of runs, one after "
        f"the other, {seconds:.0f} s in all. A placeholder is a process: it enters a real store (SQLite), gets one job "
        "or none, runs it (a sleep of normal length, mean 1, standard deviation 0.1), reports its end and leaves, as "
        "in section 4.1. Both orders meet the same batches: those of the simulator's replications.",
        "*Here* is the mean of the runs with its 95% interval. The simulator's *same batches* is its mean on the very "
        "batches that came here; *any batches* is its median, and the interval that holds 95% of the means of "
        f"{trial.pairs} runs. A prediction holds if that interval covers what was measured.",
    )


def _add(report: Report, trial: Trial, runs: Runs) -> None:
    found = _measured({name: rows(trial, runs[name]) for name in ORDERS})
    ratio = found["execution_time", "ratio"]
    faster = Claim(
        "live-gain",
        "PRIO takes less time than FIFO",
        ratio[0],
        True if ratio[2] < 1 else False if ratio[1] > 1 else None,
        *ratio[1:],
        note="ratio of mean execution times",
    )
    report.say("## As the simulator has it", "Run times of mean 1; asking, starting and reporting take no time.")
    claims = _claims(found, predictions(trial), "")
    report.claim_table([faster, *claims])
    verdicts = [_verdict("as it is", claims)]
    times = np.array([pair for name in ORDERS for run in runs[name] for pair in run.times]) / trial.unit
    report.say(
        "## With the time that a job really takes",
        f"A placeholder had its job {times[:, 0].mean():.3f} units after its batch was due, on average: processes are "
        "started, and the store is asked. That is as if the batch had come later, and makes no job longer. So run "
        "times until the store knows of a job's end count from the lease, we think; from the arrival is shown as well.",
    )
    report.data["times"] = {}
    for since, taken in {"lease": times[:, 1] - times[:, 0], "arrival": times[:, 1]}.items():
        average, deviation = float(taken.mean()), float(taken.std())
        report.say(f"Counted from the {since}: mean {average:.3f}, standard deviation {deviation:.3f}.")
        claims = _claims(found, predictions(trial, average, deviation / average), f"-from-{since}")
        report.claim_table(claims)
        verdicts.append(_verdict(f"with run times counted from the {since}", claims))
        report.data["times"][since] = {"mean": average, "sd": deviation}
    report.say("## Do the predictions cover it?", *verdicts)
    report.data["runs"] = {
        name: [{key: value for key, value in asdict(run).items() if key != "times"} for run in runs[name]]
        for name in ORDERS
    }


def _measured(found: Mapping[str, Reals]) -> dict[tuple[str, str], Found]:
    """By metric and order, and the ratio of the orders."""
    answer: dict[tuple[str, str], Found] = {}
    for at, metric in enumerate(METRICS):
        for name in ORDERS:
            answer[metric, name] = mean(found[name][:, at])
        ratio = paired(*(found[name][:, at] for name in ORDERS))
        if ratio is not None:
            answer[metric, "ratio"] = ratio
    return answer


def _claims(
    found: Mapping[tuple[str, str], Found], predicted: Mapping[tuple[str, str], Prediction], ending: str
) -> list[Claim]:
    claims = []
    for (metric, who), (value, low, high) in found.items():
        said = predicted[metric, who]
        median, least, most = said.any
        id = f"live-{metric}-{who}"
        claims.append(
            Claim(
                id + ending,
                f"{said.same:.3f} on the same batches, {median:.3f} [{least:.3f}, {most:.3f}] on any",
                value,
                least <= value <= most,
                low,
                high,
                note=f"{value / said.same - 1:+.1%} against the same batches" if said.same else "",
                variant_of=id if ending else "",
            )
        )
    return claims


def _verdict(how: str, claims: Sequence[Claim]) -> str:
    outside = [claim.id for claim in claims if not claim.holds]
    told = f"all but {', '.join(outside)}" if outside else "all"
    return f"**The simulator {how}:** its intervals cover {told} of the {len(claims)} values measured."
