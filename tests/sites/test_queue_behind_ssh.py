"""A batch queue whose commands are on another host, and whose nodes reach that host and not this computer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.queues import BEHIND_SSH, LoginHost, behind_ssh
from tests.live.ledger import runner_of, until
from tests.sites.queue_bench import QueueBench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("behind")]
GATED = "echo begin >> ledger; echo first; until test -e go; do sleep 0.1; done; echo last; echo end >> ledger"


@pytest.fixture(scope="module", params=BEHIND_SSH)
def cluster(request: pytest.FixtureRequest) -> Iterator[LoginHost]:
    with behind_ssh(request.param) as found:
        yield found


class Bench(QueueBench):
    cluster: LoginHost

    def logs(self) -> str:
        files = [self.home / "runner.log", *self.cluster.hosts.state.glob("*/*.log")]
        files += self.cluster.hosts.state.glob("*/home-*/runner.log")
        return "\n".join(f"{file}: {file.read_text()}" for file in files if file.exists())

    def card(self) -> dict[str, object]:
        """What the first allocation of this store was told."""
        store = self.store()
        text = (self.cluster.hosts.state / f"{store.id}-cluster" / "1.json").read_text()
        store.close()
        found: dict[str, object] = json.loads(text)
        return found

    def logins(self) -> int:
        """How often somebody has logged in at the login host."""
        return (self.cluster.hosts.folder / "h1.log").read_text().count("Accepted publickey")

    def relays(self) -> list[int]:
        """The ssh to the relay of this store's site."""
        pid, found = runner_of(self.home), []
        for one in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((one / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid and b"--relay" in (one / "cmdline").read_bytes():
                    found.append(int(one.name))
        return found


@pytest.fixture
def bench(cluster: LoginHost, tmp_path: Path) -> Iterator[Bench]:
    queue = {"slurm": "slurm", "ge": "gridengine", "condor": "htcondor"}[cluster.system]
    found = Bench(cluster, cluster.workplace(tmp_path.name, tmp_path), queue)
    found.set(host="h1", shared=True)
    yield found
    cluster.hosts.heal("h1")
    found.close()
    until(lambda: not cluster.queued, 180)  # a queue kills what cannot tell its store that it ends


def test_sixty_jobs_run_on_nodes_that_reach_only_their_login_host(bench: Bench) -> None:
    bench.jobs(60, 0.1)
    before = bench.logins()
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(60)
    assert bench.logins() - before <= 2  # the relay, and all commands of the queue
    assert {one["host"] for one in bench.json("history")["attempts"]} == {"h1"}
    card = bench.card()
    hosts = card["hosts"]
    assert isinstance(hosts, list) and hosts[0] == "h1" and not any(host.startswith("127.") for host in hosts)
    until(lambda: not bench.cluster.queued)
    until(lambda: not runner_of(bench.home))
    assert not bench.relays()


def test_this_computer_listens_to_nobody_but_itself(bench: Bench) -> None:
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    door = (bench.home / "port").read_text().strip()
    address = bench.cluster.hosts.ours
    for host in (address, "127.0.0.1"):
        tried = ["ssh", "h1", f"timeout 5 bash -c '</dev/tcp/{host}/{door}'"]
        assert subprocess.run(tried, env=bench.environment, capture_output=True, check=False).returncode != 0
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()


def test_what_a_job_prints_is_followed_while_it_runs_and_fetched_when_it_has_ended(bench: Bench) -> None:
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    follow = bench.begin("logs", "-f", "j")
    assert follow.stdout is not None and follow.stdout.readline() == "first\n"
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    assert follow.communicate(timeout=60)[0] == "last\n"
    assert bench("logs", "j").stdout == "first\nlast\n"


def test_a_relay_whose_connection_breaks_comes_back_where_nodes_call(bench: Bench) -> None:
    bench.jobs(16, 0.7)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    port = bench.card()["port"]
    for pid in bench.relays():
        os.kill(pid, signal.SIGKILL)
    assert run.wait(120) == 0, bench.logs()
    bench.each_once(16)
    assert (bench.home / "relay-port").read_text().strip() == str(port)


def test_a_login_host_that_is_cut_off_for_a_while_loses_nothing(bench: Bench) -> None:
    bench.script(*(f"workflow.job('j{number}', {GATED!r})" for number in range(2)))
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    bench.cluster.hosts.cut("h1")
    (bench.folder / "go").touch()
    bench.wait_for("end", 2)
    bench.cluster.hosts.heal("h1")
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger == {"begin": 2, "end": 2}


def test_when_the_sites_process_dies_placeholders_find_the_next_one(bench: Bench) -> None:
    bench.jobs(12, 0.7)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    pid = runner_of(bench.home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert run.wait(60) == 1
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(12)
