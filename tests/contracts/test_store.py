"""The stores there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.nodes import NodeContract
from tests.contracts.ported import ported
from tests.contracts.relayed import relays
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


class TestThroughAPort(StoreContract, NodeContract, SteeringContract):
    """Exchanges as a runner on another host asks for them."""

    @pytest.fixture
    def place(self, monkeypatch: pytest.MonkeyPatch) -> str:
        for module in ("crew", "store", "nodes", "steering"):
            monkeypatch.setattr(f"tests.contracts.{module}.opened", ported, raising=False)
        return ":memory:"


@pytest.mark.slow
class TestBehindARelay(StoreContract, NodeContract, SteeringContract):
    """The same when every message takes 50 ms, and another process carries the exchange out."""

    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        with relays() as found:
            for module in ("crew", "store", "nodes", "steering"):
                monkeypatch.setattr(f"tests.contracts.{module}.opened", found.opened, raising=False)
            yield str(tmp_path / "store.db")
