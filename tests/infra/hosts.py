"""Real ssh servers on this computer that stand for other hosts. Where they cannot start, tests fail."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.infra.ports import ports

HERE = Path(__file__).parent


class Hosts:
    """Hosts h1, h2, …; `environment` has an ssh that knows them, and keeps their files out of this user's home."""

    def __init__(self, count: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ssh-"))
        self.state = self.folder / "state" / "headway"
        self.settings = {"XDG_STATE_HOME": f"{self.folder}/state", "XDG_CACHE_HOME": f"{self.folder}/cache"}
        try:
            self.begin(count)
        except BaseException:
            self.remove()
            raise
        self._program = self.folder / "bin" / "ssh"
        self._program.parent.mkdir()
        self.set()
        self.environment = {**os.environ, "PATH": f"{self._program.parent}:{os.environ['PATH']}"}

    def begin(self, count: int) -> None:
        self.run("ssh-up", "-n", str(count), "-p", str(ports(22000, 20)))

    def set(self, **variables: str) -> None:
        """What is in the environment of each login from now on, beside what is there always."""
        there = " ".join(f"{name}={value}" for name, value in {**self.settings, **variables, **_mark()}.items())
        text = f'#!/bin/sh\nexec {_ssh()} -F {self.folder}/ssh_config -o "SetEnv={there}" "$@"\n'
        self._program.write_text(text)
        self._program.chmod(0o755)

    def off(self, name: str) -> None:
        """Ends its server and all connections; what runs in the background lives on."""
        self.run("ssh-host", "off", name)

    def on(self, name: str) -> None:
        self.run("ssh-host", "boot", name)

    def remove(self) -> None:
        self.run("ssh-down", "--purge", check=False)

    def run(self, program: str, *arguments: str, check: bool = True) -> str:
        done = subprocess.run([HERE / program, self.folder, *arguments], capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
        return done.stdout


class HostsInNamespaces(Hosts):
    """The same with a network, a name and processes of their own, and our files."""

    def begin(self, count: int) -> None:
        self.run("ssh-up", "-n", str(count), "--netns")

    @property
    def ours(self) -> str:
        """The address of this computer, as they see it."""
        return f"10.77.{(self.folder / 'subnet').read_text().strip()}.1"

    def cut(self, name: str) -> None:
        self.run("ssh-host", "cut", name)

    def heal(self, name: str) -> None:
        self.run("ssh-host", "heal", name)


def _ssh() -> str:
    return next(f"{folder}/ssh" for folder in os.get_exec_path() if Path(folder, "ssh").exists())


def _mark() -> dict[str, str]:
    """What tests start on a host can be told from what others do."""
    from tests.infra.leftovers import MARK

    return {MARK: os.environ.get(MARK, "")}


@contextlib.contextmanager
def throw_away(count: int) -> Iterator[Hosts]:
    hosts = Hosts(count)
    try:
        yield hosts
    finally:
        hosts.remove()
