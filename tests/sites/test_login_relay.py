"""The relay on a login host, by itself: what nodes say comes out of it, and what is told to it goes to them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from headway.live.sites.login_relay import DATA, HEAD, HELLO, OPEN, SHUT, frame
from headway.live.sites.shipping import package


class Started:
    """A relay that is there."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        file = folder / "runner.pyz"
        file.write_bytes(package().data)
        pipe = subprocess.PIPE
        words = [sys.executable, "-E", "-s", str(file), "--relay", str(folder), str(port)]
        self.process: subprocess.Popen[bytes] = subprocess.Popen(words, stdin=pipe, stdout=pipe)
        line = self.out.readline()
        assert line.startswith(HELLO)
        self.said: dict[str, Any] = json.loads(line[len(HELLO) :])
        self.port = int(self.said["port"])

    @property
    def out(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def heard(self) -> tuple[int, int, bytes]:
        stream, kind, size = HEAD.unpack(self.out.read(HEAD.size))
        return stream, kind, self.out.read(size)

    def hang_up(self) -> int:
        """Ends its connection; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(10)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.out.close()

    def say(self, text: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[Started]:
    found = Started(tmp_path)
    yield found
    found.end()


def called(relay: Started) -> socket.socket:
    return socket.create_connection(("127.0.0.1", relay.port), 10)


def test_what_several_nodes_say_is_told_apart_both_ways(relay: Started) -> None:
    first = called(relay)
    assert relay.heard() == (1, OPEN, b"")
    second = called(relay)
    assert relay.heard() == (2, OPEN, b"")
    second.sendall(b"two")
    assert relay.heard() == (2, DATA, b"two")
    relay.say(frame(1, DATA, b"to one") + frame(2, DATA, b"to two"))
    assert (first.recv(100), second.recv(100)) == (b"to one", b"to two")
    first.close()
    assert relay.heard() == (1, SHUT, b"")
    relay.say(frame(1, DATA, b"too late") + frame(2, SHUT))
    assert second.recv(100) == b""


def test_its_hosts_are_names_and_addresses_that_other_hosts_can_call(relay: Started) -> None:
    assert relay.said["hosts"][0] == socket.gethostname()
    assert not any(host.startswith("127.") for host in relay.said["hosts"])


def test_it_ends_with_its_connection(relay: Started) -> None:
    node = called(relay)
    assert relay.heard() == (1, OPEN, b"")
    assert relay.hang_up() == 0
    assert node.recv(100) == b""


def test_the_next_one_ends_one_that_is_left_and_takes_its_port(relay: Started, tmp_path: Path) -> None:
    after = Started(tmp_path, relay.port)
    assert relay.process.wait(10) != 0
    assert after.port == relay.port
    called(after)
    assert after.heard() == (1, OPEN, b"")
    assert after.hang_up() == 0


def test_where_its_port_is_another_programs_it_takes_a_free_one(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as other:
        found = Started(tmp_path, other.getsockname()[1])
        assert found.port != other.getsockname()[1]
        found.end()
