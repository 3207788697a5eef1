"""Allocations in a store: written before they are asked for, admitted by their secret, over only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.live.store import Store, opened
from headway.live.store.allocations import State, name_of, number_of


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    place = request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "store.db"
    return opened(place)


def test_an_allocation_goes_from_asked_to_queued_to_running_to_its_end(store: Store) -> None:
    number, secret = store.allocations.ask("cluster", 4, 3600, 5.0)
    (one,) = store.allocations.open("cluster")
    assert (one.id, one.cores, one.seconds, one.state, one.queue_id, one.began) == (
        *(number, 4, 3600, State.ASKED, None, None),
    )
    store.allocations.queued(number, "77")
    assert store.allocations.open("cluster")[0].state is State.QUEUED
    assert store.allocations.admit(number, "cluster", secret, "me", 6.0)
    assert store.allocations.open("cluster")[0].began == 6.0
    store.allocations.queued(number, "77")  # seen in the queue again, which changes nothing
    assert store.allocations.open("cluster")[0].state is State.RUNNING
    store.allocations.end([number], "time limit", 9.0)
    store.allocations.end([number], "again", 10.0)
    (past,) = store.allocations.all()
    assert (past.state, past.ended, past.reason) == (State.ENDED, 9.0, "time limit")
    assert store.allocations.open("cluster") == []


def test_a_secret_counts_for_the_first_process_that_shows_it_and_while_its_allocation_lasts(store: Store) -> None:
    number, secret = store.allocations.ask("cluster", 1, 60, 1.0)
    other, _ = store.allocations.ask("cluster", 1, 60, 1.0)
    assert not store.allocations.admit(number, "cluster", "wrong", "me", 2.0)
    assert not store.allocations.admit(number, "elsewhere", secret, "me", 2.0)
    assert not store.allocations.admit(other, "cluster", secret, "me", 2.0)
    assert not store.allocations.admit(99, "cluster", secret, "me", 2.0)
    assert store.allocations.admit(number, "cluster", secret, "me", 2.0)
    assert store.allocations.admit(number, "cluster", secret, "me", 3.0)
    assert not store.allocations.admit(number, "cluster", secret, "somebody else", 3.0)
    store.allocations.end([number], "", 4.0)
    assert not store.allocations.admit(number, "cluster", secret, "me", 5.0)


def test_only_the_names_of_our_own_store_have_numbers() -> None:
    assert number_of("0a1b", name_of("0a1b", 12)) == 12
    assert number_of("0a1b", name_of("0a1b", 12) + "x") is None
    assert number_of("0a1b", name_of("ffff", 12)) is None
    assert number_of("0a1b", "headway-0a1b-") is None and number_of("0a1b", "12") is None
