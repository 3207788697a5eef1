"""When a placeholder counts as lost."""

from __future__ import annotations

from headway.engine.silence import Presence, in_touch_since, silent
from headway.model.messages import PlaceholderId


def presence(number: int, beat: float, since: float = 0.0, patience: float = 120.0) -> Presence:
    return Presence(PlaceholderId(number), f"host{number}", beat, since, patience)


def lost(own: Presence, other: Presence, now: float) -> bool:
    return silent(own, [own, other], now) == [other]


def test_who_is_silent_for_longer_than_it_promised_is_lost() -> None:
    own = presence(1, beat=1000.0)
    assert not lost(own, presence(2, beat=880.0), now=1000.0)
    assert lost(own, presence(2, beat=879.0), now=1000.0)


def test_nobody_takes_itself_for_lost() -> None:
    assert silent(presence(1, beat=0.0), [presence(1, beat=0.0)], now=1000.0) == []


def test_who_was_away_itself_judges_nobody_until_they_had_the_time_to_speak() -> None:
    back = presence(1, beat=1000.0, since=1000.0)  # the first to be back after an outage of 140 s
    assert not lost(back, presence(2, beat=860.0), now=1000.0)
    assert not lost(back, presence(2, beat=860.0), now=1029.0)
    assert lost(back, presence(2, beat=860.0), now=1030.0)


def test_who_has_not_spoken_since_an_outage_judges_nobody() -> None:
    assert not lost(presence(1, beat=860.0), presence(2, beat=860.0), now=1000.0)


def test_a_gap_begins_the_time_in_touch_anew() -> None:
    assert in_touch_since(presence(1, beat=100.0, since=5.0), now=140.0) == 5.0
    assert in_touch_since(presence(1, beat=100.0, since=5.0), now=141.0) == 141.0
    assert in_touch_since(presence(1, beat=100.0, since=5.0, patience=12.0), now=105.0) == 105.0
