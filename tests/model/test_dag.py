"""The flat graph, held to hand-made cases, to networkx and to the papers' own algorithms done naively."""

from __future__ import annotations

from array import array
from itertools import pairwise
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model import reduction
from headway.model.dag import Dag
from headway.model.errors import CycleError

Arcs = list[tuple[int, int]]


def dag_of(size: int, arcs: Arcs, seconds: list[float | None] | None = None, milestones: set[int] | None = None) -> Dag:
    barriers = bytes(node in milestones for node in range(size)) if milestones is not None else None
    return Dag([f"n{node}" for node in range(size)], [a for a, _ in arcs], [b for _, b in arcs], seconds, barriers)


def named(names: str, *arcs: str, seconds: list[float | None] | None = None, milestones: str = "") -> Dag:
    """A dag of one-letter nodes: named("abc", "ab", "bc") is a chain."""
    return Dag(
        list(names),
        [names.index(arc[0]) for arc in arcs],
        [names.index(arc[1]) for arc in arcs],
        seconds,
        bytes(name in milestones for name in names),
    )


def letters(dag: Dag, nodes: Any) -> str:
    return "".join(dag.names[node] for node in nodes)


def second_opinion(dag: Dag) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(dag)))
    graph.add_edges_from(dag.arcs())
    return graph


@st.composite
def graphs(draw: st.DrawFn, milestones: bool = True) -> Dag:
    """Any acyclic graph, its nodes numbered in no particular order, arcs doubled now and then."""
    size = draw(st.integers(0, 9))
    number = draw(st.permutations(range(size)))
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    arcs = [(number[a], number[b]) for a, b in chosen]
    barriers = draw(st.sets(st.integers(0, size - 1))) if size and milestones else set()
    times = st.one_of(st.none(), st.integers(0, 4).map(float))
    seconds = draw(st.one_of(st.none(), st.lists(times, min_size=size, max_size=size)))
    return dag_of(size, arcs, seconds, barriers)


# --- rows ----------------------------------------------------------------------------------------------------------


def test_children_and_parents_come_in_order_of_mention() -> None:
    dag = named("abcd", "ad", "ab", "cd", "ac")
    assert letters(dag, dag.children_of(0)) == "dbc"
    assert letters(dag, dag.parents_of(3)) == "ac"
    assert letters(dag, dag.children_of(3)) == ""
    assert letters(dag, dag.parents_of(0)) == ""


def test_an_arc_given_twice_is_one_arc() -> None:
    dag = named("abc", "ab", "bc", "ab", "ac", "ab")
    assert list(dag.arcs()) == [(0, 1), (0, 2), (1, 2)]
    assert dag.arc_count == 3
    assert letters(dag, dag.parents_of(1)) == "a"


def test_arcs_may_come_from_lists_or_arrays() -> None:
    from_lists = Dag(["a", "b", "c"], [1, 0], [2, 1])
    from_arrays = Dag(["a", "b", "c"], array("i", [1, 0]), array("i", [2, 1]))
    assert list(from_lists.arcs()) == list(from_arrays.arcs()) == [(0, 1), (1, 2)]


def test_arcs_with_one_end_are_refused() -> None:
    with pytest.raises(ValueError, match="two ends"):
        Dag(["a", "b"], [0], [1, 1])


def test_a_dag_takes_no_notice_when_the_arrays_it_was_made_of_change() -> None:
    arcs_to = array("i", [1])
    dag = Dag(["a", "b"], array("i", [0]), arcs_to)
    arcs_to[0] = 0
    assert list(dag.arcs()) == [(0, 1)]


@given(graphs())
def test_children_and_parents_are_the_same_arcs(dag: Dag) -> None:
    graph = second_opinion(dag)
    for node in range(len(dag)):
        assert sorted(dag.children_of(node)) == sorted(graph.successors(node))
        assert sorted(dag.parents_of(node)) == sorted(graph.predecessors(node))


# --- order and cycles ----------------------------------------------------------------------------------------------


def test_an_order_serves_first_come_first_served() -> None:
    dag = named("abcdef", "ac", "bd", "ae", "cf")
    assert letters(dag, dag.order) == "abcedf"


@given(graphs())
def test_every_order_has_parents_before_children(dag: Dag) -> None:
    place = {node: at for at, node in enumerate(dag.order)}
    assert sorted(place) == list(range(len(dag)))
    assert all(place[parent] < place[child] for parent, child in dag.arcs())


@given(graphs())
def test_the_order_is_that_of_a_queue(dag: Dag) -> None:
    waiting = {node: len(dag.parents_of(node)) for node in range(len(dag))}
    queue = [node for node, count in waiting.items() if not count]
    for node in queue:
        for child in dag.children_of(node):
            waiting[child] -= 1
            if not waiting[child]:
                queue.append(child)
    assert list(dag.order) == queue


def test_a_cycle_is_told_as_its_names_in_order() -> None:
    with pytest.raises(CycleError) as caught:
        named("abcde", "ab", "bc", "cd", "db", "de")
    assert caught.value.names == ["b", "c", "d"]
    assert str(caught.value) == "cycle: b -> c -> d -> b. Remove one of these dependencies."
    assert caught.value.exit_code == 2


def test_a_job_that_depends_on_itself_is_a_cycle() -> None:
    with pytest.raises(CycleError) as caught:
        named("abc", "ab", "bb", "bc")
    assert caught.value.names == ["b"]
    assert '"b" depends on itself.' in str(caught.value)


def test_a_cycle_of_a_hundred_thousand_jobs_is_told_shortly() -> None:
    size = 100_000
    with pytest.raises(CycleError) as caught:
        dag_of(size, [(node, (node + 1) % size) for node in range(size)])
    assert caught.value.names == [f"n{node}" for node in range(size)]
    assert "n5 -> … 99991 more … -> n99997 -> n99998 -> n99999 -> n0." in str(caught.value)


def test_long_and_unprintable_names_do_not_spoil_the_message_of_a_cycle() -> None:
    with pytest.raises(CycleError) as caught:
        Dag(["x" * 10_000, "\x1b[2J\ud800"], [0, 1], [1, 0])
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


@given(st.data())
def test_what_is_reported_is_really_a_cycle_and_only_when_there_is_one(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    node = st.integers(0, size - 1)
    arcs = data.draw(st.lists(st.tuples(node, node), max_size=14))
    graph: nx.DiGraph[int] = nx.DiGraph(arcs)
    graph.add_nodes_from(range(size))
    try:
        dag_of(size, arcs)
    except CycleError as error:
        cycle = [int(name[1:]) for name in error.names]
        assert len(set(cycle)) == len(cycle)
        assert all(pair in arcs for pair in pairwise([*cycle, cycle[0]]))
    else:
        assert nx.is_directed_acyclic_graph(graph)


# --- levels --------------------------------------------------------------------------------------------------------


def test_a_diamond_has_three_levels() -> None:
    dag = named("abcd", "ab", "ac", "bd", "cd")
    assert dag.levels == [1, 2, 1]
    assert dag.width == 2
    assert list(dag.level_of) == [0, 1, 1, 2]


def test_a_job_is_one_level_above_its_highest_parent() -> None:
    dag = named("abcd", "ab", "bc", "ad", "cd")
    assert list(dag.level_of) == [0, 1, 2, 3]


def test_milestones_are_on_no_level_and_add_none() -> None:
    dag = named("amnb", "am", "mn", "nb", milestones="mn")
    assert dag.levels == [1, 1]
    assert dag.level_of[0] == 0
    assert dag.level_of[3] == 1


def test_a_milestone_before_everything_leaves_the_first_level_first() -> None:
    dag = named("mab", "ma", "mb", milestones="m")
    assert dag.levels == [2]
    assert dag.width == 2


@given(graphs())
def test_a_level_is_the_most_jobs_on_any_way_to_a_job(dag: Dag) -> None:
    graph = second_opinion(dag)
    level: dict[int, int] = {}
    for node in nx.topological_sort(graph):
        above = [level[parent] + (not dag.milestones[parent]) for parent in graph.predecessors(node)]
        level[node] = max(above, default=0)
    assert list(dag.level_of) == [level[node] for node in range(len(dag))]
    of_jobs = [level[node] for node in dag.jobs()]
    assert dag.levels == [of_jobs.count(at) for at in range(max(of_jobs, default=-1) + 1)]
    assert dag.width == max(dag.levels, default=0)


@given(graphs(milestones=False))
def test_levels_are_the_generations_of_networkx(dag: Dag) -> None:
    generations = [sorted(generation) for generation in nx.topological_generations(second_opinion(dag))]
    assert dag.levels == [len(generation) for generation in generations]


# --- arcs between jobs ---------------------------------------------------------------------------------------------


def joined(dag: Dag) -> set[tuple[int, int]]:
    """Pairs of jobs with a way between them that passes milestones only; every way is tried."""
    found = set()
    for job in dag.jobs():
        ways = [(job, child) for child in dag.children_of(job)]
        for _, at in ways:
            if dag.milestones[at]:
                ways.extend((job, child) for child in dag.children_of(at))
            else:
                found.add((job, at))
    return found


def test_a_milestone_between_two_by_three_jobs_stands_for_six_arcs() -> None:
    dag = named("abmcde", "am", "bm", "mc", "md", "me", milestones="m")
    assert dag.arc_count == 6
    assert letters(dag, dag.job_children(0)) == "cde"


def test_an_arc_that_also_goes_through_a_milestone_counts_once() -> None:
    dag = named("amnb", "am", "an", "mb", "nb", "ab", milestones="mn")
    assert dag.arc_count == 1
    assert letters(dag, dag.job_children(0)) == "b"


def test_milestones_that_lead_nowhere_join_nothing() -> None:
    dag = named("amn", "am", "mn", milestones="mn")
    assert dag.arc_count == 0
    assert dag.job_children(0) == []


@given(graphs())
def test_arcs_are_counted_as_pairs_of_jobs_joined_directly_or_through_milestones(dag: Dag) -> None:
    assert dag.arc_count == len(joined(dag))
    children = [(job, child) for job in dag.jobs() for child in dag.job_children(job)]
    assert len(children) == len(set(children))
    assert set(children) == joined(dag)


@given(graphs())
def test_jobs_are_what_is_no_milestone(dag: Dag) -> None:
    assert list(dag.jobs()) == [node for node in range(len(dag)) if not dag.milestones[node]]
    assert dag.job_count == len(list(dag.jobs()))


# --- critical path -------------------------------------------------------------------------------------------------


def test_the_critical_path_is_the_longest_by_time() -> None:
    dag = named("abcd", "ab", "ac", "bd", "cd", seconds=[1, 2, 5, 1])
    assert letters(dag, dag.critical_path.nodes) == "acd"
    assert dag.critical_path.seconds == 7


def test_few_long_jobs_beat_many_short_ones() -> None:
    dag = named("abcx", "ab", "bc", seconds=[1, 1, 1, 10])
    assert letters(dag, dag.critical_path.nodes) == "x"


def test_where_no_time_is_known_the_critical_path_has_the_most_jobs() -> None:
    dag = named("abcxy", "ab", "bc", "xy")
    assert letters(dag, dag.critical_path.nodes) == "abc"
    assert dag.critical_path.seconds == 0


def test_of_equally_long_paths_the_one_with_more_jobs_is_critical() -> None:
    dag = named("abc", "bc", seconds=[4, 2, 2])
    assert letters(dag, dag.critical_path.nodes) == "bc"


def test_jobs_of_no_time_at_either_end_are_on_the_critical_path() -> None:
    dag = named("abc", "ab", "bc", seconds=[None, 3, 0])
    assert letters(dag, dag.critical_path.nodes) == "abc"


def test_of_equal_paths_the_first_in_the_file_is_critical() -> None:
    dag = named("abcd", "ab", "ac", "bd", "cd", seconds=[1, 1, 1, 1])
    assert letters(dag, dag.critical_path.nodes) == "abd"


def test_milestones_are_not_listed_on_the_critical_path() -> None:
    dag = named("ambn", "am", "mb", "bn", milestones="mn")
    assert letters(dag, dag.critical_path.nodes) == "ab"


def test_a_run_time_given_to_a_milestone_counts_for_nothing() -> None:
    dag = named("amb", "am", "mb", seconds=[1, 100, 1], milestones="m")
    assert dag.critical_path.seconds == dag.work == dag.minimal_schedule.makespan == 2
    assert dag.timed == 2


@given(graphs())
def test_no_path_takes_longer_than_the_critical_one(dag: Dag) -> None:
    graph = second_opinion(dag)
    best: dict[int, tuple[float, int]] = {}
    for node in nx.topological_sort(graph):
        before = max((best[parent] for parent in graph.predecessors(node)), default=(0.0, 0))
        best[node] = before[0] + dag.seconds[node], before[1] + (not dag.milestones[node])
    path = dag.critical_path
    assert (path.seconds, len(path.nodes)) == max(best.values(), default=(0.0, 0))
    assert sum(dag.seconds[node] for node in path.nodes) == path.seconds
    assert all(pair in joined(dag) for pair in pairwise(path.nodes))


def test_work_is_the_time_of_all_jobs_and_timed_how_many_have_one() -> None:
    dag = named("abc", "ab", seconds=[1.5, None, 0])
    assert dag.work == 1.5
    assert dag.timed == 2
    assert named("abc").timed == 0


# --- minimal schedule ----------------------------------------------------------------------------------------------


def model_run(dag: Dag) -> tuple[float, dict[int, float], list[tuple[float, int]]]:
    """Section 4.1 of the paper, step by step. Milestones are jobs of no time; they run, but are not counted."""
    time = 0.0
    running: dict[int, float] = {}
    starts: dict[int, float] = {}
    complete: set[int] = set()
    curve = []
    while len(complete) < len(dag):
        for node in range(len(dag)):
            if node not in starts and all(parent in complete for parent in dag.parents_of(node)):
                starts[node] = time
                running[node] = time + dag.seconds[node]
        curve.append((time, len([node for node in running if not dag.milestones[node]])))
        time = min(running.values())
        for node in [node for node, end in running.items() if end == time]:
            del running[node]
            complete.add(node)
    curve.append((time, 0))
    return time, starts, curve


def steps(curve: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """A curve without steps that take no time or change nothing."""
    last = dict(curve)
    kept: list[tuple[float, int]] = []
    for time, count in sorted(last.items()):
        if count != (kept[-1][1] if kept else 0):
            kept.append((time, count))
    return kept


def test_the_minimal_schedule_starts_each_job_when_its_parents_are_done() -> None:
    dag = named("abcd", "ab", "ac", "bd", "cd", seconds=[1, 2, 5, 1])
    schedule = dag.minimal_schedule
    assert schedule.makespan == 7
    assert list(schedule.starts) == [0, 1, 1, 6]
    assert list(schedule.concurrency) == [(0, 1), (1, 2), (3, 1), (6, 1), (7, 0)]


def test_jobs_of_no_time_take_no_part_in_the_concurrency() -> None:
    dag = named("abc", "ab", "bc", seconds=[0, 2, None])
    assert dag.minimal_schedule.makespan == 2
    assert list(dag.minimal_schedule.starts) == [0, 0, 2]
    assert list(dag.minimal_schedule.concurrency) == [(0, 1), (2, 0)]


def test_where_no_time_is_known_the_minimal_schedule_takes_none() -> None:
    schedule = named("ab", "ab").minimal_schedule
    assert schedule.makespan == 0
    assert list(schedule.concurrency) == []


@given(graphs())
def test_the_minimal_schedule_is_that_of_the_papers_model_run(dag: Dag) -> None:
    makespan, starts, curve = model_run(dag)
    schedule = dag.minimal_schedule
    assert schedule.makespan == makespan
    assert dict(enumerate(schedule.starts)) == starts
    assert steps(list(schedule.concurrency)) == steps(curve)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_the_minimal_schedule_takes_exactly_as_long_as_the_critical_path(seconds: list[float]) -> None:
    size = len(seconds)
    arcs = [(node, node + step) for step in (1, 2) for node in range(size - step)]
    dag = dag_of(size, arcs, list(seconds))
    assert dag.minimal_schedule.makespan == dag.critical_path.seconds
    assert [time for time, _ in dag.minimal_schedule.concurrency] == sorted(
        {time for time, _ in dag.minimal_schedule.concurrency}
    )


# --- reduction -----------------------------------------------------------------------------------------------------


def test_a_reduction_leaves_out_shortcuts() -> None:
    dag = named("abcd", "ad", "ab", "ac", "bc", "cd", seconds=[1, 2, 3, 4])
    assert list(dag.reduced().arcs()) == [(0, 1), (1, 2), (2, 3)]
    assert dag.reduced().minimal_schedule.makespan == 10


@given(graphs())
def test_the_reduction_is_that_of_networkx(dag: Dag) -> None:
    reduced = dag.reduced()
    assert set(reduced.arcs()) == set(nx.transitive_reduction(second_opinion(dag)).edges)
    assert reduced.names == dag.names
    assert reduced.milestones == dag.milestones
    assert list(reduced.seconds) == list(dag.seconds)


@given(graphs())
def test_a_reduction_is_its_own_reduction(dag: Dag) -> None:
    once = dag.reduced()
    assert list(once.reduced().arcs()) == list(once.arcs())


# --- nothing, little, much -----------------------------------------------------------------------------------------


def test_a_dag_of_nothing_has_nothing() -> None:
    dag = Dag([], [], [])
    assert len(dag) == dag.job_count == dag.width == dag.arc_count == 0
    assert dag.levels == list(dag.order) == []
    assert list(dag.arcs()) == []
    assert dag.critical_path.nodes == ()
    assert dag.minimal_schedule.makespan == 0
    assert list(dag.minimal_schedule.concurrency) == []
    assert len(dag.reduced()) == 0


def test_a_dag_of_one_job_is_its_own_critical_path() -> None:
    dag = Dag(["only"], [], [], [3.0])
    assert dag.levels == [1]
    assert dag.critical_path.nodes == (0,)
    assert list(dag.minimal_schedule.concurrency) == [(0, 1), (3, 0)]
    assert list(dag.reduced().order) == [0]


def test_a_dag_of_one_milestone_has_no_jobs() -> None:
    dag = named("m", milestones="m")
    assert dag.job_count == dag.width == dag.arc_count == 0
    assert dag.levels == []
    assert dag.critical_path.nodes == ()


def everything(dag: Dag) -> tuple[int, int, int, float]:
    """Asks all there is to ask."""
    assert len(dag.reduced()) == len(dag)
    assert len(dag.parents) == len(dag.children)
    return len(dag.levels), dag.width, dag.arc_count, dag.minimal_schedule.makespan


def test_a_chain_of_a_hundred_thousand_jobs() -> None:
    size = 100_000
    dag = dag_of(size, [(node, node + 1) for node in range(size - 1)], [1.0] * size)
    assert everything(dag) == (size, 1, size - 1, size)
    assert len(dag.critical_path.nodes) == size


def test_a_chain_of_a_hundred_thousand_milestones() -> None:
    size = 100_000
    dag = dag_of(size, [(node, node + 1) for node in range(size - 1)], None, set(range(1, size - 1)))
    assert everything(dag) == (2, 1, 1, 0)
    assert dag.job_children(0) == [size - 1]


def test_a_star_of_fifty_thousand_children() -> None:
    dag = dag_of(50_001, [(0, child) for child in range(1, 50_001)], [1.0] * 50_001)
    assert everything(dag) == (2, 50_000, 50_000, 2)
    assert list(dag.minimal_schedule.concurrency) == [(0, 1), (1, 50_000), (2, 0)]


def test_twenty_thousand_jobs_before_twenty_thousand_others_through_one_milestone() -> None:
    half = 20_000
    before = [(node, half) for node in range(half)]
    after = [(half, node) for node in range(half + 1, 2 * half + 1)]
    dag = dag_of(2 * half + 1, before + after, [1.0] * (2 * half + 1), {half})
    assert everything(dag) == (2, half, half * half, 2)


def test_supergroups_of_supergroups_in_a_row_do_not_copy_what_lies_beyond() -> None:
    """300 barriers of 100 jobs each, one barrier between, then the same again."""
    outer, inner = 300, 100
    arcs: Arcs = []
    milestones: set[int] = set()
    middle, size = 0, 1
    milestones.add(middle)
    for part in range(2 * outer):
        barrier, size = size, size + 1 + inner
        milestones.add(barrier)
        jobs = range(barrier + 1, size)
        if part < outer:
            arcs += [(job, barrier) for job in jobs] + [(barrier, middle)]
        else:
            arcs += [(middle, barrier)] + [(barrier, job) for job in jobs]
    dag = dag_of(size, arcs, None, milestones)
    assert dag.arc_count == (outer * inner) ** 2
    assert dag.levels == [outer * inner] * 2


# --- reduction where searches would cost too much -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_tangled_dag_has_the_reduction_of_networkx_too(seed: int) -> None:
    random = Random(seed)
    size = 200
    arcs = {tuple(sorted(random.sample(range(size), 2))) for _ in range(size * (1 + seed))}
    dag = dag_of(size, [(one, two) for one, two in arcs])
    assert set(dag.reduced().arcs()) == set(nx.transitive_reduction(second_opinion(dag)).edges)


@pytest.mark.parametrize("bits", [1, 1 << 28])
def test_sets_of_bits_find_all_shortcuts_however_many_fit_at_once(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_PASSES", 0)
    monkeypatch.setattr(reduction, "_BITS", bits)
    size = 600  # more targets than the least number of bits at once
    dag = dag_of(size, [(node, node + step) for step in (1, 2, 7) for node in range(size - step)])
    assert list(dag.reduced().arcs()) == [(node, node + 1) for node in range(size - 1)]


def test_other_run_times_leave_the_reduction_as_it_is() -> None:
    dag = named("abc", "ab", "bc", "ac").with_seconds([1.0, 2.0, 3.0])
    assert list(dag.reduced().arcs()) == [(0, 1), (1, 2)]
