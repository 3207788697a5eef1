from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headway.policies.where import View, where
from headway.policies.where.seen import ENDED, SUBMITTED, began, ended, failed, nothing_seen, sent, withdrawn
from tests.policies.where.views import view

RNG = Random(0)
choose = where("opportunistic")


def test_before_anything_ends_sites_take_turns() -> None:
    rows = nothing_seen(3)
    chosen = []
    for _ in range(7):
        site = choose(View([0, 1, 2], rows, [1.0] * 3, [0.0] * 3), 0.0, RNG)
        sent(rows, site)
        chosen.append(site)
    assert chosen == [0, 1, 2, 0, 1, 2, 0]


def test_the_greatest_share_of_ended_jobs_wins() -> None:
    assert choose(view((4, 1), (10, 9), (2, 1)), 0.0, RNG) == 1


def test_once_anything_has_ended_a_site_with_nothing_ended_is_never_chosen() -> None:
    assert choose(view((0, 0), (100, 1), (1, 0)), 0.0, RNG) == 1


def test_ties_go_to_the_first_listed() -> None:
    assert choose(view((3, 0), (2, 1), (4, 2)), 0.0, RNG) == 1
    assert choose(view((1, 0), (1, 0)), 0.0, RNG) == 0


def test_only_candidates_are_looked_at() -> None:
    """What ended at a site that is down helps nobody: among the rest nothing has, so they take turns."""
    assert choose(view((1, 1), (3, 0), (2, 0), candidates=[1, 2]), 0.0, RNG) == 2


def test_a_job_that_is_planned_again_is_not_counted_twice() -> None:
    rows = nothing_seen(2)
    sent(rows, 0)
    withdrawn(rows, 0, 600.0)
    sent(rows, 1)
    assert (rows[SUBMITTED][0], rows[SUBMITTED][1]) == (0.0, 1.0)


def test_a_site_that_fails_fast_does_not_draw_all_jobs() -> None:
    """It ended one job well, then fails each at once. By the paper's count its ratio would stay 1."""
    rows = nothing_seen(2)
    for site in (0, 1):
        sent(rows, site)
        began(rows, site, 0.0)
        ended(rows, site)
    chosen = []
    for at in range(20):
        site = choose(View([0, 1], rows, [1.0] * 2, [0.0] * 2), float(at), RNG)
        chosen.append(site)
        sent(rows, site)
        began(rows, site, float(at))
        if site == 0:
            failed(rows, site, float(at))
        else:
            ended(rows, site)
    assert chosen == [0] + [1] * 19


def test_counts_are_those_of_one_workflow() -> None:
    one, other = view((1, 1), (1, 0)), view((1, 0), (1, 1))
    assert (choose(one, 0.0, RNG), choose(other, 0.0, RNG)) == (0, 1)


COUNTS = st.integers(0, 20).flatmap(lambda sent: st.tuples(st.just(sent), st.integers(0, sent)))


@given(st.lists(COUNTS, min_size=1, max_size=12), st.data())
def test_it_is_figure_4(counts: list[tuple[int, int]], data: st.DataObject) -> None:
    """The choice by the paper's definition, with exact fractions and no loop to get wrong."""
    places = st.sampled_from(range(len(counts)))
    candidates = sorted(data.draw(st.sets(places, min_size=1)))
    it = view(*counts, candidates=candidates)
    rows = it.seen
    having = [site for site in candidates if counts[site][1]]
    if having:
        expected = max(having, key=lambda site: rows[ENDED][site] / rows[SUBMITTED][site])
    else:
        expected = min(candidates, key=lambda site: rows[SUBMITTED][site])
    assert choose(it, 0.0, RNG) == expected
