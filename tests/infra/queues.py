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
from tests.infra.htcondor import Pool, cache, pool
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
        self.environment = {**os.environ, **_variables(self.folder / "env")}

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
    """A cluster on a host that is reached by ssh alone: its network is its own."""

    def __init__(self, system: str, *options: str) -> None:
        self.hosts = HostsInNamespaces(1)
        self.system, self.folder = system, self.hosts.folder / system
        self.environment = self.hosts.environment
        try:
            self(str(HERE / f"{system}-up"), str(self.folder), *options)
            self._settle()
        except subprocess.CalledProcessError as error:
            self.remove()
            raise AssertionError(f"{system} does not start: {error.output}{error.stderr}") from None
        except BaseException:
            self.remove()
            raise

    def _settle(self) -> None:
        """Has all logins find it."""
        self.hosts.set(**_variables(self.folder / "env"))

    def workplace(self, name: str, given: Path) -> Path:
        """A folder that its jobs may write to: the one that is given, unless they do not see that."""
        return given

    @property
    def queued(self) -> str:
        """What its queue has, as it lists it; "": nothing."""
        words = ("squeue", "-h") if self.system == "slurm" else ("qstat",)
        return self(*words).strip()

    @property
    def cancel_all(self) -> list[str]:
        return ["ssh", "h1", join(super().cancel_all)]

    def start(self) -> None:
        self(str(HERE / f"{self.system}-up"), str(self.folder))

    def remove(self) -> None:
        self.hosts.remove()

    def __call__(self, *words: str) -> str:
        return super().__call__("ssh", "h1", join(words))


class PoolLogin(LoginHost):
    """The same with a pool of HTCondor, whose jobs run as a user of its own and see only its folder `work`."""

    def _settle(self) -> None:
        profile = self.hosts.folder / "profile"
        profile.write_text(f"export PATH={_submitting(self.folder)}:{self.folder}/bin:$PATH\n")
        self._profile = str(profile)  # ssh gives logins a PATH of its own, and bash reads this after that
        self.hosts.set(BASH_ENV=self._profile)

    def workplace(self, name: str, given: Path) -> Path:
        place = _workplace(self.folder, name)
        self.hosts.set(BASH_ENV=self._profile, XDG_STATE_HOME=f"{place}/state")
        self.hosts.state = place / "state/headway"
        return place

    @property
    def queued(self) -> str:
        return self("condor_q", "-af", "JobBatchName").strip()

    @property
    def cancel_all(self) -> list[str]:
        return ["ssh", "h1", "condor_rm -all"]


BEHIND_SSH = ("slurm", "ge", "condor")


@contextlib.contextmanager
def behind_ssh(system: str) -> Iterator[LoginHost]:
    """Six cores of a cluster behind ssh."""
    needs_root("clusters start jobs as their owners, and the host has a network of its own.")
    if system == "condor":
        found: LoginHost = PoolLogin(system, "--cache", cache(), "-c", "6", "-x", QUICK)
    else:
        found = LoginHost(system, *(("-n", "3", "-c", "2") if system == "slurm" else ("-s", "6")))
    try:
        yield found
    finally:
        found.remove()


def _variables(file: Path) -> dict[str, str]:
    """What a file for the shell exports."""
    return dict(re.findall(r"(\w+)='?([^' \n]+)'?", file.read_text().replace("export ", "")))


QUICK = "PERIODIC_EXPR_INTERVAL = 2"


def _submitting(pool: Path) -> Path:
    """A folder with a condor_submit before which what root has written becomes its user's, who owns the jobs."""
    ours = pool / "work" / "bin"
    ours.mkdir()
    submit = ours / "condor_submit"
    submit.write_text(f'#!/bin/sh\ncd "$XDG_STATE_HOME/headway" && exec {pool}/bin/condor_submit "$@"\n')
    submit.chmod(0o755)
    return ours


def _workplace(pool: Path, name: str) -> Path:
    """A folder that jobs of a pool may write to."""
    place = pool / "work" / name
    for folder in (place, place / "state", place / "state/headway"):
        folder.mkdir()
        folder.chmod(0o777)
    return place


class PoolCluster(Cluster):
    """A pool of HTCondor, whose jobs run as a user of its own and see only its folder `work` and Debian 13."""

    def __init__(self, pool: Pool) -> None:
        self.system, self.folder = "htcondor", pool.folder
        ours = _submitting(pool.folder)
        self.environment = {**os.environ, "PATH": f"{ours}:{pool.folder}/bin:{os.environ['PATH']}"}

    @property
    def cancel_all(self) -> list[str]:
        return ["condor_rm", "-all"]

    def workplace(self, name: str) -> Path:
        """A folder that jobs may write to."""
        place = _workplace(self.folder, name)
        self.environment["XDG_STATE_HOME"] = str(place / "state")
        return place


@contextlib.contextmanager
def htcondor(cpus: int = 8) -> Iterator[PoolCluster]:
    with pool(cpus, QUICK) as found:
        yield PoolCluster(found)


@contextlib.contextmanager
def slurm(nodes: int = 3, cpus: int = 2, *settings: str) -> Iterator[Cluster]:
    """`settings`: lines of slurm.conf."""
    needs_root("slurmd starts jobs as their owners.")
    lines = [word for line in settings for word in ("-x", line)]
    found = Cluster("slurm", "-n", str(nodes), "-c", str(cpus), "-p", str(ports(17000, 100)), *lines)
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
