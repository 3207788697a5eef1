"""How much to ask for: the three methods of batchqueue.txt, by what they are shown."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.model.dag import Dag
from headway.model.errors import HeadwayError, UsageError
from headway.model.flatten import Flat
from headway.model.job import Job, Resources
from headway.policies.how_much import Advice, Ask, Limits, Outlines, View, WaitEstimate, method, names, problem
from headway.policies.how_much.hybrid import INSIGNIFICANT, padded, plain
from headway.policies.how_much.outline import whole_minutes
from headway.sim.heap import Heap
from headway.sim.world import End, World
from tests.sim.dags import small_dags

HOUR = 3600.0


def never(width: int, seconds: float) -> float:
    return 0.0


def after(seconds: float) -> WaitEstimate:
    return lambda width, length: seconds


def chain(*hours: float) -> Dag:
    """Jobs one after the other."""
    size = len(hours)
    return Dag([f"n{at}" for at in range(size)], range(size - 1), range(1, size), [HOUR * one for one in hours])


def layers(widths: list[int], hours: float = 1.0) -> Dag:
    """Levels that wait for all of the one before."""
    nodes, above, arcs = 0, list[int](), list[tuple[int, int]]()
    for width in widths:
        level = list(range(nodes, nodes + width))
        arcs += [(parent, child) for parent in above for child in level]
        above, nodes = level, nodes + width
    parents, children = [parent for parent, _ in arcs], [child for _, child in arcs]
    return Dag([f"n{at}" for at in range(nodes)], parents, children, [HOUR * hours] * nodes)


def view(dag: Dag, wait: WaitEstimate, busy: float = 0.0, processors: int = 64, jobs: list[int] | None = None) -> View:
    return View(Outlines(dag).of(jobs or list(dag.jobs())), busy, processors, wait)


# --- what is left ----------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(st.data(), small_dags(), st.integers(1, 4))
def test_a_run_time_is_what_the_engine_needs_on_so_many_processors(data: st.DataObject, dag: Dag, width: int) -> None:
    assume(not any(dag.milestones))  # behind one, jobs that become eligible together may come in another order
    size = len(dag)
    seconds = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 7.0]), min_size=size, max_size=size))
    cores = data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    ranks = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    dag = dag.with_seconds(seconds)
    store, heap = Memory(), Heap()
    jobs = [
        None if milestone else Job("true", resources=Resources(cores=wide))
        for wide, milestone in zip(cores, dag.milestones, strict=True)
    ]
    workflow = store.add(Intake(Flat(dag, jobs, frozenset()), ranks))
    world = World(store, heap, lambda lease: End(seconds[lease.job]))
    world.join("p", width, [workflow])
    left = Outlines(dag, cores, ranks).of(list(dag.jobs()))
    assert left.run_time(left.height, width) == heap.run()
    assert [len(level) for level in left.levels] == dag.levels


def test_levels_are_those_of_the_jobs_that_are_left() -> None:
    dag = layers([1, 3, 2, 1])
    left = Outlines(dag).of([4, 5, 6])
    assert left.levels == [[4, 5], [6]]
    assert (left.width(2), left.run_time(1, 2), left.run_time(1, 1), left.run_time(2, 2)) == (
        2,
        HOUR,
        2 * HOUR,
        2 * HOUR,
    )
    assert left.run_time(2, 1, first=1) == HOUR and left.jobs(2, 1) == (6,)


def test_barriers_are_seen_through() -> None:
    """a and b, a milestone, c: three jobs on two levels."""
    dag = Dag(["a", "b", "-", "c"], [0, 1, 2], [2, 2, 3], [5.0, 7.0, None, 1.0], bytes([0, 0, 1, 0]))
    left = Outlines(dag).of(list(dag.jobs()))
    assert left.levels == [[0, 1], [3]] and left.run_time(2, 2) == 8.0


@pytest.mark.parametrize(("seconds", "asked"), [(0.0, 60), (1.0, 60), (60.0, 60), (60.5, 120), (7200.0, 7200)])
def test_whole_minutes_are_asked_for(seconds: float, asked: float) -> None:
    assert whole_minutes(seconds) == asked


# --- individual and giant --------------------------------------------------------------------------------------------


def test_individual_asks_job_by_job() -> None:
    assert method("individual")(view(layers([1, 3]), never)) == Advice(individually=True)


def test_giant_asks_once_for_the_widest_level_and_the_whole_time() -> None:
    found = method("giant")(view(layers([1, 8, 1]), never))
    assert found == Advice((Ask(8, 3 * HOUR, tuple(range(10))),))


def test_a_machine_narrower_than_the_dag_caps_the_width_and_the_run_takes_longer() -> None:
    found = method("giant")(view(layers([1, 8, 1]), never, processors=4))
    assert (found.asks[0].width, found.asks[0].seconds) == (4, 4 * HOUR)


# --- hybrid: Figs 4 and 5 --------------------------------------------------------------------------------------------


def test_on_an_idle_queue_the_first_level_is_peeled_off() -> None:
    """Nothing waits: one level runs for longer than it waits, and so does every further one."""
    found = method("hybrid")(view(chain(1, 1, 1, 1), never))
    assert found == Advice((Ask(1, 3 * HOUR, (0, 1, 2)),))  # the last level is left: Fig. 5 line 8


def test_levels_are_added_until_the_group_runs_for_longer_than_it_waits() -> None:
    """Every request waits 2.5 hours: three levels of an hour each, then more for as long as that is worth more."""

    def wait(width: int, seconds: float) -> float:
        return 2.5 * HOUR if seconds <= 3 * HOUR else 10 * HOUR

    found = method("hybrid")(view(chain(1, 1, 1, 1, 1, 1), wait))
    assert [ask.jobs for ask in found.asks] == [(0, 1, 2)]


def test_a_group_that_waits_no_longer_grows_while_its_wait_is_worth_more_and_more() -> None:
    """Up to five hours wait for 2.5, the whole for 5."""

    def wait(width: int, seconds: float) -> float:
        return 2.5 * HOUR if seconds <= 5 * HOUR else 5 * HOUR

    found = method("hybrid")(view(chain(1, 1, 1, 1, 1, 1), wait))
    assert [ask.jobs for ask in found.asks] == [(0, 1, 2, 3, 4)]


def test_a_group_less_wait_effective_than_the_whole_is_not_taken() -> None:
    """The whole waits an hour, any part of it 0.9 of its run: the whole is better, and is asked for at once."""
    dag = chain(1, 1, 1, 1)

    def wait(width: int, seconds: float) -> float:
        return HOUR if seconds >= 4 * HOUR else 0.9 * seconds

    assert method("hybrid")(view(dag, wait)) == Advice((Ask(1, 4 * HOUR, (0, 1, 2, 3)),))


def test_a_giant_that_waits_for_more_than_twice_its_run_means_individual_submission() -> None:
    """Fig. 4 by its text; its lines 10 to 13 have it the other way round."""
    dag = layers([2, 2])
    assert method("hybrid")(view(dag, after(4.1 * HOUR))) == Advice(individually=True)
    assert method("hybrid")(view(dag, after(3.9 * HOUR))) == Advice((Ask(2, 2 * HOUR, (0, 1, 2, 3)),))


def test_the_last_level_alone_is_judged_by_the_same_ratio() -> None:
    dag = layers([2, 2])
    assert method("hybrid")(view(dag, after(3 * HOUR), jobs=[2, 3])).individually
    assert method("hybrid")(view(dag, after(HOUR), jobs=[2, 3])) == Advice((Ask(2, HOUR, (2, 3)),))


def test_a_wait_that_hides_behind_what_runs_costs_nothing() -> None:
    """Two hours of wait behind three hours that run: it is padded by the hour that it would begin too early."""
    found = method("hybrid")(view(chain(3, 1, 4), after(2 * HOUR), busy=3 * HOUR, jobs=[1, 2]))
    assert found == Advice((Ask(1, 6 * HOUR, (1, 2)),))  # one level runs for less than it waits, the other waits once


def test_a_group_is_padded_until_what_it_asks_for_covers_its_predecessors() -> None:
    shown = view(chain(3, 1, 1), after(HOUR), busy=3 * HOUR, jobs=[1, 2])
    found = padded(shown, plain(shown, 1))
    assert found.run == HOUR and found.wait + found.asked >= 3 * HOUR + found.run
    assert found.asked <= 3 * HOUR + 60


def test_an_estimate_that_cannot_be_given_counts_as_a_wait_for_ever() -> None:
    assert method("hybrid")(view(layers([2, 2]), lambda width, seconds: None)).individually


@settings(max_examples=300)
@given(
    small_dags().filter(lambda dag: dag.job_count),
    st.floats(0, 30 * 24 * HOUR),
    st.sampled_from([0.0, 59.0, HOUR, 1e6]),
    st.sampled_from([0.0, 0.5, 1.0, 30.0]),
    st.integers(1, 8),
)
def test_hybrid_ends_and_asks_for_what_is_left(
    dag: Dag, busy: float, flat: float, slope: float, processors: int
) -> None:
    """With no wait at all, too, where the loop of Fig. 5 taken literally never ends."""
    timed = dag.with_seconds([600.0 * (1 + at % 5) for at in range(len(dag))])
    jobs = list(timed.jobs())
    shown = View(Outlines(timed).of(jobs), busy, processors, lambda width, length: flat + slope * length)
    found = method("hybrid")(shown)
    if found.individually:
        assert not found.asks
        return
    (ask,) = found.asks
    assert 0 < ask.width <= processors and ask.jobs
    levels = sum(set(ask.jobs).issuperset(level) for level in shown.left.levels)
    assert ask.jobs == shown.left.jobs(levels)
    run = shown.left.run_time(levels, ask.width)
    assert ask.seconds >= run
    if not slope:  # with an estimate that does not depend on the length, it lasts until its jobs can be done
        assert flat + ask.seconds >= busy + run - 1e-6  # whole minutes are rounded up but for what a clock loses


@pytest.mark.parametrize("busy", [0.0, HOUR, 365 * 24 * HOUR])
def test_with_no_wait_at_all_padding_takes_few_turns(busy: float) -> None:
    """docs/differences.md proves it: each turn asks for more, and what is missing is at most what is not asked for."""
    turns = []

    def wait(width: int, seconds: float) -> float:
        turns.append(seconds)
        return 0.0

    shown = view(chain(1, 1), wait, busy=busy)
    found = padded(shown, plain(shown, 1))
    assert found.asked == whole_minutes(busy + HOUR)
    assert len(turns) <= 2 + math.log2(max(1.0, busy / INSIGNIFICANT))


# --- hybrid+ ---------------------------------------------------------------------------------------------------------


def test_hybrid_plus_asks_for_fewer_processors_where_that_takes_no_longer() -> None:
    """A level of eight short jobs beside a long one: four processors are done with them as soon."""
    dag = Dag([f"n{at}" for at in range(9)], [], [], [4 * HOUR] + [HOUR] * 8)
    assert method("hybrid")(view(dag, never)).asks[0].width == 9
    found = method("hybrid+")(view(dag, never)).asks[0]
    assert found.width <= 4 and found.seconds == 4 * HOUR


def test_hybrid_plus_asks_at_once_for_what_waits_longer_than_the_first_group_takes() -> None:
    """One processor is there in ten hours, eight are in fifty: both levels are asked for at once."""
    dag = layers([1, 8])

    def wait(width: int, seconds: float) -> float:
        return 10 * HOUR if width == 1 else 50 * HOUR

    timed = dag.with_seconds([12 * HOUR] + [30 * HOUR] * 8)
    shown = View(Outlines(timed).of(range(9)), 0.0, 8, wait)
    assert [ask.jobs for ask in method("hybrid")(shown).asks] == [(0,)]
    assert [ask.jobs for ask in method("hybrid+")(shown).asks] == [(0,), tuple(range(1, 9))]


def test_hybrid_plus_goes_over_to_single_jobs_where_hybrid_does() -> None:
    assert method("hybrid+")(view(layers([2, 2]), after(9 * HOUR))).individually


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        (Limits(requests=1), lambda asks: len(asks) == 1),
        (Limits(processors=2), lambda asks: sum(ask.width for ask in asks) <= 2),
        (Limits(core_hours=8.0), lambda asks: sum(ask.width * ask.seconds for ask in asks) <= 8 * HOUR),
    ],
)
def test_hybrid_plus_keeps_limits(limits: Limits, kept: Callable[[tuple[Ask, ...]], bool]) -> None:
    shown = View(Outlines(layers([4, 4, 4])).of(range(12)), 0.0, 8, after(HOUR), limits)
    found = method("hybrid+")(shown)
    assert found.asks and kept(found.asks)


def test_hybrid_plus_puts_off_what_has_no_room_beside_what_runs() -> None:
    left = Outlines(layers([2, 2])).of(range(4))
    out = ((2, 2 * HOUR),)
    shown = View(left, HOUR, 8, after(HOUR), Limits(processors=2, core_hours=99.0), out)
    assert method("hybrid+")(shown) == Advice() and not problem(Advice(), shown)
    poor = View(left, HOUR, 8, after(HOUR), Limits(processors=2, core_hours=0.5), out)
    assert method("hybrid+")(poor) == Advice(individually=True)


def test_hybrid_plus_asks_job_by_job_where_no_group_is_within_the_budget() -> None:
    shown = View(Outlines(layers([4, 4])).of(range(8)), 0.0, 8, never, Limits(core_hours=0.5))
    assert method("hybrid+")(shown) == Advice(individually=True)


@settings(max_examples=150)
@given(small_dags().filter(lambda dag: dag.job_count), st.sampled_from([0.0, HOUR, 30 * HOUR]), st.data())
def test_what_hybrid_plus_asks_for_can_be_followed(dag: Dag, busy: float, data: st.DataObject) -> None:
    timed = dag.with_seconds([600.0 * (1 + at % 5) for at in range(len(dag))])
    waits = data.draw(st.lists(st.sampled_from([0.0, HOUR, 5 * HOUR, 99 * HOUR]), min_size=8, max_size=8))
    shown = View(Outlines(timed).of(list(timed.jobs())), busy, 8, lambda width, length: waits[width - 1])
    assert not problem(method("hybrid+")(shown), shown)


# --- methods of others -----------------------------------------------------------------------------------------------


def install(folder: Path, text: str) -> None:
    info = folder / "some_method-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-method\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[headway.how_much]\nmine = some_method:advice\n")
    (folder / "some_method.py").write_text("from headway.policies.how_much import Advice, Ask\n" + text)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_method", raising=False)
    return lambda text: install(tmp_path, text)


def test_an_installed_method_is_used_by_name(installed: Callable[[str], None]) -> None:
    installed("def advice(view):\n    return Advice((Ask(1, 3600.0, view.left.jobs(1)),))\n")
    assert "mine" in names()
    assert method("mine")(view(layers([2, 1]), never)).asks[0].jobs == (0, 1)
    with pytest.raises(UsageError, match=r"there is no method .*individual, giant, hybrid.*mine"):
        method("yours")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("1 / 0", "failed: ZeroDivisionError"),
        ("None", "did not answer with advice"),
        ("Advice()", "asks for nothing"),
        ("Advice((Ask(99, 3600.0, (0,)),))", "asks for 99 of 64 processors"),
        ("Advice((Ask(1, float('inf'), (0,)),))", "asks for inf seconds"),
        ("Advice((Ask(1, float('nan'), (0,)),))", "asks for nan seconds"),
        ("Advice((Ask(1, 1.0, (0,)),))", "asks for 1 seconds for a job that is expected to take"),
        ("Advice((Ask(1, 'long', (0,)),))", "asks for what is no allocation"),
        ("Advice((7,))", "asks for what is no allocation"),
        ("Advice((Ask(1, 3600.0, ()),))", "without jobs"),
        ("Advice((Ask(1, 3600.0, (0, 1)), Ask(1, 3600.0, (1,))))", "asks twice for a job"),
        ("Advice((Ask(1, 3600.0, (77,)),))", "one that is not left"),
    ],
)
def test_a_broken_method_is_told_in_a_sentence(body: str, said: str, installed: Callable[[str], None]) -> None:
    installed(f"def advice(view):\n    return {body}\n")
    with pytest.raises(HeadwayError, match=said):
        method("mine")(view(layers([2, 1]), never))


def test_a_method_that_cannot_be_loaded_is_told_too(installed: Callable[[str], None]) -> None:
    installed("def (\n")
    with pytest.raises(HeadwayError, match="cannot be loaded from some_method:advice: SyntaxError"):
        method("mine")


def test_limits_cap_the_width() -> None:
    shown = View(Outlines(layers([8])).of(range(8)), 0.0, 64, never, Limits(processors=3))
    assert method("giant")(shown).asks[0].width == 3
