"""Simulated placeholders on PostgreSQL do what they do on a store in memory; tests/sim does the same on SQLite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.live.store import opened
from headway.live.store.submission import Submission
from tests.sim.flows import check_alike, workflows


def test_a_store_in_memory_gives_what_postgresql_gives(postgres_url: str) -> None:
    store = opened(postgres_url)

    @settings(max_examples=25, deadline=None)
    @given(workflows(), st.lists(st.integers(1, 3), min_size=1, max_size=2), st.integers(0, 1000))
    def alike(flow: Submission, slots: list[int], seed: int) -> None:
        check_alike(store, flow, slots, seed)

    alike()
    store.close()
