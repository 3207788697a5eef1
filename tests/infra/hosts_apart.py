"""Hosts with a network, processes and files of their own: Debian 11 with Python 3.9, or one without Python.

One folder is the same there and here, for what jobs write down. Where they cannot start, tests fail.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.infra.hosts import HERE, Hosts
from tests.infra.root import needs_root

USER, NUMBER = "tester", 4321  # an ordinary user who is known on these hosts alone


class HostsApart(Hosts):
    """Hosts h1, h2, … in namespaces."""

    def __init__(self, count: int, shared: Path, system: str = "11") -> None:
        self.shared, self._system = shared, system
        super().__init__(count)

    def begin(self, count: int) -> None:
        done = subprocess.run(
            [HERE.parents[1] / "scripts/bare-root", self._system], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        root = done.stdout.strip()
        self.run("ssh-up", "-n", str(count), "--netns", "-R", root, "-S", str(self.shared), "-U", f"{USER}:{NUMBER}")
        self.settings = {}

    def files(self, name: str) -> Path:
        """The file system of a host, as far as it differs from what it began as."""
        return self.folder / name / "upper"

    def cut(self, name: str) -> None:
        """Cuts it off the network; what runs there goes on."""
        self.run("ssh-host", "cut", name)

    def heal(self, name: str) -> None:
        self.run("ssh-host", "heal", name)

    def processes(self, name: str) -> list[int]:
        """All that runs on it."""
        first = self.run("ssh-host", "pid", name).split()[0]
        space = Path(f"/proc/{first}/ns/net").readlink()
        found = []
        for one in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (one / "ns/net").readlink() == space:
                    found.append(int(one.name))
        return found

    def runners(self, name: str) -> list[int]:
        """The runners on it, with their keepers."""
        found = []
        for pid in self.processes(name):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if any(b"headway/runner-" in word for word in words):
                    found.append(pid)
        return found

    def limit_processes(self, name: str, most: int) -> None:
        """How many processes each of its ordinary users may have, from the next login on."""
        for pid in self.processes(name):
            if b"sshd" in Path(f"/proc/{pid}/cmdline").read_bytes():
                subprocess.run(["prlimit", "--pid", str(pid), f"--nproc={most}:{most}"], check=True)


@contextlib.contextmanager
def hosts_apart(count: int, shared: Path, system: str = "11") -> Iterator[HostsApart]:
    needs_root("hosts in namespaces of their own.")
    hosts = HostsApart(count, shared, system)
    try:
        yield hosts
    finally:
        hosts.remove()
