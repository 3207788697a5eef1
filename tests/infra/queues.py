"""Real batch queues for tests: Slurm and Grid Engine. Where one cannot start, tests fail."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.infra.root import needs_root

HERE = Path(__file__).parent


class Cluster:
    """A throw-away cluster; `environment` has its commands find it."""

    def __init__(self, system: str, *options: str) -> None:
        self.system = system
        self.folder = Path(tempfile.mkdtemp(prefix=f"{system}-"))
        self.folder.chmod(0o755)
        up = self._call("up", *options)
        if up.returncode:
            self.remove()
            raise AssertionError(f"{system} does not start: {up.stdout}{up.stderr}")
        found = re.findall(r"(\w+)='?([^' \n]+)'?", (self.folder / "env").read_text().replace("export ", ""))
        self.environment = {**os.environ, **dict(found)}

    def start(self) -> None:
        """Starts again what was killed."""
        up = self._call("up")
        assert up.returncode == 0, f"{self.system} does not start again: {up.stdout}{up.stderr}"

    def remove(self) -> None:
        self._call("down", "--purge")

    def _call(self, what: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [str(HERE / f"{self.system}-{what}"), str(self.folder), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def __call__(self, *words: str) -> str:
        """What one of its commands prints."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=True)
        return done.stdout

    def daemon(self, name: str) -> int:
        """The pid of one of its daemons."""
        place = "run/" if self.system == "slurm" else ""
        return int((self.folder / f"{place}{name}.pid").read_text())


@contextlib.contextmanager
def slurm(nodes: int = 3, cpus: int = 2) -> Iterator[Cluster]:
    needs_root("slurmd starts jobs as their owners.")
    found = Cluster("slurm", "-n", str(nodes), "-c", str(cpus), "-x", "OverTimeLimit=0")
    try:
        yield found
    finally:
        found.remove()


@contextlib.contextmanager
def gridengine(slots: int = 6) -> Iterator[Cluster]:
    needs_root("Grid Engine's execd starts jobs as their owners.")
    found = Cluster("ge", "-s", str(slots))
    try:
        yield found
    finally:
        found.remove()
