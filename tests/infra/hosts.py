"""Real ssh servers on this computer that stand for other hosts. Where they cannot start, tests fail."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.infra.queues import ports

HERE = Path(__file__).parent


class Hosts:
    """Hosts h1, h2, …; `environment` has an ssh that knows them, and keeps their files out of this user's home."""

    def __init__(self, count: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ssh-"))
        self._run("ssh-up", "-n", str(count), "-p", str(ports(22000, 20)))
        program = self.folder / "bin" / "ssh"
        program.parent.mkdir()
        there = f"XDG_STATE_HOME={self.folder}/state XDG_CACHE_HOME={self.folder}/cache"
        program.write_text(f'#!/bin/sh\nexec {_ssh()} -F {self.folder}/ssh_config -o "SetEnv={there} {_mark()}" "$@"\n')
        program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        self.state = self.folder / "state" / "headway"

    def off(self, name: str) -> None:
        """Ends its server and all connections; what runs in the background lives on."""
        self._run("ssh-host", "off", name)

    def on(self, name: str) -> None:
        self._run("ssh-host", "boot", name)

    def remove(self) -> None:
        self._run("ssh-down", "--purge", check=False)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        done = subprocess.run([HERE / program, self.folder, *arguments], capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


def _ssh() -> str:
    return next(f"{folder}/ssh" for folder in os.get_exec_path() if Path(folder, "ssh").exists())


def _mark() -> str:
    """What tests start on a host can be told from what others do."""
    from tests.infra.leftovers import MARK

    return f"{MARK}={os.environ.get(MARK, '')}"


@contextlib.contextmanager
def throw_away(count: int) -> Iterator[Hosts]:
    hosts = Hosts(count)
    try:
        yield hosts
    finally:
        hosts.remove()
