"""One PostgreSQL server for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.infra.postgres import server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A database without a store in it."""
    emptied(postgres_server)
    return postgres_server


def emptied(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET client_min_messages TO warning")
        db.execute("DROP SCHEMA IF EXISTS headway CASCADE")
