"""Fixtures that the stores' tests have made."""

from tests.contracts.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
