"""Which jobs an allocation runs: its own first, then guests that fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.engine.mapping import fits_in, offered
from headway.engine.ready import Candidate, Room, Within

HOUR = 3600.0


def job(name: str, cores: int = 1) -> Candidate:
    return Candidate(name, cores)


def names(own: list[Candidate], others: list[Candidate], free: int, left: float = HOUR, **hours: float) -> list[str]:
    """What is started of jobs that take an hour, or as many as are given."""
    found = offered(own, others, free, 8, lambda one: fits_in(HOUR * hours.get(one.job, 1.0), left))
    return [one.job for one in found]


def test_its_own_jobs_come_before_guests_whatever_their_ranks() -> None:
    assert names([job("mine")], [job("first"), job("second")], 2) == ["mine", "first"]


def test_a_job_that_would_be_cut_off_is_not_started() -> None:
    assert names([job("mine"), job("long")], [job("guest"), job("wide", 2)], 4, long=2, guest=2) == ["mine", "wide"]


def test_one_that_takes_exactly_what_is_left_is_started() -> None:
    assert names([job("mine")], [], 1, left=HOUR - 1e-7) == ["mine"]


def test_a_wide_job_of_its_own_waits_for_room_and_no_guest_takes_it() -> None:
    assert names([job("a"), job("wide", 4), job("b")], [job("guest")], 3) == ["a"]


def test_a_guest_that_does_not_fit_is_passed_over() -> None:
    assert names([job("mine")], [job("wide", 4), job("small")], 3) == ["mine", "small"]


def test_a_job_of_its_own_that_is_wider_than_the_allocation_gets_all_of_it_but_no_guest_does() -> None:
    assert names([job("mine", 99)], [], 8) == ["mine"]
    assert names([], [job("guest", 99)], 8) == []


def test_what_a_live_placeholder_knows_of_times_serves_as_well() -> None:
    """By a job's limit, else by its expected time, as `Room.take` has it."""
    within = Within(HOUR)
    some = [Candidate("limited", 1, limit=2 * HOUR, expected=60.0), Candidate("short", 1, expected=60.0)]
    assert offered(some, [], 8, 8, lambda one: within.holds(one.limit, one.expected)) == some[1:]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), max_size=6),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), max_size=6),
    st.integers(0, 6),
    st.integers(0, 5),
)
def test_guests_take_only_what_its_own_jobs_leave(
    own: list[tuple[int, int]], others: list[tuple[int, int]], free: int, left: int
) -> None:
    mine = [Candidate(("own", at), cores) for at, (cores, _) in enumerate(own)]
    guests = [Candidate(("guest", at), cores) for at, (cores, _) in enumerate(others)]
    lengths = {one.job: long for one, (_, long) in zip([*mine, *guests], [*own, *others], strict=True)}

    def started(some: list[Candidate]) -> list[Candidate]:
        return offered(mine, some, free, 6, lambda one: fits_in(lengths[one.job], left))

    found = started(guests)
    assert found[: len(started([]))] == started([])
    assert all(lengths[one.job] <= left for one in found)
    taken = Room(free, 6).take(found)
    assert [name for name, _ in taken] == [one.job for one in found]  # all of them fit
