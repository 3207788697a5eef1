from __future__ import annotations

import pytest

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.policies.by_when.feasible import check, impossible_from, latest_starts, outlook, ranks

#  a(10) -> b(20) -> d(5);  a -> c(1) -> d
DAG = Dag([*"abcd"], [0, 0, 1, 2], [1, 2, 3, 3], [10, 20, 1, 5])


def test_a_deadline_is_held_against_the_longest_path_and_a_play_of_the_run() -> None:
    assert outlook(DAG, 40).possible and outlook(DAG, 40).slack == 5 and outlook(DAG, 40).minimal == 35
    assert outlook(DAG, 40, expected=44).slack == -4
    assert not outlook(DAG, 34).possible


def test_jobs_with_less_time_to_spare_come_first() -> None:
    assert latest_starts(DAG, 40) == [5, 15, 34, 35]
    assert ranks(DAG) == [0, 1, 2, 3]
    assert ranks(Dag([*"ab"], [], [], [1, 9])) == [1, 0]


def test_the_moment_is_known_from_which_a_deadline_cannot_be_met() -> None:
    assert impossible_from(DAG, 40, lambda job: False) == 5
    assert impossible_from(DAG, 40, lambda job: job in (0, 1)) == 34


@pytest.mark.parametrize(
    ("dag", "seconds", "said"),
    [
        (DAG, -1, "in the past. The longest path takes 35 s"),
        (DAG, 30, "30 s away, and the longest path alone takes 35 s. Choose a deadline at least 35 s away"),
        (Dag([*"ab"], [0], [1]), 30, "no job of this workflow tells one"),
    ],
)
def test_a_deadline_that_cannot_be_met_is_refused_with_one_that_could(dag: Dag, seconds: float, said: str) -> None:
    with pytest.raises(UsageError) as error:
        check(dag, seconds)
    assert said in str(error.value)
    check(DAG, 35)
