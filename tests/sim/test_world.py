"""Simulated placeholders on a store in memory do what they do on real stores: the same rules, the same order."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.intake import Outside
from headway.engine.memory import Memory
from headway.engine.ready import Room
from headway.live.store import Store, opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules, Script
from headway.model.messages import Answer, Finish, Lease, Seconds, WorkflowId
from headway.model.states import Kind
from headway.sim.heap import Heap, Streams
from headway.sim.world import End, Started, World
from tests.sim.dags import chain, small_dags


class Real:
    """A store as a simulated placeholder sees it."""

    def __init__(self, store: Store) -> None:
        self._store, self._placeholder = store, store.placeholders.enter("here", 1, 0.0)

    def exchange(
        self,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
    ) -> Answer:
        return self._store.leases.exchange(self._placeholder, finished, room, workflows, now, idle)


def submission(
    dag: Dag,
    jobs: Sequence[Job | None],
    ranks: Sequence[int],
    weak: Sequence[tuple[int, int]] = (),
    outside: Outside | None = None,
) -> Submission:
    return Submission("flow", "/flow.dag", "/", Flat(dag, list(jobs), frozenset(weak)), ranks, outside)


def simulated(port: Memory | Real, workflow: WorkflowId, slots: Sequence[int], seed: int) -> list[Started]:
    streams = Streams(seed)

    def ends(lease: Lease) -> End:
        drawn = streams.of(lease.name, lease.attempt, lease.step)
        return End(drawn.choice([0.0, 1.0, 2.5]), drawn.choice([0, 0, 0, 1]))

    world = World(port, Heap(), ends)
    for number, count in enumerate(slots):
        world.join(f"p{number}", count, [workflow])
    world.heap.run()
    assert all(workflow in one.over for one in world.placeholders)
    return world.started


@st.composite
def workflows(draw: st.DrawFn) -> Submission:
    dag = draw(small_dags())
    scripts = st.sampled_from([None, Script("s")])
    jobs: list[Job | None] = []
    for node in range(len(dag)):
        retries, back_off = draw(st.integers(0, 2)), draw(st.sampled_from([0.0, 3.0]))
        rules = Rules(
            retries=retries,
            pre=draw(scripts),
            post=draw(scripts),
            back_off=back_off,
            category=draw(st.sampled_from([None, "c"])),
            abort_on=draw(st.sampled_from([None, None, None, (1, 7)])),
        )
        wide = Resources(cores=draw(st.integers(1, 2)))
        kinds = [
            Job("true", rules=Rules(retries=retries), resources=wide),
            Job("true", rules=rules),
            Job("true", parts=(Job("true"), Job("true")), rules=rules),
        ]
        jobs.append(None if dag.milestones[node] else draw(st.sampled_from(kinds)))
    weak = [arc for arc in dag.arcs() if draw(st.integers(0, 3)) == 0]
    ranks = draw(st.lists(st.integers(0, 3), min_size=len(dag), max_size=len(dag)))
    last = [(Kind.FINAL, "last", Job("true"))] if draw(st.booleans()) else []
    return submission(dag, jobs, ranks, weak, Outside(last, draw(st.sampled_from([{}, {"c": 1}]))))


@settings(max_examples=100, deadline=None)
@given(workflows(), st.lists(st.integers(1, 3), min_size=1, max_size=2), st.integers(0, 1000))
def test_a_store_in_memory_gives_what_a_real_one_gives(flow: Submission, slots: list[int], seed: int) -> None:
    memory = Memory()
    expected = simulated(memory, memory.add(flow), slots, seed)
    with tempfile.TemporaryDirectory() as folder:
        store = opened(str(Path(folder) / "store"))
        number = store.submissions.add(flow, 0.0)
        assert simulated(Real(store), number, slots, seed) == expected
        names = {job.name: job.state for job in store.progress.jobs(number)}
        assert names == memory.states(WorkflowId(1))
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
