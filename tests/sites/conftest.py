"""Hosts for the tests of sites."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.conftest import postgres_server, postgres_url
from tests.infra.hosts import Hosts, throw_away
from tests.sites.bench import Bench

__all__ = ["bench", "hosts", "postgres_server", "postgres_url"]


@pytest.fixture(scope="session")
def hosts() -> Iterator[Hosts]:
    with throw_away(2) as found:
        yield found


@pytest.fixture
def bench(hosts: Hosts, tmp_path: Path) -> Iterator[Bench]:
    found = Bench(hosts, tmp_path)
    yield found
    found.close()
