"""Whether a workflow is over, as far as one placeholder can tell."""

from __future__ import annotations

from headway.engine.outlook import Outlook


def outlook(*what: str) -> Outlook:
    return Outlook(*(word in what for word in ("halted", "running", "eligible", "later", "final")))


def test_nothing_that_runs_or_could_run_is_the_end() -> None:
    assert outlook().is_over
    assert not any(outlook(word).is_over for word in ("running", "eligible", "later", "final"))


def test_what_a_job_has_ended_is_over_when_nothing_runs_but_its_last_job_comes_first() -> None:
    assert outlook("halted", "eligible", "later").is_over
    assert not outlook("halted", "running").is_over and not outlook("halted", "final").is_over


def test_who_has_all_its_room_and_gets_nothing_is_stuck_unless_others_work() -> None:
    assert outlook("eligible").is_stuck(room_is_whole=True) and outlook("final").is_stuck(room_is_whole=True)
    assert not outlook("eligible").is_stuck(room_is_whole=False)
    assert not outlook("eligible", "running").is_stuck(room_is_whole=True)
    assert not outlook("eligible", "later").is_stuck(room_is_whole=True)
