"""Random workflows, and simulated placeholders that run them at a store in memory or at a real one."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from headway.engine.intake import Outside
from headway.engine.memory import Memory
from headway.engine.ready import Room
from headway.live.store import Store
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules, Script
from headway.model.messages import Answer, Finish, Lease, Seconds, WorkflowId
from headway.model.states import Kind
from headway.sim.heap import Heap, Streams
from headway.sim.world import End, Started, World
from tests.sim.dags import small_dags


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


def check_alike(store: Store, flow: Submission, slots: Sequence[int], seed: int) -> None:
    """A workflow runs at a store as it does in memory: the same starts at the same times, and the same ends."""
    memory = Memory()
    expected = simulated(memory, memory.add(flow), slots, seed)
    number = store.submissions.add(flow, 0.0)
    assert simulated(Real(store), number, slots, seed) == expected
    assert {job.name: job.state for job in store.progress.jobs(number)} == memory.states(WorkflowId(1))
