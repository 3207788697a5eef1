"""`headway serve`: placeholders that have its card take jobs, nobody else does."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.doors.tls_relay import Address, relay
from tests.contracts.test_placeholders import JOBS, WAITS, Shop
from tests.live.ledger import until
from tests.shell import headway

pytestmark = pytest.mark.slow


class Door:
    """A `headway serve` and its card."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.process = self._served()

    def _served(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headway", "serve", "--store", self.shop.store]
        found = subprocess.Popen(command, cwd=self.shop.folder, env=self.shop.environment, text=True, stdout=-1)
        assert found.stdout is not None
        self.card = Path(found.stdout.readline().strip())
        return found

    def again(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = self._served()

    def placeholder(self, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "headway", "placeholder", "--server", str(self.card), *options]
        return subprocess.Popen(command, cwd=self.shop.folder, env=self.shop.environment, text=True)

    def says(self, **other: object) -> str:
        """What it says to somebody with another card."""
        said = {**json.loads(self.card.read_text()), "allocation": 0, **other}
        ours, theirs = socket.socketpair()
        relay(
            Address(said["hosts"], said["port"], said["fingerprint"], said["token"], said["allocation"], "x"),
            theirs.detach(),
        )
        ours.settimeout(5)
        return ours.recv(1 << 16).decode()


@pytest.fixture(params=["sqlite", "postgresql"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Door]:
    shop = Shop(tmp_path, None if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    shop.submit("first.py", JOBS.format(count=1, pause=0))
    found = Door(shop)
    yield found
    found.process.send_signal(signal.SIGTERM)
    found.process.wait(30)
    shop.close()


def test_placeholders_with_the_card_share_the_work(door: Door) -> None:
    door.shop.submit("w.py", JOBS.format(count=12, pause=0.1))
    there = [door.placeholder("--slots", "2", "--idle", "1s") for _ in range(2)]
    assert [one.wait(60) for one in there] == [0, 0]
    assert sum(door.shop.ledger.values()) == 13 and door.card.stat().st_mode & 0o077 == 0


def test_what_one_of_them_makes_eligible_begins_at_once_with_another(door: Door) -> None:
    lines = [WAITS.format(name="a"), "w.job('b', 'echo b >> ledger; sleep 1', after='a')"]
    lines.append("w.job('c', 'echo c >> ledger; sleep 1', after='a')")
    door.shop.submit("w.py", *lines)
    there = [door.placeholder("--slots", "1", "--idle", "2s") for _ in range(2)]
    until(lambda: door.shop.ledger["a"])
    (door.shop.folder / "go").touch()
    until(lambda: door.shop.ledger["b"] and door.shop.ledger["c"])
    assert [one.wait(60) for one in there] == [0, 0]


def test_a_door_that_was_killed_is_found_again_by_those_who_have_its_card(door: Door) -> None:
    door.shop.submit("w.py", WAITS.format(name="a"), "w.job('b', 'echo b >> ledger', after='a')")
    one = door.placeholder("--slots", "1", "--idle", "1s")
    until(lambda: door.shop.ledger["a"])
    door.again()
    (door.shop.folder / "go").touch()
    assert one.wait(60) == 0
    assert door.shop.ledger["b"] == 1 and door.shop.ledger["a"] == 1


def test_a_wrong_card_is_refused(door: Door) -> None:
    assert "does not admit" in door.says(token="wrong")
    assert "does not admit" in door.says(token="")
    assert "does not admit" in door.says(allocation=1)
    assert "another certificate" in door.says(fingerprint="00")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"hosts": []}', "\0\1"])
def test_a_file_that_is_no_card_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "card").write_text(text)
    done = headway("placeholder", "--server", "card", cwd=tmp_path, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 2 and "no card" in done.stderr


def test_a_card_that_others_can_read_is_refused_as_ssh_does_with_keys(tmp_path: Path) -> None:
    (tmp_path / "a card").write_text('{"hosts": ["127.0.0.1"], "port": 1, "fingerprint": "00", "token": "secret"}')
    (tmp_path / "a card").chmod(0o644)
    done = headway("placeholder", "--server", "a card", cwd=tmp_path)
    assert done.returncode == 2 and "others can read this card" in done.stderr
    assert "chmod 600 'a card'" in done.stderr and "secret" not in done.stderr


@pytest.mark.parametrize("listen", ["127.0.0.1:0x1", "127.0.0.1:99999", "203.0.113.1"])
def test_an_address_where_nobody_can_listen_is_told(tmp_path: Path, listen: str) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    assert headway("run", "w.sh", cwd=tmp_path).returncode == 0
    done = headway("serve", "--listen", listen, cwd=tmp_path)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr and "listen" in done.stderr
