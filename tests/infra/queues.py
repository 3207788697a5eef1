"""Real batch queues for tests: Slurm, Grid Engine, HTCondor. Where one cannot start, tests fail."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shlex import join

from tests.infra.hosts import HostsInNamespaces
from tests.infra.htcondor import Pool, pool
from tests.infra.ports import ports
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

    @property
    def cancel_all(self) -> list[str]:
        """The command that takes back all that its queue has."""
        return ["scancel", "--user=root"] if self.system == "slurm" else ["qdel", "-u", "*"]

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


class LoginHost(Cluster):
    """Slurm on a host that is reached by ssh alone: its network is its own."""

    def __init__(self, nodes: int, cpus: int) -> None:
        self.hosts = HostsInNamespaces(1)
        self.system, self.folder = "slurm", self.hosts.folder / "slurm"
        self.environment = self.hosts.environment
        try:
            self(str(HERE / "slurm-up"), str(self.folder), "-n", str(nodes), "-c", str(cpus))
        except subprocess.CalledProcessError as error:
            self.remove()
            raise AssertionError(f"Slurm does not start: {error.output}{error.stderr}") from None
        self.hosts.set(SLURM_CONF=f"{self.folder}/slurm.conf")

    @property
    def cancel_all(self) -> list[str]:
        return ["ssh", "h1", "scancel --user=root"]

    def start(self) -> None:
        self(str(HERE / "slurm-up"), str(self.folder))

    def remove(self) -> None:
        self.hosts.remove()

    def __call__(self, *words: str) -> str:
        return super().__call__("ssh", "h1", join(words))


@contextlib.contextmanager
def slurm_behind_ssh(nodes: int = 3, cpus: int = 2) -> Iterator[LoginHost]:
    needs_root("slurmd starts jobs as their owners, and the host has a network of its own.")
    found = LoginHost(nodes, cpus)
    try:
        yield found
    finally:
        found.remove()


class PoolCluster(Cluster):
    """A pool of HTCondor, whose jobs run as a user of its own and see only its folder `work` and Debian 13."""

    def __init__(self, pool: Pool) -> None:
        self.system, self.folder = "htcondor", pool.folder
        ours = pool.folder / "work" / "bin"
        ours.mkdir()
        submit = ours / "condor_submit"  # what root has written there is to be its user's, who owns the jobs
        submit.write_text(f'#!/bin/sh\ncd "$XDG_STATE_HOME/headway" && exec {pool.folder}/bin/condor_submit "$@"\n')
        submit.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{ours}:{pool.folder}/bin:{os.environ['PATH']}"}

    @property
    def cancel_all(self) -> list[str]:
        return ["condor_rm", "-all"]

    def workplace(self, name: str) -> Path:
        """A folder that jobs may write to."""
        place = self.folder / "work" / name
        for folder in (place, place / "state", place / "state/headway"):
            folder.mkdir()
            folder.chmod(0o777)
        self.environment["XDG_STATE_HOME"] = str(place / "state")
        return place


@contextlib.contextmanager
def htcondor(cpus: int = 8) -> Iterator[PoolCluster]:
    with pool(cpus, "PERIODIC_EXPR_INTERVAL = 2") as found:
        yield PoolCluster(found)


@contextlib.contextmanager
def slurm(nodes: int = 3, cpus: int = 2) -> Iterator[Cluster]:
    needs_root("slurmd starts jobs as their owners.")
    found = Cluster("slurm", "-n", str(nodes), "-c", str(cpus), "-p", str(ports(17000, 100)))
    try:
        yield found
    finally:
        found.remove()


@contextlib.contextmanager
def gridengine(slots: int = 6) -> Iterator[Cluster]:
    needs_root("Grid Engine's execd starts jobs as their owners.")
    found = Cluster("ge", "-s", str(slots), "-p", str(ports(11000, 10)))
    try:
        yield found
    finally:
        found.remove()
