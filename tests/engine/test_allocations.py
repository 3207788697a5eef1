"""The application manager of batchqueue.txt, Fig. 3: a test for each of its events."""

from __future__ import annotations

from headway.engine.allocations import Cancel, Manager, Name, Release, Submit
from headway.engine.ready import Candidate
from headway.policies.how_much import Advice, Ask, Limits, Method, Outlines, View, method
from tests.policies.test_how_much import HOUR, chain, layers, never

ONE, TWO, THREE = Name(0), Name(1), Name(2)


def level_by_level(view: View) -> Advice:
    """A method that asks for one level at a time, for an hour."""
    return Advice((Ask(view.left.width(1), HOUR, view.left.jobs(1)),))


def manager(asks: Method = level_by_level, widths: tuple[int, ...] = (2, 2, 2)) -> Manager:
    return Manager(Outlines(layers(list(widths))), asks, 8, never)


def test_it_begins_with_what_the_method_says_of_the_whole() -> None:
    """Lines 1 to 5."""
    assert manager().begin() == [Submit(ONE, 2, HOUR, (0, 1))]


def test_when_an_allocation_begins_the_next_one_is_asked_for() -> None:
    """Lines 8 to 16, with the length of the one that has begun as what the rest waits for."""
    seen: list[tuple[float, tuple[int, ...]]] = []

    def asks(view: View) -> Advice:
        seen.append((view.busy, view.left.jobs(view.left.height)))
        return level_by_level(view)

    one = manager(asks)
    one.begin()
    assert one.began(ONE, 5.0) == [Submit(TWO, 2, HOUR, (2, 3))]
    assert one.began(TWO, 9.0) == [Submit(THREE, 2, HOUR, (4, 5))]
    assert one.began(THREE, 9.0) == []
    assert seen == [(0.0, (0, 1, 2, 3, 4, 5)), (HOUR, (2, 3, 4, 5)), (HOUR, (4, 5))]


def test_an_allocation_that_ends_with_all_its_jobs_done_needs_nothing() -> None:
    """Line 17, "normally, no processing is needed"."""
    one = manager()
    one.begin()
    one.began(ONE, 0.0)
    one.finished(0)
    assert one.finished(1) == [Release(ONE)]
    assert ONE not in one.out


def test_an_allocation_that_ends_too_early_takes_what_has_not_begun_back() -> None:
    """Lines 18 to 25: what waits is cancelled; unfinished and cancelled jobs are decided on together."""
    one = manager()
    one.begin()
    one.began(ONE, 0.0)
    one.finished(0)
    assert one.ended(ONE, {}, [1]) == [Cancel(TWO), Submit(THREE, 1, HOUR, (1,))]
    assert one.began(THREE, 0.0) == [Submit(Name(3), 2, HOUR, (2, 3))]


def test_what_runs_beside_the_one_that_ended_too_early_goes_on() -> None:
    one = manager()
    one.begin()
    one.began(ONE, 0.0)
    one.began(TWO, 0.0)  # the third waits
    assert one.ended(ONE, {}, [0, 1]) == [Cancel(THREE), Submit(Name(3), 2, HOUR, (0, 1))]
    assert set(one.out) == {TWO, Name(3)} and one.out[TWO].unfinished == {2, 3}


def test_only_what_the_method_chose_is_mapped_to_the_new_request() -> None:
    """Line 24 maps everything to it, whatever peelLevel chose: here the rest is decided on when it begins."""
    one = manager()
    one.begin()
    one.began(ONE, 0.0)
    orders = one.ended(ONE, {}, [0, 1])
    assert orders[-1] == Submit(THREE, 2, HOUR, (0, 1))


def test_a_job_that_is_done_leaves_its_allocation_and_the_last_one_ends_it() -> None:
    """Lines 26, 27, 31 and 32."""
    one = manager()
    one.begin()
    one.began(ONE, 0.0)
    assert one.finished(1) == [] and one.out[ONE].unfinished == {0}
    assert one.finished(0) == [Release(ONE)]


def test_an_allocation_whose_jobs_are_done_before_it_begins_is_cancelled() -> None:
    one = manager(method("giant"), widths=(1,))
    one.begin()
    assert one.finished(0) == [Cancel(ONE)]


def test_a_method_that_goes_over_to_single_jobs_stays_with_them() -> None:
    """'individual' holds for all the rest: each job is asked for once it is eligible."""
    asked = []

    def asks(view: View) -> Advice:
        asked.append(view.left.height)
        return level_by_level(view) if len(asked) == 1 else Advice(individually=True)

    one = manager(asks)
    one.begin()
    assert one.began(ONE, 0.0) == []  # nothing that is left is eligible
    assert one.eligible([2, 3]) == [Submit(TWO, 1, HOUR, (2,)), Submit(THREE, 1, HOUR, (3,))]
    assert one.eligible([2, 3]) == []
    assert one.began(TWO, 0.0) == [] and len(asked) == 2
    assert one.ended(TWO, {2: HOUR}, [2]) == [Submit(Name(3), 1, 2 * HOUR, (2,))]


def test_going_over_asks_at_once_for_what_is_eligible() -> None:
    one = manager(method("individual"))
    assert one.begin() == [Submit(ONE, 1, HOUR, (0,)), Submit(TWO, 1, HOUR, (1,))]


def test_a_job_that_was_cut_off_after_its_expected_time_is_expected_to_take_twice_that() -> None:
    one = Manager(Outlines(chain(1, 1)), method("giant"), 8, never)
    one.begin()
    one.began(ONE, 0.0)
    one.finished(0)
    assert one.ended(ONE, {1: 1.5 * HOUR}, [1]) == [Submit(TWO, 1, 3 * HOUR, (1,))]
    assert one.began(TWO, 0.0) == []


def test_what_a_clock_loses_in_rounding_does_not_hide_that_a_job_took_longer() -> None:
    """It was asked for in whole minutes, cut off some nanoseconds before its expected time, and asked for again."""
    one = Manager(Outlines(chain(1.4000000000010349)), method("individual"), 8, never)
    assert one.begin() == [Submit(ONE, 1, 5040.0, (0,))]
    one.began(ONE, 0.0)
    assert one.ended(ONE, {0: 5040.0}, [0]) == [Submit(TWO, 1, 10080.0, (0,))]


def test_one_that_was_cut_off_before_is_not() -> None:
    """It only began late."""
    one = Manager(Outlines(chain(1, 1)), method("giant"), 8, never)
    one.begin()
    one.began(ONE, 0.0)
    one.finished(0)
    assert one.ended(ONE, {1: 0.5 * HOUR}, [1]) == [Submit(TWO, 1, HOUR, (1,))]


def test_a_budget_is_what_is_left_of_it() -> None:
    seen: list[float | None] = []

    def asks(view: View) -> Advice:
        seen.append(view.limits.core_hours)
        return level_by_level(view)

    one = Manager(Outlines(layers([2, 2])), asks, 8, never, Limits(core_hours=10.0))
    one.begin()
    one.began(ONE, 0.0)
    assert seen == [10.0, 8.0]


def test_a_limit_on_requests_puts_the_next_one_off_until_one_is_over() -> None:
    one = manager()
    one.limits = Limits(requests=1)
    one.begin()
    assert one.began(ONE, 0.0) == []
    one.finished(0)
    assert one.finished(1) == [Release(ONE), Submit(TWO, 2, HOUR, (2, 3))]


def test_a_limit_on_requests_holds_for_single_jobs_too() -> None:
    one = manager(method("individual"))
    one.limits = Limits(requests=1)
    assert one.begin() == [Submit(ONE, 1, HOUR, (0,))]
    one.began(ONE, 0.0)
    assert one.finished(0) == [Release(ONE), Submit(TWO, 1, HOUR, (1,))]


def test_a_limit_on_processors_holds_for_single_jobs_too() -> None:
    one = Manager(Outlines(layers([3]), [2, 1, 9]), method("individual"), 8, never, Limits(processors=3))
    assert one.begin() == [Submit(ONE, 2, HOUR, (0,)), Submit(TWO, 1, HOUR, (1,))]
    one.began(ONE, 0.0)
    one.began(TWO, 0.0)
    assert one.finished(0) == [Release(ONE)]
    assert one.finished(1) == [Release(TWO), Submit(Name(2), 3, HOUR, (2,))]  # wider than allowed: all that is


# --- loose mapping ---------------------------------------------------------------------------------------------------


def loosely(asks: Method = level_by_level, widths: tuple[int, ...] = (2, 2, 2)) -> Manager:
    return Manager(Outlines(layers(list(widths))), asks, 8, never, loose=True)


def offered(one: Manager, name: Name, own: list[int], others: list[int], now: float = 0.0) -> list[int]:
    mine, guests = ([Candidate(job, 1) for job in some] for some in (own, others))
    return [found.job for found in one.offered(name, mine, guests, 2, now, lambda found: found.job)]


def test_an_allocation_has_guests_while_it_is_kept_for_a_job_of_its_own() -> None:
    one = loosely(widths=(3,))
    one.method = lambda view: Advice((Ask(2, HOUR, view.left.jobs(1)[:2]),))
    one.begin()
    one.began(ONE, 0.0)
    assert offered(one, ONE, [0], [2]) == [0, 2]
    one.took(ONE, [0, 1], 0.0)
    one.finished(0)
    assert offered(one, ONE, [], [2]) == [2]
    assert one.offered(ONE, [], [Candidate(2, 1)], 2, 0.0, lambda found: int(found.job), done=[1]) == []


def test_what_cannot_end_in_the_time_that_is_left_is_not_started() -> None:
    one = loosely()
    one.begin()
    one.began(ONE, 100.0)
    assert offered(one, ONE, [0, 1], [], now=100.0) == [0, 1]
    assert offered(one, ONE, [0, 1], [], now=101.0) == []


def test_an_allocation_that_waits_for_nothing_but_guests_of_others_is_not_needed() -> None:
    """Then the next one is asked for at once, for what follows."""
    one = loosely(widths=(2, 1, 1))
    one.begin()
    assert one.began(ONE, 0.0) == [Submit(TWO, 1, HOUR, (2,))]
    one.took(ONE, [0, 1], 0.0)
    assert one.took(ONE, [2], 0.0) == [Cancel(TWO), Submit(THREE, 1, HOUR, (3,))]
    assert one.finished(0, 1) == [] and ONE in one.out  # it has a guest
    assert one.finished(2) == [Release(ONE)]


def test_one_that_has_begun_waits_for_its_job_that_runs_elsewhere() -> None:
    one = loosely(widths=(2, 1))
    one.begin()
    one.began(ONE, 0.0)
    one.took(ONE, [0], 0.0)
    one.began(TWO, 0.0)
    assert one.took(ONE, [2], 0.0) == []
    assert one.finished(2) == [Release(TWO)] and ONE in one.out


def test_a_guest_that_is_cut_off_is_asked_for_like_all_that_is_left() -> None:
    one = loosely(widths=(1, 1))
    one.begin()
    one.began(ONE, 0.0)
    one.took(ONE, [0], 0.0)
    one.finished()
    assert one.took(ONE, [1], 0.0) == [Cancel(TWO)]  # nothing is left to ask for
    assert one.finished(0) == [] and one.out[ONE].running == {1}
    assert one.ended(ONE, {1: HOUR}, [1]) == [Submit(THREE, 1, HOUR, (1,))]


def test_a_guest_that_is_cut_off_goes_to_its_own_allocation_if_that_has_begun() -> None:
    one = loosely(widths=(1, 1))
    one.begin()
    one.began(ONE, 0.0)
    one.began(TWO, 0.0)
    one.took(ONE, [0], 0.0)
    one.took(ONE, [1], 0.0)
    one.finished(0)
    assert one.ended(ONE, {1: HOUR}, [1]) == []
    assert offered(one, TWO, [1], []) == []  # it took longer than expected, and is expected to take twice that
    assert one.idle(TWO, 0.0, [1])[0] == Release(TWO)


def test_an_allocation_that_none_of_its_jobs_could_finish_in_ends_early() -> None:
    one = loosely(widths=(2, 2))
    one.begin()
    one.began(ONE, 0.0)
    assert one.idle(ONE, 0.0, [0, 1]) == []
    assert one.idle(ONE, 1.0, [0, 1]) == [Release(ONE), Cancel(TWO), Submit(THREE, 2, HOUR, (0, 1))]


def test_one_with_a_guest_does_not_end_early() -> None:
    one = loosely(widths=(2, 1))
    one.begin()
    one.began(ONE, 0.0)
    one.took(ONE, [2], 0.0)
    assert one.idle(ONE, 1.0, [0, 1]) == []


def test_what_runs_as_a_guest_is_not_asked_for() -> None:
    one = loosely(method("individual"), widths=(3,))
    one.limits = Limits(requests=1)
    assert one.begin() == [Submit(ONE, 1, HOUR, (0,))]
    one.began(ONE, 0.0)
    one.took(ONE, [0], 0.0)
    one.took(ONE, [1], 0.0)
    assert one.finished(0, 1) == [Release(ONE), Submit(TWO, 1, HOUR, (2,))]
