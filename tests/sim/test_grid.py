from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.sim.grid import Model, Queue, Task, Workers, measured
from headway.sim.slow_grid import replication
from tests.sim.dags import bag, chain, small_dags

FIFO = Queue.by(bytes(1))


@settings(max_examples=200)
@given(st.data(), small_dags(), st.integers(0, 2**64 - 1))
def test_the_kernel_measures_what_the_engine_does_one_event_at_a_time(data: st.DataObject, dag: Dag, key: int) -> None:
    size = len(dag)
    ranks = data.draw(st.lists(st.integers(-2, size), min_size=size, max_size=size))
    means = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 7.5]), min_size=size, max_size=size))
    spread = data.draw(st.sampled_from([0.0, 0.1, 2.0]))
    workers = Workers(
        data.draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])),
        data.draw(st.sampled_from([1.0, 1.5, 4.0, 100.0])),
        data.draw(st.sampled_from(["geometric", "up", "nearest", "down"])),
    )
    fast = Model(dag, means, spread).sample(Queue.by(ranks), workers, key, 3)
    slow = [replication(dag, ranks, means, spread, workers, key, number) for number in range(3)]
    assert fast.tolist() == [list(row) for row in slow]


@pytest.mark.parametrize("ranks", ["fifo", "mixed", "distinct"])
@pytest.mark.parametrize("interval", [1e-3, 1.0])
def test_so_does_it_where_many_jobs_end_between_two_batches(ranks: str, interval: float) -> None:
    """Hundreds of jobs: long rings, merged runs, several words of bits."""
    layers, width = 4, 150
    arcs = [(at, at + width + shift) for at in range((layers - 1) * width) for shift in (0, -(at % width))]
    dag = Dag([f"n{at}" for at in range(layers * width)], *zip(*dict.fromkeys(arcs), strict=True))
    values = {
        "fifo": [0] * len(dag),
        "mixed": [at % 7 for at in range(len(dag))],
        "distinct": [(at * 7919) % len(dag) for at in range(len(dag))],
    }[ranks]
    workers, means = Workers(interval, 60.0), [1.0] * len(dag)
    fast = Model(dag).sample(Queue.by(values), workers, 11, 2)
    assert fast.tolist() == [list(replication(dag, values, means, 0.1, workers, 11, number)) for number in range(2)]


def test_ranks_beyond_a_group_of_bits_are_found_in_order() -> None:
    """5,000 ranks need two groups; in a bag with whole batches all that counts is that none is lost."""
    size = 5000
    fast = Model(bag(size), spread=0.0).sample(Queue.by(range(size)), Workers(1.0, 1.0), 3, 1)
    assert fast[0, 1:].tolist() == [0.0, 1.0]


def test_a_sample_does_not_depend_on_how_it_is_cut() -> None:
    model, workers = Model(chain(5)), Workers(0.3, 2.0)
    whole = model.sample(Queue.by([0] * 5), workers, 5, 6)
    parts = [model.sample(Queue.by([0] * 5), workers, 5, 3, first) for first in (0, 3)]
    assert whole.tolist() == np.concatenate(parts).tolist()


def test_one_worker_after_the_other_takes_jobs_as_they_come() -> None:
    """Batches of one are batches of exactly one: the n-th job starts with the n-th batch, n − 1 intervals later."""
    found = Model(bag(50), spread=0.0).sample(Queue.by([0] * 50), Workers(2.0, 1.0), 1, 4000)
    assert found[:, 1:].tolist() == [[0.0, 1.0]] * 4000
    assert found[:, 0].mean() == pytest.approx(49 * 2.0 + 1, rel=0.02)


def test_a_chain_under_frequent_workers_takes_the_sum_of_its_run_times() -> None:
    found = Model(chain(20)).sample(Queue.by([0] * 20), Workers(1e-4, 1.0), 1, 200)
    assert found[:, 0].mean() == pytest.approx(20, rel=0.01)
    assert found[:, 0].std() == pytest.approx(0.1 * math.sqrt(20), rel=0.2)
    assert found[:, 1].mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("mean", "tolerance"), [(1.0, 0.0), (1.5, 0.02), (16.0, 0.03), (2.0**16, 0.03)])
def test_batches_have_the_mean_that_was_asked_for(mean: float, tolerance: float) -> None:
    """A single job is in the first batch, so that utilisation is one over its size."""
    sizes = 1 / Model(bag(1)).sample(Queue.by([0]), Workers(1.0, mean), 9, 20_000)[:, 2]
    assert sizes.min() >= 1 and sizes.mean() == pytest.approx(mean, rel=tolerance)
    if 1 < mean < 100:
        assert sizes.std() == pytest.approx(math.sqrt(mean * (mean - 1)), rel=0.05)


def test_nothing_to_do_takes_no_time() -> None:
    empty = Model(bag(0)).sample(Queue.by([]), Workers(1.0, 4.0), 1, 2)
    only = Model(Dag(["m"], [], [], milestones=b"\1")).sample(FIFO, Workers(1.0, 4.0), 1, 2)
    assert empty.tolist() == only.tolist() == [[0.0, 0.0, 1.0]] * 2


def test_samples_are_the_same_on_any_number_of_cores_and_in_any_company() -> None:
    model = Model(chain(6))
    tasks = [Task(model, Queue.by([0] * 6), Workers(1.0, batch), 7, 5, seed=3) for batch in (1.0, 4.0)]
    both = [rows.tolist() for rows in measured(tasks, cores=1)]
    assert both == [rows.tolist() for rows in measured(tasks, cores=3)]
    assert both[1] == next(measured(tasks[1:], cores=2)).tolist()
    assert len({tuple(row) for rows in both for row in rows}) == 14


def test_another_seed_gives_other_numbers_and_another_order_meets_the_same_workers() -> None:
    model, workers = Model(bag(6)), Workers(1.0, 2.0)
    up, down = Queue.by(range(6)), Queue.by(range(6, 0, -1))
    tasks = [Task(model, queue, workers, 1, 1, seed) for queue, seed in ((up, 0), (down, 0), (up, 1))]
    assert len({rows[0, 0] for rows in measured(tasks)}) == 2


def test_progress_counts_every_job_of_every_replication() -> None:
    counted: list[int] = []
    list(measured([Task(Model(chain(6)), Queue.by([0] * 6), Workers(1.0, 2.0), 4, 5)], done=counted.append))
    assert counted == [30] * 4


@pytest.mark.parametrize(("interval", "batch"), [(0.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (1.0, 0.5), (1.0, math.inf)])
def test_workers_that_cannot_be_are_refused(interval: float, batch: float) -> None:
    with pytest.raises(UsageError, match="must be"):
        Workers(interval, batch)


def test_what_would_never_end_is_refused() -> None:
    model = Model(chain(3), means=[1e6, 1e6, 1e6])
    model.check(Workers(1.0, 1.0))
    with pytest.raises(UsageError, match="larger --bit"):
        model.check(Workers(1e-6, 1.0))
