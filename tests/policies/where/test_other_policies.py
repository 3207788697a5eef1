from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.policies.where import POLICIES, View, where
from headway.policies.where.seen import began, ended, failed, nothing_seen, sent, withdrawn
from tests.policies.where.views import view

RNG = Random(0)


def test_round_robin_goes_on_after_the_site_chosen_last() -> None:
    it = view((0, 0), (0, 0), (0, 0), (0, 0))
    chosen = []
    for candidates in ([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 3], [0, 1, 2, 3], [2], [0, 1]):
        site = where("round-robin")(View(candidates, it.seen, it.processors, it.present), 0.0, RNG)
        sent(it.seen, site)
        chosen.append(site)
    assert chosen == [0, 1, 3, 0, 2, 0]


def test_round_robin_gives_every_site_as_many_jobs_though_some_are_withdrawn() -> None:
    it, chosen = view((0, 0), (0, 0), (0, 0)), Counter[int]()
    for _ in range(30):
        site = where("round-robin")(it, 0.0, RNG)
        sent(it.seen, site)
        if site == 1:
            withdrawn(it.seen, site, 0.0)
        chosen[site] += 1
    assert chosen == {0: 10, 1: 10, 2: 10}


def test_last_used_starts_as_round_robin() -> None:
    it, chosen = view((0, 0), (0, 0), (0, 0)), []
    for _ in range(4):
        chosen.append(where("last-used")(it, 0.0, RNG))
        sent(it.seen, chosen[-1])
    assert chosen == [0, 1, 2, 0]


def test_last_used_is_the_candidate_where_a_job_ended_last() -> None:
    it = view((2, 1), (2, 1), (2, 0))
    assert where("last-used")(it, 0.0, RNG) == 1
    ended(it.seen, 0)
    assert where("last-used")(it, 0.0, RNG) == 0
    assert where("last-used")(View([1, 2], it.seen, it.processors, it.present), 0.0, RNG) == 1


def test_last_used_does_not_take_a_failure_for_an_end() -> None:
    it = view((2, 1), (2, 0))
    began(it.seen, 1, 0.0)
    failed(it.seen, 1, 0.0)
    assert where("last-used")(it, 0.0, RNG) == 0


def test_weighted_sends_jobs_in_proportion_to_processors() -> None:
    rng, it = Random(3), view((0, 0), (0, 0), (0, 0), candidates=[0, 2], processors=[1.0, 50.0, 3.0])
    chosen = Counter(where("weighted")(it, 0.0, rng) for _ in range(4000))
    assert set(chosen) == {0, 2} and 900 < chosen[0] < 1100


def test_random_gives_every_candidate_the_same_chance() -> None:
    rng, it = Random(3), view((0, 0), (0, 0), (0, 0), candidates=[0, 2], processors=[1.0, 50.0, 3.0])
    chosen = Counter(where("random")(it, 0.0, rng) for _ in range(4000))
    assert set(chosen) == {0, 2} and 1850 < chosen[0] < 2150


def test_data_present_takes_a_random_one_of_those_with_most_files() -> None:
    rng, it = Random(5), view(*[(0, 0)] * 4, candidates=[0, 1, 2], present=[2.0, 1.0, 2.0, 3.0])
    chosen = Counter(where("data-present")(it, 0.0, rng) for _ in range(1000))
    assert set(chosen) == {0, 2} and 400 < chosen[0] < 600


def test_data_present_without_files_falls_back_to_weighted() -> None:
    it = view(*[(0, 0)] * 3, processors=[1.0, 2.0, 7.0], candidates=[0, 1, 2])
    for seed in range(50):
        assert where("data-present")(it, 0.0, Random(seed)) == where("weighted")(it, 0.0, Random(seed))


def test_prompt_tries_each_site_with_one_job_first() -> None:
    it, chosen = view((0, 0), (0, 0), (0, 0)), []
    for _ in range(3):
        chosen.append(where("prompt")(it, 0.0, RNG))
        sent(it.seen, chosen[-1])
    assert chosen == [0, 1, 2]


def test_prompt_leaves_a_site_whose_jobs_wait_and_does_not_mind_jobs_that_run() -> None:
    it = view((0, 0), (0, 0))
    for site in (0, 1):
        for _ in range(3):
            sent(it.seen, site)
    for _ in range(3):
        began(it.seen, 1, 10.0)
    assert where("prompt")(it, 10.0, RNG) == 1
    assert where("opportunistic")(it, 10.0, RNG) == 0  # nothing has ended: it cannot tell them apart


def test_prompt_returns_to_a_site_after_a_bad_spell_and_the_papers_rule_does_not() -> None:
    it = view((3, 0), (4, 3), half_life=600.0)
    for _ in range(3):
        withdrawn(it.seen, 0, 0.0)
    assert where("prompt")(it, 0.0, RNG) == 1
    assert where("prompt")(it, 36000.0, RNG) == 0
    assert where("opportunistic")(it, 36000.0, RNG) == 1


def test_prompt_remembers_for_ever_where_no_half_life_is_given() -> None:
    it = view((1, 0), (0, 0), half_life=0.0)
    withdrawn(it.seen, 0, 0.0)
    assert where("prompt")(it, 1e9, RNG) == 1


EVENTS = st.lists(st.tuples(st.sampled_from(["sent", "began", "ended", "failed", "withdrawn"]), st.integers(0, 4)))


@pytest.mark.parametrize("name", POLICIES)
@given(events=EVENTS, data=st.data())
def test_a_policy_chooses_a_candidate_whatever_was_seen(
    name: str, events: list[tuple[str, int]], data: st.DataObject
) -> None:
    rows, waiting, running = nothing_seen(5), [0] * 5, [0] * 5
    for at, (event, site) in enumerate(events):
        if event == "sent":
            sent(rows, site)
            waiting[site] += 1
        elif event in ("began", "withdrawn") and waiting[site]:
            waiting[site] -= 1
            running[site] += event == "began"
            (began if event == "began" else withdrawn)(rows, site, float(at))
        elif event in ("ended", "failed") and running[site]:
            running[site] -= 1
            ended(rows, site) if event == "ended" else failed(rows, site, float(at))
    candidates = sorted(data.draw(st.sets(st.integers(0, 4), min_size=1)))
    processors = data.draw(st.lists(st.integers(1, 1000).map(float), min_size=5, max_size=5))
    present = data.draw(st.lists(st.integers(0, 3).map(float), min_size=5, max_size=5))
    seed = data.draw(st.integers(0, 99))
    it = View(candidates, rows, processors, present)
    before = [list(row) for row in rows]
    site = where(name)(it, float(len(events)), Random(seed))
    assert site in candidates
    assert rows == before, "a policy only advises"
    assert where(name)(it, float(len(events)), Random(seed)) == site
