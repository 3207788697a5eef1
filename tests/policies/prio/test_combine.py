from __future__ import annotations

from random import Random

import pytest

from headway.policies.what_next.prio.combine import Choice
from tests.policies.prio.test_priority import random_profile, word_for_word

Table = list[list[float]]


def least_priority(table: Table, present: dict[int, int], one: int) -> float:
    return min((table[present[one]][present[two]] for two in present if two != one), default=1.0)


def greedily(table: Table, present: dict[int, int]) -> int:
    """Step 6 word for word: the component whose least priority over the others is largest, the first of the file."""
    return min(present, key=lambda one: (-least_priority(table, present, one), one))


@pytest.mark.parametrize("seed", range(12))
def test_the_choice_is_the_greedy_one_while_components_come_and_go(seed: int) -> None:
    random = Random(seed)
    profiles = [random_profile(random) for _ in range(8)]
    table = [[word_for_word(one, two) for two in profiles] for one in profiles]
    choice, present = Choice(profiles), dict[int, int]()
    coming = list(range(40))
    random.shuffle(coming)
    while coming or present:
        for _ in range(random.randint(0, 4)):
            if coming:
                component = coming.pop()
                present[component] = random.randrange(len(profiles))
                choice.add(present[component], component, component)
        if present:
            wanted = greedily(table, present)
            assert choice.take() == (wanted, least_priority(table, present, wanted))
            del present[wanted]
