"""SIGKILL while the store is on a server: the same must hold as for one in a file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.live.ledger import Site
from tests.live.ledger_of_dag import DagSite

POINTS = ("spawn.after:3", "reap.after-spool:2", "exchange.after:3")


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_fail_point_loses_nothing(tmp_path: Path, postgres_url: str, point: str) -> None:
    site = Site(tmp_path, server=postgres_url)
    assert site.fail_at(point), f"nobody came by {point}"
    site.finish()
    assert site.violations() == []


def test_a_kill_during_recovery_loses_nothing(tmp_path: Path, postgres_url: str) -> None:
    site = Site(tmp_path, server=postgres_url)
    assert site.fail_at("spawn.before:3") and site.fail_at("recover.before-requeue:1")
    site.finish()
    assert site.violations() == []


@pytest.mark.parametrize("victims", ["client", "runner", "both"])
def test_kills_at_random_moments_lose_nothing(tmp_path: Path, postgres_url: str, victims: str) -> None:
    site, rng = Site(tmp_path, server=postgres_url), random.Random(victims)
    for _ in range(2):
        site.crash(rng, victims)
    site.finish()
    assert site.violations() == []


def test_kills_in_a_dag_with_sub_dags_lose_nothing(tmp_path: Path, postgres_url: str) -> None:
    site, rng = DagSite(tmp_path, server=postgres_url), random.Random(5)
    for victims in ("client", "both"):
        site.crash(rng, victims, longest=1.0)
    site.finish()
    assert site.violations() == []
