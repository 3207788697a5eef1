"""A real PostgreSQL server for tests. Where it cannot start, tests fail: a store that is not tested is none."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


class Server:
    """A throw-away server, which can be stopped, started again, and frozen."""

    def __init__(self, *settings: str) -> None:
        """`settings`: lines for postgresql.conf."""
        self._settings = [word for setting in settings for word in ("-o", setting)]
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path may have 107 characters
        for _ in range(3):
            self._port = _free_port()
            up = self._up()
            if up.returncode == 0:
                break  # else somebody took the port meanwhile
        self._check(up)
        self.url = f"postgresql://postgres@127.0.0.1:{self._port}/test"

    def start(self) -> None:
        self._check(self._up())

    def stop(self) -> None:
        """At once, as when its machine goes down."""
        subprocess.run([HERE / "pg-down", self._folder], capture_output=True, check=True)

    def freeze(self) -> None:
        """It accepts connections, and answers nobody."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def remove(self) -> None:
        subprocess.run([HERE / "pg-down", self._folder, "--purge"], capture_output=True, check=False)

    def _up(self) -> subprocess.CompletedProcess[str]:
        command = [str(HERE / "pg-up"), str(self._folder), "-p", str(self._port), *self._settings]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def _check(self, up: subprocess.CompletedProcess[str]) -> None:
        assert up.returncode == 0, f"PostgreSQL does not start: {up.stdout}{up.stderr}"

    def pid(self) -> int:
        """Its first process, the parent of all others."""
        return int((self._folder / "data/postmaster.pid").read_text().split()[0])

    def _signal(self, number: int) -> None:
        first = self.pid()
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for pid in (first, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@contextlib.contextmanager
def throw_away(*settings: str) -> Iterator[Server]:
    server = Server(*settings)
    try:
        yield server
    finally:
        server.remove()


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL of a throw-away server's database."""
    with throw_away() as found:
        yield found.url


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
