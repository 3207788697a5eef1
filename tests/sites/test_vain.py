"""Allocations whose placeholder never came: one at a time is asked for, ever later, until one comes."""

from __future__ import annotations

from headway.live.sites.vain import LONGEST_PAUSE, Vain


def test_until_something_goes_wrong_as_many_are_asked_for_as_are_wanted() -> None:
    assert (Vain().allowed(20, 0, 0.0), Vain().said) == (20, "")


def test_after_the_first_time_one_is_asked_for_at_once_and_then_ever_later() -> None:
    vain = Vain()
    vain.note(3, "python3: not found", 100.0, 10.0)
    assert vain.allowed(20, 0, 100.0) == 1 and vain.allowed(20, 1, 100.0) == 0
    assert vain.said == "3 allocations ended before a placeholder came: python3: not found. One at a time is asked for."
    vain.note(1, "python3: not found", 110.0, 10.0)
    assert [vain.allowed(20, 0, at) for at in (110.0, 129.9, 130.0)] == [0, 0, 1]
    for _ in range(20):
        vain.note(1, "python3: not found", 200.0, 10.0)
    assert [vain.allowed(20, 0, 200.0 + late) for late in (LONGEST_PAUSE - 1, LONGEST_PAUSE)] == [0, 1]
    assert vain.said.startswith("24 allocations ") and vain.said.endswith(" asked for after 5 min 00 s.")


def test_a_placeholder_that_comes_makes_all_well() -> None:
    vain = Vain()
    vain.note(3, "python3: not found", 100.0, 10.0)
    vain.came()
    assert (vain.allowed(20, 5, 100.0), vain.said) == (20, "")
