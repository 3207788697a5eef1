from __future__ import annotations

import pytest

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.policies.what_next import ORDERS, order
from headway.policies.what_next.auto import chosen
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio_weighted import ranks_with_wait

NAMES = ["a", "b", "c", "d"]
ARCS = ([0, 1], [2, 3])  # a -> c, b -> d


def test_fifo_ranks_all_the_same() -> None:
    assert set(order("fifo")(Dag(NAMES, *ARCS))) == {0}


def test_critical_path_prefers_the_longest_way_to_the_end() -> None:
    ranks = order("critical-path")(Dag(NAMES, *ARCS, seconds=[1.0, 1.0, 2.0, 9.0]))
    assert sorted(range(4), key=lambda node: ranks[node]) == [1, 3, 0, 2]


def test_critical_path_counts_jobs_where_no_time_is_known() -> None:
    ranks = order("critical-path")(Dag(["a", "m", "b", "c"], [0, 1], [1, 2], milestones=bytes([0, 1, 0, 0])))
    assert ranks[0] < ranks[1] <= ranks[2] == ranks[3]


def test_prio_weighted_prefers_long_ways_and_prio_among_equals() -> None:
    dag = Dag(list("abcdef"), [0, 1, 1, 2], [3, 4, 5, 3], seconds=[1.0, 1.0, 9.0, 5.0, 5.0, 5.0])
    ranks = order("prio-weighted")(dag)
    assert schedule(dag, ranks) == [2, 1, 0, 3, 4, 5]  # c has the longest way; a and b as long, b two children
    assert sorted(ranks) == list(range(6))


def test_a_longer_wait_for_workers_makes_the_number_of_jobs_on_the_way_count_more() -> None:
    dag = Dag(list("abcd"), [0, 1], [1, 2], seconds=[1.0, 1.0, 1.0, 4.0])
    assert schedule(dag, ranks_with_wait(dag, 0.0))[0] == 3
    assert schedule(dag, ranks_with_wait(dag, 10.0))[0] == 0


def test_a_job_of_unknown_run_time_is_taken_for_a_mean_one() -> None:
    dag = Dag(list("abc"), [], [], seconds=[1.0, None, 9.0])
    assert schedule(dag, ranks_with_wait(dag, 0.0)) == [2, 1, 0]


def test_without_run_times_prio_weighted_is_prio() -> None:
    dag = Dag(NAMES, *ARCS)
    assert list(order("prio-weighted")(dag)) == list(order("prio")(dag))


def test_auto_takes_what_is_known_into_account() -> None:
    assert chosen(Dag(NAMES, *ARCS)) == "prio"
    assert chosen(Dag(NAMES, *ARCS, seconds=[1.0, None, None, None])) == "prio-weighted"
    assert chosen(Dag(NAMES, [], [], seconds=[1.0, 2.0, 3.0, 4.0])) == "prio-weighted"
    assert chosen(Dag(NAMES, [], [])) == "fifo"
    assert chosen(Dag(list("abc"), [0, 1], [1, 2])) == "fifo"  # a chain has one order only
    assert chosen(Dag(list("abc"), [0], [1])) == "prio"


def test_of_equal_ranks_who_became_eligible_first_goes_first_and_then_the_file() -> None:
    dag = Dag(list("abcde"), [0, 1, 1], [4, 2, 3])
    assert schedule(dag, order("fifo")(dag)) == [0, 1, 4, 2, 3]
    assert eligible(dag, [0, 1, 4, 2, 3]) == [2, 2, 3, 2, 1, 0]


@pytest.mark.parametrize("name", sorted(ORDERS))
def test_every_order_takes_an_empty_dag(name: str) -> None:
    assert not len(order(name)(Dag([], [], [])))


def test_an_unknown_order_is_told() -> None:
    with pytest.raises(UsageError, match="fifo"):
        order("lifo")
