from __future__ import annotations

import pytest

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.policies.what_next import ORDERS, order

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


@pytest.mark.parametrize("name", sorted(ORDERS))
def test_every_order_takes_an_empty_dag(name: str) -> None:
    assert not len(order(name)(Dag([], [], [])))


def test_an_unknown_order_is_told() -> None:
    with pytest.raises(UsageError, match="fifo"):
        order("lifo")
