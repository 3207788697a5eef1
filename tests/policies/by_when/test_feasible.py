from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.policies.by_when.feasible import check, latest_starts
from headway.policies.what_next import critical_path
from tests.policies.by_when.dags import random_dag

#  a(10) -> b(20) -> d(5);  a -> c(1) -> d
DAG = Dag([*"abcd"], [0, 0, 1, 2], [1, 2, 3, 3], [10, 20, 1, 5])


def test_each_job_must_begin_before_the_longest_path_from_it_on_takes_longer_than_what_is_left() -> None:
    assert latest_starts(DAG, 40) == [5, 15, 34, 35]


@given(st.integers(0, 10**6), st.integers(0, 10**5))
def test_the_order_that_runs_with_a_deadline_have_is_that_of_latest_starts(seed: int, deadline: int) -> None:
    """`--deadline` sets `--order critical-path`: who has least time to spare runs first, equal ones together."""
    rng = Random(seed)
    dag = random_dag(rng, rng.randint(1, 12))
    dag = dag.with_seconds([float(rng.randint(0, 20)) for _ in range(len(dag))])
    starts, ranks = latest_starts(dag, float(deadline)), critical_path.ranks(dag)
    for one in range(len(dag)):
        for other in range(len(dag)):
            assert (starts[one] < starts[other]) == (ranks[one] < ranks[other])


@pytest.mark.parametrize(
    ("dag", "seconds", "said"),
    [
        (DAG, -1, "in the past. Choose a deadline at least 35 s away"),
        (DAG, 30, "30 s away, and the longest path alone takes 35 s. Choose a deadline at least 35 s away"),
        (Dag([*"ab"], [0], [1]), 0, "in the past. Choose a later one"),
    ],
)
def test_a_deadline_that_cannot_be_met_is_refused_with_one_that_could(dag: Dag, seconds: float, said: str) -> None:
    with pytest.raises(UsageError) as error:
        check(dag, seconds)
    assert said in str(error.value)
    check(DAG, 35)
