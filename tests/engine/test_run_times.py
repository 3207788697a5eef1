"""How long a job is expected to take, by earlier ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.run_times import Ran, RunTimes, program_of


def test_a_program_takes_as_long_as_it_usually_has_at_that_site() -> None:
    known = RunTimes([Ran("align", "lab", 10.0), Ran("align", "lab", 12.0), Ran("align", "lab", 500.0)])
    assert known.expected("align", "lab") == 12.0


def test_nothing_is_expected_of_a_program_that_never_ran() -> None:
    assert RunTimes([Ran("align", "lab", 10.0)]).expected("sort", "lab") is None
    assert RunTimes([]).expected("align", "lab", 5) is None


def test_between_two_sizes_of_input_it_takes_a_time_between() -> None:
    known = RunTimes([Ran("align", "lab", 10.0, 1000), Ran("align", "lab", 30.0, 2000)])
    assert known.expected("align", "lab", 1500) == pytest.approx(20.0)
    assert known.expected("align", "lab", 2000) == 30.0


def test_more_input_than_ever_takes_longer_in_proportion_and_less_is_not_relied_upon() -> None:
    known = RunTimes([Ran("align", "lab", 10.0, 1000), Ran("align", "lab", 30.0, 2000)])
    assert known.expected("align", "lab", 6000) == pytest.approx(90.0)
    assert known.expected("align", "lab", 1) == 10.0


def test_at_a_site_where_it_never_ran_it_takes_as_much_longer_as_other_programs_do() -> None:
    known = RunTimes([Ran("align", "lab", 10.0), Ran("sort", "lab", 2.0), Ran("sort", "cluster", 1.0)])
    assert known.expected("align", "cluster") == pytest.approx(5.0)
    assert known.expected("align", "moon") == pytest.approx(10.0)  # of which nothing is known


@given(st.lists(st.tuples(st.integers(0, 10**9), st.floats(0, 10**6)), min_size=1, max_size=20), st.integers(0, 10**9))
def test_what_is_expected_lies_within_what_was_seen_unless_there_is_more_input(
    seen: list[tuple[int, float]], size: int
) -> None:
    known = RunTimes(Ran("p", "s", seconds, of) for of, seconds in seen)
    expected = known.expected("p", "s", size)
    times, largest = [seconds for _, seconds in seen], max(of for of, _ in seen)
    assert expected is not None and expected >= min(times) * (1 - 1e-9)
    if size <= largest:
        assert expected <= max(times) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("align a b", "align"),
        ("/opt/bin/align a", "align"),
        ("LANG=C ./align a", "align"),
        ("python3.11 bin/align.py --fast", "python align.py"),
        ("python3 -c 'print(1)'", "python3"),
        ("", ""),
    ],
)
def test_a_program_is_known_by_its_name_and_an_interpreter_by_its_script(command: str, program: str) -> None:
    assert program_of(command) == program
