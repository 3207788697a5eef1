"""The peer-to-peer grid, message by message."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.peer import Peer
from headway.engine.peering.messages import Note, Submit
from headway.engine.peering.settings import Settings
from headway.model.errors import UsageError
from headway.model.record import replace
from headway.policies.by_when.reference_points import DAY
from headway.sim.links import Network
from headway.sim.overlay import World
from headway.sim.peer_scenario import BEGIN, MINUTE, Scenario, by_kernel, checked, fork_join, laplace
from headway.sim.peers import Simulation, simulated
from headway.sim.planting import groups
from tests.policies.by_when.dags import random_dag

QUICK = Settings(refresh=15_000, status=15_000)


@settings(max_examples=20)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["best", "earliest", "worst"]),
    st.floats(0.8, 4.0),
    st.sampled_from([2, 4, 16]),
    st.booleans(),
)
def test_without_failures_no_accepted_deadline_is_missed(
    seed: int, fit: str, tightness: float, fan_out: int, splitting: bool
) -> None:
    """Random workflows in a small grid that cannot hold all of them."""
    rng = Random(seed)
    world = World(Settings(fit=fit, splitting=splitting, most=max(3, fan_out)), Network(), seed, BEGIN)
    powers = [rng.randrange(1000, 3001, 200) for _ in range(rng.randint(1, 25))]
    world.planted(powers, fan_out, cores=rng.choice([1, 1, 2]))
    for number in range(12):
        dag = random_dag(rng, rng.randint(1, 9))
        works = tuple(rng.randint(1, 20 * MINUTE) * 1000 for _ in range(len(dag)))
        owner = rng.randint(1, len(powers))
        path = dag.with_seconds([float(work) for work in works]).critical_path.seconds
        world.heap.run(world.heap.now + rng.randint(0, 5) * MINUTE)
        arcs = tuple(dag.arcs())
        world.submits(owner, Submit(number, works, arcs, world.now + int(tightness * path / powers[owner - 1])))
    last = max(one.deadline for one in world.workflows.values())
    world.run(max(last, world.now) + 2 * MINUTE)
    for one in world.workflows.values():
        assert one.state in ("done", "rejected")
        assert one.state == "rejected" or one.ended <= one.deadline
    assert all(not peer.leaf.pieces and not peer.owner.flows for peer in world.peers.values())


@settings(max_examples=10)
@given(
    st.integers(0, 10**6), st.sampled_from([2, 4, 16]), st.sampled_from([Network(), Network(250, 200, 300, 200_000)])
)
def test_without_failures_none_is_missed_where_hours_are_withheld_and_jobs_need_memory(
    seed: int, fan_out: int, network: Network
) -> None:
    """Peers with many cores, classes and hours of their own, slow links, jobs of milliseconds and of hours."""
    rng = Random(seed)
    own = Settings(refresh=30 * MINUTE, status=30 * MINUTE, most=max(3, fan_out))
    world = World(own, network, seed, BEGIN)
    hour, peers = 60 * MINUTE, list[Peer]()
    for number in range(1, rng.choice([2, 5, 30]) + 1):
        begin = rng.randrange(23)
        withheld = [(begin * hour, rng.randrange(begin + 1, 24) * hour)] if rng.random() < 0.4 else []
        rank, cores = rng.choice([0, 9, 17, 63]), rng.choice([1, 2, 8])
        peers.append(Peer(number, number, rng.randrange(1000, 3001, 200), own, BEGIN, cores, rank, withheld))
    world.planted_with(peers, fan_out)
    for number in range(12):
        dag = random_dag(rng, rng.randint(1, 20))
        longest = rng.choice([1, 20, 120]) * MINUTE
        works = tuple(rng.choice([1, 60_000, rng.randint(1, longest)]) * 1000 for _ in range(len(dag)))
        needed = tuple(rng.choice([0, 0, 1, 8, 16]) for _ in range(len(dag)))
        owner = rng.choice(peers)
        path = dag.with_seconds([float(work) for work in works]).critical_path.seconds / owner.power
        if rng.random() < 0.7:
            world.run(world.now + rng.choice([1, 1000, 5 * MINUTE]))
        deadline = world.now + 10_000 + int(rng.choice([rng.uniform(0.8, 1.5), rng.uniform(1, 20)]) * path)
        world.submits(owner.number, Submit(number, works, tuple(dag.arcs()), deadline, needed))
    world.run(max(max(one.deadline for one in world.workflows.values()), world.now) + 2 * MINUTE)
    for one in world.workflows.values():
        assert one.state in ("done", "rejected")
        assert one.state == "rejected" or one.ended <= one.deadline
    for job in world.ran:
        off, days = peers[job.peer - 1].leaf.withheld, range(job.begun // DAY, job.ended // DAY + 1)
        assert not any(
            job.begun < day * DAY + end and day * DAY + begin < job.ended for begin, end in off for day in days
        )


def test_jobs_run_after_those_they_depend_on_and_one_at_a_time_at_a_core() -> None:
    simulation = Simulation(Scenario(nodes=40, model="laplace", hours=0.4, seed=4))
    simulation.run()
    ran = simulation.world.ran
    ends = {(job.owner, job.workflow, job.job): job.ended for job in ran}
    _, arcs = laplace(3)
    for job in ran:
        before = [one for one, other in arcs if other == job.job]
        assert all(ends[job.owner, job.workflow, one] <= job.begun for one in before)
    by_peer: dict[int, list[tuple[int, int]]] = {}
    for job in ran:
        by_peer.setdefault(job.peer, []).append((job.begun, job.ended))
    for spans in by_peer.values():
        spans.sort()
        assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:], strict=False))  # noqa: RUF007


def test_more_than_a_grid_can_do_is_refused_and_what_it_accepts_is_in_time() -> None:
    found = simulated(Scenario(nodes=30, hours=1.0, load=3.0, priority=1.1, seed=2))
    assert found["rejected"] > 10 and found["accepted"] > 10 and found["missed"] == 0


@pytest.mark.parametrize("seed", range(2))
def test_with_churn_the_tree_becomes_whole_and_every_workflow_that_still_can_is_in_time(seed: int) -> None:
    """A third of the peers dies in an hour, in a grid with room to spare."""
    simulation = Simulation(
        Scenario(nodes=150, hours=0.5, load=0.3, churn=0.3, priority=1.1, seed=seed, settings=QUICK)
    )
    found = simulation.run()
    world = simulation.world
    assert found["accepted"] > 5 and len(world.peers) == 150
    assert found["missed"] == 0 and found["failed"] == 0
    for _ in range(60):
        if world.is_whole():
            break
        world.run(world.now + 5000)
    assert world.is_whole()


def test_peers_that_leave_or_come_back_keep_what_was_accepted() -> None:
    """Half of those that go come back with what they wrote down, and their workflows are in time."""
    scenario = Scenario(150, hours=0.3, load=0.3, churn=1.0, priority=1.1, minutes=(1.0, 3.0), seed=3, settings=QUICK)
    found = simulated(replace(scenario, leaving=0.3, returning=0.5))["failures"]
    assert found["died"] > 10 and found["left"] > 5 and found["returned"] > 10 and found["replanned"] > 3
    assert found["accepted"] > 50 and found["late"] == 0 and found["whole_after"] is not None
    assert found["accepted"] == found["met"] + found["not_possible"] + found["orphaned"]
    stays = simulated(replace(scenario, returning=1.0))["failures"]
    assert stays["orphaned"] == 0 < stays["returned"] and stays["late"] == 0


def test_a_workflow_goes_on_when_its_owner_is_back() -> None:
    world = World(QUICK, Network(), 1, BEGIN)
    world.planted([1000] * 8, 4)
    notes = list[Note]()
    world.on_note = lambda peer, note: notes.append(note)
    jobs, arcs = fork_join(4)
    world.submits(3, Submit(1, (3 * MINUTE * 1000,) * jobs, arcs, world.now + 40 * MINUTE))
    world.run(world.now + 4 * MINUTE)
    assert world.workflows[3, 1].state == "accepted"
    world.dies(3)
    assert world.workflows[3, 1].state == "orphaned"
    world.run(world.now + MINUTE)
    world.joins(Peer(3, 3, 1000, QUICK, world.now), [1, 2])
    world.recovers(3, notes)
    world.run(world.now + 40 * MINUTE)
    one = world.workflows[3, 1]
    assert one.state == "done" and one.ended <= one.deadline and world.is_whole()


@pytest.mark.slow
@pytest.mark.parametrize(("leaving", "returning"), [(0.0, 0.0), (0.3, 0.5)])
def test_with_churn_a_tree_of_thousands_becomes_whole_and_every_workflow_that_still_can_is_in_time(
    leaving: float, returning: float
) -> None:
    """Three hundred of two thousand peers go within nine minutes, and as many come, while workflows arrive."""
    own = Settings(refresh=30_000, status=15_000)
    scenario = Scenario(2000, hours=0.15, load=0.15, churn=1.0, priority=1.1, minutes=(1.0, 3.0), seed=1, settings=own)
    simulation = Simulation(replace(scenario, leaving=leaving, returning=returning))
    found = simulation.run()["failures"]
    assert found["accepted"] > 200 and found["replanned"] > 10 and found["died"] + found["left"] > 250
    assert found["late"] == 0 and (found["returned"] > 100) == (returning > 0)
    assert found["whole_after"] is not None and len(simulation.world.peers) == 2000


def test_a_planted_tree_is_whole_and_in_order_whatever_its_size_and_fan_out() -> None:
    for nodes in (1, 2, 3, 5, 17, 64, 100):
        for fan_out in (2, 3, 4, 16):
            world = World(Settings(most=max(3, fan_out)), Network())
            world.planted([1000] * nodes, fan_out)
            assert world.is_whole() and world.leaves_in_order() == list(range(1, nodes + 1))
    assert [len(one) for one in groups(9, 4)] == [3, 3, 3]


def test_whoever_places_jobs_the_same_workflows_come_and_the_oracle_accepts_most() -> None:
    base = Scenario(nodes=24, hours=0.8, load=2.0, seed=5)
    found = {placer: simulated(replace(base, placer=placer)) for placer in ("tree", "oracle", "random")}
    assert all(one["missed"] == 0 for one in found.values())
    assert len({one["submitted"] for one in found.values()}) == 1
    assert found["oracle"]["accepted"] >= found["tree"]["accepted"] > 0


def test_a_grid_with_fewer_cores_than_branches_accepts_workflows_that_its_cores_can_do_one_after_the_other() -> None:
    found = simulated(Scenario(nodes=4, hours=12.0, load=0.3, seed=1))
    assert found["accepted"] and not found["missed"]


def test_a_longer_update_period_means_fewer_bytes() -> None:
    base = Scenario(nodes=30, hours=0.2, seed=6)
    quick = simulated(replace(base, settings=Settings(update=100)))
    slow = simulated(replace(base, settings=Settings(update=20_000)))
    assert slow["messages"]["Update"] < quick["messages"]["Update"]


def test_a_clock_that_is_off_by_a_minute_is_noticed_and_its_peer_gets_no_work() -> None:
    world = World(Settings(), Network(), 1, BEGIN, drift=lambda peer: 60_000 if peer == 7 else 0)
    world.planted([1000] * 16, 4)
    world.run(BEGIN + 5 * MINUTE)
    jobs, arcs = fork_join(4)
    for number in range(3):
        world.submits(1, Submit(number, (5 * MINUTE * 1000,) * jobs, arcs, world.now + 40 * MINUTE))
    world.run(world.now + 50 * MINUTE)
    assert world.peers[7].clock_off and all(job.peer != 7 for job in world.ran)
    assert all(one.state == "done" for one in world.workflows.values())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"nodes": 0}, "a grid of no nodes"),
        ({"least_power": 0}, "no power can hold no job"),
        ({"priority": 20.0}, "Give less than --priority 10"),
        ({"model": "x"}, "There are fork-join, laplace"),
        ({"hours": 1e-9}, "not between a millisecond and ten years. Try --hours 0.5."),
        ({"hours": float("inf")}, "not between a millisecond and ten years"),
        ({"load": float("inf")}, "Give at most --load 100"),
        ({"returning": 1.5}, "are shares. Give 0 to 1"),
        ({"churn": 1e9}, "--churn 100, so many deaths of each peer in an hour"),
        ({"most_power": 10**8}, "more than a summary can tell. Powers are from 1 to 50000"),
    ],
)
def test_a_grid_that_cannot_be_is_refused_with_one_that_could(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(UsageError) as error:
        checked(Scenario(**wrong))  # type: ignore[arg-type]
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "simulator", "said"),
    [
        ({"nodes": 10**6}, "messages", "message by message. Give at most --nodes 50000, or --simulator kernel"),
        ({"nodes": 10**6, "churn": 0.1}, "auto", "with churn there is no other way"),
        ({"churn": 0.1}, "kernel", "cannot simulate a grid with churn. Try --simulator messages"),
        ({"placer": "oracle"}, "kernel", "cannot simulate a grid with --placer"),
        ({"nodes": 10**8}, "auto", "Give at most --nodes 4194304"),
        ({"nodes": 10**6, "hours": 10**4}, "auto", "clock ends after twenty days"),
    ],
)
def test_what_a_simulator_cannot_do_is_refused(wrong: dict[str, Any], simulator: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        by_kernel(Scenario(**wrong), simulator)
    assert said in str(error.value)


def test_small_grids_and_those_with_churn_are_simulated_by_messages_and_large_ones_by_the_kernel() -> None:
    assert not by_kernel(Scenario(nodes=300)) and not by_kernel(Scenario(nodes=10_000, churn=0.1))
    assert by_kernel(Scenario(nodes=10_000)) and by_kernel(Scenario(nodes=300), "kernel")
    assert not by_kernel(Scenario(nodes=10_000), "messages")


def test_the_same_seed_gives_the_same_answer() -> None:
    one, again, other = (simulated(Scenario(nodes=30, hours=0.2, seed=seed)) for seed in (1, 1, 2))
    for found in (one, again, other):
        del found["seconds"], found["peak_rss"]
    assert one == again != other
