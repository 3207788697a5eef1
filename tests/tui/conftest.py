"""A PostgreSQL server that can be stopped."""

from collections.abc import Iterator

import pytest

from tests.infra.postgres import Server, throw_away


@pytest.fixture
def server() -> Iterator[Server]:
    with throw_away() as found:
        yield found
