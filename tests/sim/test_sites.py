from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.model.dag import Dag
from headway.model.errors import HeadwayError, UsageError
from headway.model.record import replace
from headway.model.site import Program, Site
from headway.policies.where import POLICIES, where
from headway.policies.where.candidates import Needs
from headway.sim.kernels.sites import DONE, FAILED, MAKESPAN, WAITED, WITHDRAWN
from headway.sim.site_work import Transfers, Workload
from headway.sim.sites import Load, Model, Place, Runs, Strategy, World, measured
from headway.sim.slow_sites import Run
from tests.sim.dags import bag, chain, small_dags
from tests.sim.worlds import plain, quiet, workloads, worlds


def slowly(model: Model, strategy: Strategy, key: int, count: int) -> tuple[list[list[float]], list[list[float]]]:
    runs = [Run(model, where(strategy.policy), strategy, key, number) for number in range(count)]
    return [list(run.measured()) for run in runs], [list(run.ends) for run in runs]


@settings(max_examples=300)
@given(st.data(), small_dags(), worlds(), st.sampled_from([*POLICIES]), st.integers(0, 2**64 - 1))
def test_the_kernel_measures_what_the_engine_and_the_policy_do_one_event_at_a_time(
    data: st.DataObject, dag: Dag, world: World, policy: str, key: int
) -> None:
    model = Model(data.draw(workloads(dag)), world)
    strategy = Strategy(policy, data.draw(st.sampled_from([0.0, 1.0, 10.0])), data.draw(st.sampled_from([0.0, 5.0])))
    fast = model.sample(strategy, key, 2, with_ends=True)
    measures, ends = slowly(model, strategy, key, 2)
    assert fast.measures.tolist() == measures
    assert np.array_equal(fast.ends, np.array(ends).reshape(fast.ends.shape), equal_nan=True)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("patience", [0.0, 300.0])
def test_so_does_it_with_hundreds_of_jobs_at_twelve_sites(policy: str, patience: float) -> None:
    width = 60
    dag = Dag([f"n{at}" for at in range(3 * width)], range(2 * width), range(width, 3 * width))
    places = tuple(Place(Site(f"s{at}", 3 * at + 2), Load(0.1, 0.9, 0.3, 900.0), 20.0) for at in range(12))
    model, strategy = Model(plain(dag, 100.0), World(places, 0.5, 0.1)), Strategy(policy, patience)
    assert model.sample(strategy, 7, 2).measures.tolist() == slowly(model, strategy, 7, 2)[0]


def one(load: Workload, world: World, strategy: Strategy, count: int = 1) -> Runs:
    return Model(load, world).sample(strategy, 5, count, with_ends=True)


def test_a_chain_takes_the_sum_of_its_run_times_and_a_bag_as_many_rounds_as_it_needs() -> None:
    assert one(plain(chain(7), 3.0), quiet(2, 1), Strategy("round-robin")).makespans.tolist() == [21.0]
    assert one(plain(bag(7), 3.0), quiet(2), Strategy("round-robin")).makespans.tolist() == [12.0]


def test_speed_divides_run_times_and_planning_takes_its_time() -> None:
    world = World((Place(Site("s", 100), speed=2.0),), planning=1.5)
    assert one(plain(bag(5), 3.0), world, Strategy("random")).makespans.tolist() == [4 * 1.5 + 1.5]


def test_files_that_a_site_does_not_have_are_moved() -> None:
    """b needs what a made and a file stored at the second site: 3 s for each that is missing."""
    dag = Dag(["a", "b"], [0], [1])
    load = Workload(dag, [1.0, 1.0], [Needs()] * 2, [0, 0], [(), ("made", "kept")], [("made",), ()], [0, 0])
    places = Place(Site("first", 1)), Place(Site("second", 1, files=("kept",)))
    world = World(places, transfers=Transfers(3.0))
    assert one(load, world, Strategy("round-robin")).makespans.tolist() == [1 + 3 + 1]  # b at the second: moves made
    assert one(load, World(places[:1], transfers=Transfers(3.0)), Strategy("random")).makespans.tolist() == [5]
    assert one(load, World(places[1:], transfers=Transfers(3.0)), Strategy("random")).makespans.tolist() == [2]
    twice = World((replace(places[0], transfer=2.0),), transfers=Transfers(2.0, 10.0))
    load.sizes["kept"] = 40
    assert one(load, twice, Strategy("random")).makespans.tolist() == [1 + 2 * (2 + 4) + 1]


def test_a_site_is_full_for_the_share_of_time_asked_for() -> None:
    """A job that comes at a random moment waits with that probability, for a full spell on average."""
    world = World((Place(Site("s", 4), Load(0.0, 0.5, 0.3, 100.0)),))
    waited = one(plain(bag(1), 1.0), world, Strategy("random"), 20_000).measures[:, WAITED]
    assert (waited > 0).mean() == pytest.approx(0.3, abs=0.01)
    assert waited[waited > 0].mean() == pytest.approx(100.0, rel=0.03)


def test_other_people_leave_a_share_of_the_processors() -> None:
    """Ten jobs on ten processors of which five to seven are taken: two rounds with five left, else three."""
    world = World((Place(Site("s", 10), Load(0.5, 0.8, 0.0, math.inf)),))
    rounds = Counter(one(plain(bag(10), 1.0), world, Strategy("random"), 3000).makespans.tolist())
    assert set(rounds) == {2.0, 3.0, 4.0}
    assert rounds[2.0] == pytest.approx(1000, rel=0.15)


def test_a_job_that_waits_too_long_goes_elsewhere() -> None:
    """The first site never lets anything begin within 100 s; the second does."""
    world = World((Place(Site("slow", 5), latency=1e9), Place(Site("quick", 5))))
    without = one(plain(bag(4), 10.0), world, Strategy("round-robin"))
    assert without.makespans[0] > 1e6
    patient = one(plain(bag(4), 10.0), world, Strategy("round-robin", 100.0))
    assert patient.makespans.tolist() == [110.0] and patient.measures[0, WITHDRAWN] == 2
    alone = one(plain(bag(1), 10.0), World(world.places[:1]), Strategy("round-robin", 100.0))
    assert alone.measures[0, WITHDRAWN] == 0, "there is nowhere else to go"


def test_a_job_that_is_withdrawn_again_and_again_stays_in_the_end() -> None:
    """No site lets anything begin in so short a time: after a thousand moves the job waits where it is."""
    world = World((Place(Site("slow", 5), latency=1e9), Place(Site("slower", 5), latency=1e9)))
    model, strategy = Model(plain(bag(2), 10.0), world), Strategy("round-robin", 1.0)
    found = model.sample(strategy, 5, 1)
    assert found.measures[0, WITHDRAWN] == 2000 and found.measures[0, DONE] == 2
    assert found.measures.tolist() == slowly(model, strategy, 5, 1)[0]


def test_a_site_that_fails_fast_does_not_swallow_the_workflow() -> None:
    """Every attempt at the first site fails in half the time; those jobs are tried again and get done elsewhere."""
    world = World((Place(Site("broken", 50), failing=1.0, fails_after=5.0), Place(Site("sound", 5))))
    runs = one(plain(bag(60), 10.0, retries=5), world, Strategy("opportunistic"), 5)
    assert (runs.measures[:, FAILED] == 0).all() and (runs.measures[:, DONE] == 60).all()
    assert (runs.ran_at[:, 0] == 0).all()


def test_jobs_that_fail_for_good_leave_their_descendants_undone() -> None:
    world = World((Place(Site("broken", 5), failing=1.0, fails_after=2.0),))
    runs = one(plain(chain(3), 10.0, retries=2), world, Strategy("random"))
    assert runs.measures[0, [MAKESPAN, DONE, FAILED]].tolist() == [6.0, 0.0, 1.0]
    assert np.isnan(runs.ends).all()


def test_all_strategies_meet_the_same_spells() -> None:
    """With one site there is nothing to choose, so all measure the same."""
    world = World((Place(Site("s", 3), Load(0.1, 0.9, 0.4, 50.0), 5.0),), 0.1, 0.1)
    model = Model(plain(bag(20), 10.0), world)
    found = measured(model, [Strategy(name) for name in POLICIES], 12, seed=3)
    assert len({tuple(runs.makespans) for runs in found.values()}) == 1


def test_runs_are_the_same_on_any_number_of_cores_and_another_seed_gives_others() -> None:
    world = World(tuple(Place(Site(f"s{at}", 3), Load(0.1, 0.9, 0.4, 50.0), 5.0) for at in range(3)), 0.1, 0.1)
    model, strategies = Model(plain(bag(20), 10.0), world), [Strategy("weighted"), Strategy("prompt", 20.0)]
    runs = [
        [it.measures.tolist() for it in measured(model, strategies, 9, seed, cores=cores).values()]
        for seed, cores in ((1, 1), (1, 3), (2, 2))
    ]
    assert runs[0] == runs[1] != runs[2]
    assert len({tuple(row) for row in runs[0][0]}) == 9


def test_progress_counts_every_job_of_every_run() -> None:
    counted: list[float] = []
    measured(Model(plain(chain(6)), quiet(1)), [Strategy("random")], 5, done=counted.append, cores=1)
    assert sum(counted) == 30


def test_times_of_patience_that_are_almost_the_same_are_told_apart() -> None:
    assert [Strategy("random", time).name for time in (600.0, 1_000_001.0, 1_000_001.4, 0.0)] == [
        "random+600s",
        "random+1000001s",
        "random+1000001.4s",
        "random",
    ]


def test_what_others_take_for_good_leaves_room_for_every_job_that_is_sent_there() -> None:
    world = World((Place(Site("s", 4), Load(0.0, 0.9)), Place(Site("t", 4), Load(0.0, 0.25))))
    load = Workload(bag(1), [1.0], [Needs(cores=3)], [0], [()], [()], [0])
    found = Model(load, world).sample(Strategy("random"), 1, 200)
    assert found.ran_at.sum(axis=0).tolist() == [0, 200]


def test_nothing_to_do_takes_no_time() -> None:
    assert one(plain(bag(0)), quiet(1), Strategy("random")).measures.tolist() == [[0.0] * 5]
    only = Dag(["m"], [], [], milestones=b"\1")
    assert one(plain(only), quiet(1), Strategy("random")).makespans.tolist() == [0.0]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (Load(0.5, 0.2), "low and high"),
        (Load(-0.1, 0.2), "low and high"),
        (Load(1.0, 1.0), "low and high"),
        (Load(0.0, 0.2, 1.0, 5.0), "full is a share"),
        (Load(0.0, 0.2, 0.5, 0.5), "at least 1 second"),
        (Load(0.0, 0.2, 0.5), "needs a spell"),
        (Load(0.0, 0.2, 0.5, math.nan), "at least 1 second"),
        (Load(0.2, 0.9, 0.5, 60.0), ""),
    ],
)
def test_a_load_that_cannot_be_is_told(load: Load, said: str) -> None:
    assert said in load.wrong() and bool(said) == bool(load.wrong())


def test_what_cannot_be_simulated_is_refused() -> None:
    reading = Workload(bag(1), [1.0], [Needs()], [0], [("lost",)], [()], [0])
    cases: list[tuple[Workload, World, str]] = [
        (plain(bag(1)), World(()), "there is no site"),
        (plain(bag(1)), World((Place(Site("s", 3, is_up=False)),)), "all 1 are down"),
        (reading, World((Place(Site("s", 3)),), stored=("other",)), '"lost", which exists nowhere'),
        (
            Workload(bag(1), [1.0], [Needs("bwa")], [0], [()], [()], [0]),
            World((Place(Site("s", 3, programs=(Program("blast"),))),)),
            'has the program "bwa"',
        ),
        (
            Workload(bag(1), [1.0], [Needs(cores=3)], [0], [()], [()], [0]),
            World((Place(Site("s", 4), Load(0.5, 0.6)),)),
            "other people never leave as many",
        ),
        (  # what others take for good may leave too little, and the job would wait for ever
            Workload(bag(1), [1.0], [Needs(cores=3)], [0], [()], [()], [0]),
            World((Place(Site("s", 4), Load(0.0, 0.9)),)),
            "other people never leave as many",
        ),
        (  # a file that nobody but its reader makes
            Workload(bag(1), [1.0], [Needs()], [0], [("own",)], [("own",)], [0]),
            World((Place(Site("s", 3)),), stored=()),
            '"own", which exists nowhere',
        ),
        (plain(bag(1), 1e9), World((Place(Site("s", 4), Load(0.0, 0.6, 0.0, 1.0)),)), "more than can be simulated"),
        (plain(bag(10**5), 1e4), World((Place(Site("s", 4), Load(0.0, 0.6, 0.0, 1.0)),)), "more than can be simulated"),
        (plain(bag(1)), World((Place(Site("s", 4), Load(0.0, 0.6, 0.0, 1.0), 1e9),)), "more than can be simulated"),
        (plain(bag(1), 1e300), quiet(1), "longer than can be simulated"),
        (plain(bag(1)), World((Place(Site("s", 4), speed=1e-320),)), "longer than can be simulated"),
        (plain(bag(1)), World((Place(Site("s", 4), latency=1e308),)), "longer than can be simulated"),
        (plain(bag(1)), World((Place(Site("s", 4), Load(0.0, 0.0, 0.5, 1e300)),)), "longer than can be simulated"),
        (plain(bag(2)), World((Place(Site("s", 4)),), planning=1e308), "longer than can be simulated"),
    ]
    for load, world, said in cases:
        with pytest.raises(HeadwayError, match=said):
            Model(load, world)
    with pytest.raises(UsageError, match="at least one run"):
        measured(Model(plain(bag(1)), quiet(1)), [Strategy("random")], 0)
