"""The stores there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts.nodes import NodeContract
from tests.contracts.steering import SteeringContract
from tests.contracts.store import LastingStoreContract, StoreContract


class TestSqliteInMemory(StoreContract, NodeContract, SteeringContract):
    @pytest.fixture
    def place(self) -> str:
        return ":memory:"


class TestSqliteFile(LastingStoreContract, NodeContract, SteeringContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return str(tmp_path / "store.db")


class TestPostgres(LastingStoreContract, NodeContract, SteeringContract):
    @pytest.fixture
    def place(self, postgres_url: str) -> str:
        return postgres_url
