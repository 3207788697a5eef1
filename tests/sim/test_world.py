"""Simulated placeholders on a store in memory do what they do on real stores: the same rules, the same order."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.memory import Memory
from headway.live.store import opened
from headway.live.store.submission import Submission
from headway.model.job import Job
from headway.sim.heap import Heap, Streams
from headway.sim.world import End, World
from tests.sim.dags import chain
from tests.sim.flows import check_alike, submission, workflows


@settings(max_examples=100, deadline=None)
@given(workflows(), st.lists(st.integers(1, 3), min_size=1, max_size=2), st.integers(0, 1000))
def test_a_store_in_memory_gives_what_a_real_one_gives(flow: Submission, slots: list[int], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = opened(str(Path(folder) / "store"))
        check_alike(store, flow, slots, seed)
        store.close()


def test_a_chain_takes_the_sum_of_its_run_times() -> None:
    memory, dag = Memory(), chain(4)
    workflow = memory.add(submission(dag, [Job("true")] * 4, [0] * 4))
    world = World(memory, Heap(), lambda lease: End(2.0))
    world.join("p", 3, [workflow])
    assert world.heap.run() == 8.0
    assert [(one.at, one.slot) for one in world.started] == [(0.0, 0), (2.0, 0), (4.0, 0), (6.0, 0)]


def test_what_happens_at_once_happens_in_the_order_in_which_it_was_planned() -> None:
    heap, seen = Heap(), list[str]()
    for name in "abc":
        heap.at(1.0, partial(seen.append, name))
    heap.at(0.5, lambda: seen.append("first"))
    assert heap.run(0.75) == 0.75 and seen == ["first"]
    heap.run()
    assert seen == ["first", "a", "b", "c"] and heap.now == 1.0
    with pytest.raises(ValueError, match="cannot be planned"):
        heap.at(0.5, lambda: None)


def test_a_stream_does_not_depend_on_what_else_is_drawn() -> None:
    one, other = Streams(1), Streams(1)
    other.of("gaps").random()
    assert one.of("sizes", 2).random() == other.of("sizes", 2).random()
    assert one.of("sizes", 2).random() != Streams(1).of("sizes", 2).random()
