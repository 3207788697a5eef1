"""placeholder.sh on hosts that have sh and ssh and nothing else: no Python, no Headway, a network of their own."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.hosts_apart import HostsApart, hosts_apart
from tests.infra.ports import ports
from tests.live.ledger import until
from tests.shell import headway
from tests.sites.script_bench import JOB, SCRIPT, SERVICES, ScriptBench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("apart")]
# What placeholders there call the services with: a server that is away is noticed soon.
SSH = (
    "ssh -i {folder}/id -p {port} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    " -o BatchMode=yes -o ConnectTimeout=2 -o ServerAliveInterval=1 -o ServerAliveCountMax=2"
)


class Submit(ScriptBench):
    """This computer as the submit host: with an ssh server that the hosts can reach, and the services behind it."""

    def __init__(self, hosts: HostsApart) -> None:
        folder = Path(tempfile.mkdtemp(dir=hosts.shared))
        super().__init__(folder, environment=hosts.environment)
        self.hosts = hosts
        shutil.copy(hosts.folder / "id", folder / "id")
        (folder / "id").chmod(0o600)
        shutil.copy(SCRIPT, folder / "placeholder.sh")
        self.services = folder / "services"
        self.services.mkdir()
        for name in ("mqnextjob", "mqgetjobattribute", "mqdonejob"):
            script = self.services / name
            path = shlex.quote(hosts.environment["PATH"])
            script.write_text(f'#!/bin/sh\nexport HEADWAY_SILENCE=2 PATH={path}\nexec {SERVICES}/{name} "$@"\n')
            script.chmod(0o755)
        self.address = f"10.77.{(hosts.folder / 'subnet').read_text().strip()}.1"
        self.port = ports(24000, 20)
        words = ["/usr/sbin/sshd", "-D", "-f", str(hosts.folder / "sshd_config")]
        self._server = subprocess.Popen([*words, "-o", f"ListenAddress={self.address}", "-p", str(self.port)])

    def on(self, host: str, *words: str) -> str:
        """What a command prints on a host."""
        done = subprocess.run(
            ["ssh", host, *words], env=self.hosts.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def start(self, host: str, *options: str) -> None:
        """A placeholder on a host, on its own from then on."""
        ssh = SSH.format(folder=self.folder, port=self.port)
        words = ["sh", f"{self.folder}/placeholder.sh", "-s", self.address, "-S", ssh, "-b", str(self.services)]
        words += ["-p", self.place, "-l", "/root/own", "-w", "1", "-k", "2", *options]
        self.on(host, f"setsid {shlex.join(words)} </dev/null >>{self.folder}/talk 2>&1 &")

    def over(self, *hosts: str) -> bool:
        return not any("placeholder.sh" in self.on(host, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '") for host in hosts)

    def close(self) -> None:
        for host in ("h1", "h2"):
            for pid in self.hosts.processes(host):
                command = Path(f"/proc/{pid}/cmdline")
                if command.exists() and b"sshd" not in command.read_bytes() and b"init" not in command.read_bytes():
                    subprocess.run(["kill", "-9", str(pid)], check=False, capture_output=True)
        self._server.send_signal(signal.SIGTERM)
        self._server.wait(30)
        super().close()


@pytest.fixture(scope="module")
def hosts() -> Iterator[HostsApart]:
    shared = Path(tempfile.mkdtemp(prefix="no-python-"))
    with hosts_apart(2, shared, "ssh") as found:
        yield found
    shutil.rmtree(shared, ignore_errors=True)


@pytest.fixture
def submit(hosts: HostsApart) -> Iterator[Submit]:
    found = Submit(hosts)
    yield found
    found.close()


def test_a_workflow_is_run_wholly_by_hosts_without_python(submit: Submit) -> None:
    assert submit.on("h1", "ls /usr/bin /usr/local/bin").find("python") == -1
    submit.layers(3, 5)
    for host in ("h1", "h1", "h2"):
        submit.start(host)
    until(lambda: submit.counts() == {"done": 15}, 120)
    assert submit.ledger == {
        f"{what} L{layer}N{at} 1": 1 for what in ("begin", "end") for layer in range(3) for at in range(5)
    }
    assert {one["host"] for one in submit.asked("history")["attempts"]} == {"h1", "h2"}
    until(lambda: submit.over("h1", "h2"))


def test_a_host_that_is_cut_off_goes_on_and_tells_its_end_when_it_is_back(submit: Submit) -> None:
    submit.submit(
        f"mqsub -l A -c '{JOB.format(submit.folder, 2)}'", f"mqsub -deps A -l B -c '{JOB.format(submit.folder, 0)}'"
    )
    submit.start("h1")
    until(lambda: submit.begun("A"))
    submit.hosts.cut("h1")
    until(lambda: submit.ledger["end A 1"])
    until(lambda: "called again" in submit.talk)
    assert submit.counts() == {"running": 1, "waiting": 1}
    submit.hosts.heal("h1")
    until(lambda: submit.counts() == {"done": 2})
    assert submit.ledger == {f"{what} {name} 1": 1 for what in ("begin", "end") for name in "AB"}


def test_a_job_of_a_host_that_went_down_is_given_back_only_once_the_host_can_be_asked(submit: Submit) -> None:
    submit.submit(f"mqsub -l A -c 'test -e {submit.folder}/go || {{ {JOB.format(submit.folder, 600)}; }}'")
    submit.start("h1")
    until(lambda: submit.begun("A"))
    submit.start("h2")
    store = submit.store()
    until(lambda: store.database.run("was_listed", key="listed process h1"))
    store.close()
    submit.hosts.off("h1")
    (submit.folder / "go").touch()
    time.sleep(6)  # its lease is over by far, and looks have failed: nobody knows whether it runs
    assert submit.counts() == {"running": 1}
    submit.hosts.on("h1")
    until(lambda: submit.counts() == {"done": 1}, 120)
    first, second = submit.asked("history")["attempts"]
    assert first["outcome"] == "given back" and "list of process" in first["reason"]
    assert (second["host"], second["exit_code"]) == ("h2", 0)


def test_a_run_at_such_a_host_is_refused_with_the_way_out(hosts: HostsApart, tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    (tmp_path / "headway.toml").write_text('[sites.bare]\nhost = "h1"\ndirectory = "/root/work"\n')
    done = headway("run", "w.sh", "--site", "bare", cwd=tmp_path, env=hosts.environment)
    assert done.returncode == 1
    assert "h1 has no Python 3.9 or later." in done.stderr
    assert "headway placeholder --script" in done.stderr
