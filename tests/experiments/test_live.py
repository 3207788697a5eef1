"""PRIO against FIFO on real placeholders: small, but with real processes and a real store."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from headway.experiments.prio.live import Trial, predictions, reproduce, rows
from headway.experiments.prio.placeholders import Batch, Outcome, outcome, worked
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId
from headway.sim.grid import METRICS, Workers, arrivals
from headway.sim.ratios import mean
from tests.contracts.crew import all_done, flow

SMALL = Trial(width=2, workers=Workers(0.5, 8.0), unit=0.05, pairs=2)


def added(folder: Path, *arcs: str) -> tuple[str, WorkflowId]:
    """The place of a store with a workflow of three jobs."""
    place = str(folder / "store.db")
    store = opened(place)
    workflow = store.submissions.add(flow("abc", *arcs), time.time())
    store.close()
    return place, workflow


def test_a_placeholder_gets_one_job_runs_it_and_leaves(tmp_path: Path) -> None:
    place, workflow = added(tmp_path, "ab", "bc")
    got, times = worked(place, workflow, time.time())
    assert got == () and 0 <= times[0] <= times[1]
    store = opened(place)
    assert [attempt.name for attempt in store.history.attempts(workflow)] == ["a"] and store.watching.present(
        time.time()
    ) == 0


def test_batches_are_counted_until_the_last_job_is_taken(tmp_path: Path) -> None:
    place, workflow = added(tmp_path)
    found = outcome(place, workflow, 3, [Batch(0.0, 2), *(Batch(0.2 + 0.2 * at, 5) for at in range(50))])
    assert (found.batches, found.stalled, found.requests, found.jobs, len(found.times)) == (2, 0, 7, 3, 3)
    assert all_done(opened(place), workflow)


def test_a_run_whose_jobs_nobody_is_given_ends_with_a_sentence(tmp_path: Path) -> None:
    place, workflow = added(tmp_path, "ab", "bc")
    store = opened(place)
    store.steering.steer("disable", workflow, [(0, 2)])
    with pytest.raises(HeadwayError, match="after 3 batches there still are jobs"):
        outcome(place, workflow, 3, [Batch(0.0, 1)] * 3)


def test_both_orders_meet_the_batches_of_the_simulator() -> None:
    trial = Trial(workers=Workers(1.0, 4.0), unit=0.5)
    met = arrivals(trial.workers, trial.stream, 1, 4)
    assert trial.batches(1)[:4] == [Batch(0.5 * after, size) for after, size in met]
    assert met[0][0] == 0 and all(size >= 1 for _, size in met)
    assert trial.batches(0)[:4] != trial.batches(1)[:4]


def test_metrics_are_those_of_the_paper() -> None:
    run = Outcome(seconds=6.0, batches=8, stalled=2, requests=40, jobs=10)
    assert rows(Trial(unit=0.5), [run]).tolist() == [[12.0, 0.25, 0.25]]


def test_longer_run_times_are_predicted_to_take_longer() -> None:
    short, long = predictions(SMALL), predictions(SMALL, 2.0)
    assert set(short) == {(metric, who) for metric in METRICS for who in ("prio", "fifo", "ratio")}
    assert long["execution_time", "fifo"].same > short["execution_time", "fifo"].same
    low, high = short["execution_time", "fifo"].any[1:]
    assert low < short["execution_time", "fifo"].any[0] < high


def test_a_mean_has_an_interval() -> None:
    import numpy as np

    found, low, high = mean(np.array([1.0, 2.0, 3.0]))
    assert found == 2.0 and low == pytest.approx(2 - (high - 2)) and low < 1


def test_the_report_says_what_the_predictions_cover(tmp_path: Path) -> None:
    expected: list[float] = []
    done: list[float] = []
    report = reproduce(SMALL, tmp_path, expected.append, done.append)
    assert sum(expected) == sum(done) == 4 * SMALL.dag.job_count
    told = json.loads((tmp_path / "live.json").read_text())
    assert told["schema"] == 1 and len(told["claims"]) == len(report.claims) == 1 + 3 * 9
    assert {len(found) for found in told["runs"].values()} == {SMALL.pairs}
    assert all(run["jobs"] == SMALL.dag.job_count <= run["requests"] for run in told["runs"]["prio"])
    text = (tmp_path / "live.md").read_text()
    assert text.count("its intervals cover") == 3 and "| claim | simulator | here |" in text
