from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from headway.policies.what_next.prio.envelopes import long_priorities
from headway.policies.what_next.prio.priority import (
    Profile,
    Threshold,
    _at_corners,
    _in_turn,
    _sampled,
    _step_by_step,
    priorities,
    runs,
)


def profile(*eligible: int) -> Profile:
    return Profile((eligible[0], *runs([two - one for one, two in pairwise(eligible)])))


def word_for_word(one: Profile, two: Profile) -> float:
    """The largest r of section 3.1."""
    first, second = one.eligible, two.eligible
    end = one.steps
    return min(
        (first[min(end, x + y)] + second[x + y - min(end, x + y)]) / (first[x] + second[y])
        for x in range(len(first))
        for y in range(len(second))
    )


def random_profile(random: Random) -> Profile:
    while True:
        gains = [random.choice([-1, -1, 0, 0, 1, 2, 3]) for _ in range(random.randint(1, 60))]
        shape = random.randrange(6)
        if shape < 2:
            gains.sort(reverse=shape == 1)
        elif shape == 2:
            gains = gains[:1] * len(gains)
        found = Profile((len(gains) + random.randint(0, 5), *runs(gains)))
        if min(found.eligible) > 0:
            return found


@pytest.mark.parametrize("seed", range(6))
def test_every_way_to_a_priority_gives_the_same_number(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        one, two = random_profile(random), random_profile(random)
        wanted = word_for_word(one, two), word_for_word(two, one)
        turns = _in_turn(one.eligible, two.eligible), _in_turn(two.eligible, one.eligible)
        assert priorities(one, two) == wanted
        assert _step_by_step(one.eligible, two.eligible) == wanted
        assert _at_corners(one, two, one.corners, two.corners) == wanted
        assert long_priorities(one.eligible, two.eligible, one.envelopes, two.envelopes, turns) == wanted


@pytest.mark.parametrize("seed", range(6))
def test_a_threshold_is_met_only_where_the_priority_is_not_less(seed: int) -> None:
    random = Random(seed)
    met = 0
    for _ in range(100):
        one, two = random_profile(random), random_profile(random)
        priority = word_for_word(one, two)
        for least in (1.0, 0.9, 0.5, priority, priority + 1e-4):
            if Threshold(one, least).met(two):
                met += 1
                assert priority >= least
    assert met > 50


def test_a_fork_goes_before_a_narrower_one() -> None:
    wide, narrow = profile(1, 3), profile(1, 1)
    assert priorities(wide, narrow) == (1.0, 0.5)


def test_samples_are_few_and_hold_both_ends() -> None:
    corners = list(range(10_000))
    assert _sampled(corners)[0] == 0 and _sampled(corners)[-1] == 9_999
    assert len(_sampled(corners)) < 100


def test_large_profiles_are_compared_all_the_same() -> None:
    random = Random(3)
    one, two = (Profile((20_000, *runs([random.choice([-1, 0, 1]) for _ in range(10_000)]))) for _ in range(2))
    assert all(0 < priority <= 1 for priority in priorities(one, two))
