"""Hosts with a network, processes and files of their own and an old Python: cut off, switched off, limited."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.placeholder.adoption import _tells_exits
from tests.infra.hosts_apart import HostsApart, hosts_apart
from tests.infra.postgres import throw_away
from tests.live.ledger import keeper_of, until
from tests.sites.bench import Bench

pytestmark = pytest.mark.slow

SITES = """
[sites.a]
host = "h1"
slots = 2
shared = true

[sites.far]
host = "h1"
slots = 2
directory = "/scratch"

[sites.b]
host = "h2"
slots = 2
shared = true

[sites.narrow]
host = "tester@h2"
slots = 30
directory = "~/work"
"""
SILENCE = 5.0  # seconds, where it is to be shorter than an absence
SAY = "echo {} $HEADWAY_JOB $(hostname) >> ledger"
GATED = f"{SAY.format('begin')}; until test -e go; do sleep 0.05; done; {SAY.format('end')}"


class BenchApart(Bench):
    """The same for such hosts; `ledger` has who began and ended where."""

    hosts: HostsApart

    def __init__(self, hosts: HostsApart, folder: Path) -> None:
        super().__init__(hosts, folder)
        (folder / "headway.toml").write_text(SITES)

    def runners(self) -> list[int]:
        return [pid for name in ("h1", "h2") for pid in self.hosts.runners(name)]

    def logs(self) -> str:
        files = [*self.folder.glob(".headway/sites/*/runner.log"), *self.folder.glob(".headway/runner.log")]
        for name in ("h1", "h2"):
            files += self.hosts.files(name).glob("root/.local/state/headway/*/runner.log")
        return "\n".join(f"{file}: {file.read_text()}" for file in files)

    def done_once(self, count: int) -> None:
        """Every job is done, and one attempt of each counts as such."""
        attempts = self.json("history")["attempts"]
        good = sorted(one["job"] for one in attempts if one["exit_code"] == 0)
        assert good == sorted(f"j{number}" for number in range(count)), (attempts, self.logs())
        assert self.json("status")["workflows"][0]["done"] == count

    def said(self, run: subprocess.Popen[str]) -> str:
        """What a run has said, once it is over."""
        return "".join(run.communicate(timeout=120))


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostsApart]:
    with hosts_apart(2, tmp_path_factory.mktemp("shared")) as found:
        yield found


@pytest.fixture
def bench(apart: HostsApart, request: pytest.FixtureRequest) -> Iterator[BenchApart]:
    folder = apart.shared / request.node.name
    folder.mkdir()
    found = BenchApart(apart, folder)
    yield found
    for name in ("h1", "h2"):
        apart.on(name)
        apart.heal(name)
    found.close()
    for pid in found.runners():
        with contextlib.suppress(ProcessLookupError):  # it was just going
            os.kill(pid, signal.SIGKILL)
    apart.set()


def test_a_host_with_python_3_9_and_nothing_of_ours_gets_files_and_sends_them_home(bench: BenchApart) -> None:
    (bench.folder / "in").write_text("data")
    job = "(cat in; hostname; python3 -V; test -e w.py || echo apart) > out; cat out"
    bench.script(f"workflow.job('j0', {job!r}, inputs=['in'], outputs=['out'])")
    bench("run", "w.py", "--site", "far")
    assert (bench.folder / "out").read_text().split() == ["datah1", "Python", *_python(bench), "apart"]
    assert bench("logs", "j0").stdout == (bench.folder / "out").read_text()
    (attempt,) = bench.json("history")["attempts"]
    assert (attempt["site"], attempt["host"]) == ("far", "h1")


def _python(bench: BenchApart) -> list[str]:
    """The version of Python there, which must be an old one."""
    asked = ["ssh", "h1", "python3", "-V"]
    done = subprocess.run(asked, env=bench.hosts.environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Python 3.9.")
    return done.stdout.split()[1:]


def _pair(bench: BenchApart) -> tuple[int, int]:
    """The runner on h1, and its keeper: the parent of the other."""
    parents = {}
    for pid in bench.hosts.runners("h1"):
        with contextlib.suppress(OSError):
            parents[pid] = keeper_of(pid)
    found = [(pid, parent) for pid, parent in parents.items() if parent in parents]
    return found[0] if len(found) == 1 else (0, 0)


def _newest(bench: BenchApart) -> tuple[int, int]:
    """The placeholder that came last, and how many running jobs it has."""
    with contextlib.closing(sqlite3.connect(bench.folder / ".headway/store.db")) as db:
        ((newest, jobs),) = db.execute(
            "SELECT (SELECT MAX(id) FROM placeholders), COUNT(*) FROM jobs j JOIN attempts a ON a.id = j.lease"
            " WHERE j.state = 2 AND a.placeholder = (SELECT MAX(id) FROM placeholders)"
        ).fetchall()
    return newest, jobs


@pytest.mark.parametrize("dead", ["the runner", "the keeper", "both"])
def test_jobs_of_an_old_python_whose_runner_is_killed_go_on_under_the_next_one_and_end_as_they_end(
    bench: BenchApart, dead: str
) -> None:
    _python(bench)
    gate = f"{SAY.format('begin')}; until test -e go; do sleep 0.05; done; {SAY.format('end')}"
    bench.script(
        f"workflow.job('good', {gate!r})",
        f"workflow.job('bad', {gate + '; exit 7'!r})",
        f"workflow.job('after', {SAY.format('after')!r}, after='good')",
    )
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 2)
    runner, keeper = _pair(bench)
    first, jobs = _newest(bench)
    assert jobs == 2
    bench.kill({"the runner": [runner], "the keeper": [keeper], "both": [keeper, runner]}[dead])
    if dead != "the keeper":
        until(lambda: (found := _newest(bench))[0] > first and found[1] == 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 3, bench.logs()
    attempts = bench.json("history")["attempts"]
    ends = sorted((one["job"], one["exit_code"]) for one in attempts if one["exit_code"] is not None)
    assert ends == [("after", 0), ("bad", 7), ("good", 0)], (attempts, bench.logs())
    # Without a keeper the kernel tells how jobs end that are not the runner's own, if it is 6.15 or later.
    if dead != "both" or _tells_exits():
        assert len(attempts) == 3 and sum(bench.ledger.values()) == 5, bench.ledger


def test_jobs_of_an_old_python_that_end_while_no_runner_is_there_are_recorded_as_they_ended(bench: BenchApart) -> None:
    """The runner dies while its host is cut off: nobody starts another one until that is back."""
    _python(bench)
    gate = f"{SAY.format('begin')}; until test -e go; do sleep 0.05; done; {SAY.format('end')}"
    bench.script(f"workflow.job('good', {gate!r})", f"workflow.job('bad', {gate + '; exit 7'!r})")
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 2)
    runner, _ = _pair(bench)
    bench.hosts.cut("h1")
    bench.kill([runner])
    (bench.folder / "go").touch()
    bench.wait_for("end", 2)
    bench.hosts.heal("h1")
    assert run.wait(120) == 3, bench.logs()
    attempts = bench.json("history")["attempts"]
    assert sorted((one["job"], one["exit_code"]) for one in attempts) == [("bad", 7), ("good", 0)], bench.logs()
    assert sum(bench.ledger.values()) == 4


def test_a_host_that_is_cut_off_and_back_in_time_goes_on_and_nothing_runs_twice(bench: BenchApart) -> None:
    bench.script(*(f"workflow.job('j{number}', {GATED!r})" for number in range(4)))
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 2)
    bench.hosts.cut("h1")
    (bench.folder / "go").touch()
    bench.wait_for("end", 2)  # while nobody hears of it
    assert bench.json("status")["workflows"][0]["done"] == 0
    bench.hosts.heal("h1")
    assert run.wait(120) == 0, bench.logs()
    assert sum(bench.ledger.values()) == 8
    bench.done_once(4)


def test_jobs_of_a_host_that_is_away_too_long_run_elsewhere_and_its_late_ends_count_for_nothing(
    bench: BenchApart,
) -> None:
    bench.hosts.set(HEADWAY_SILENCE=str(SILENCE))
    here = os.uname().nodename
    job = f"{SAY.format('begin')}; until test -e go-$(hostname); do sleep 0.05; done"
    bench.script(*(f"workflow.job('j{number}', {job!r})" for number in range(2)))
    bench.hosts.environment["HEADWAY_SILENCE"] = str(SILENCE)
    try:
        run = bench.begin("run", "w.py", "--site", "a", "--site", "local", "--slots", "1")
        until(lambda: {line.split()[-1] for line in bench.ledger} == {"h1", here})
        bench.hosts.cut("h1")
        (bench.folder / f"go-{here}").touch()
        assert run.wait(120) == 0, bench.logs()  # all of it was done here
        bench.done_once(2)
        left = [pid for pid in bench.hosts.processes("h1") if _is_job(pid)]
        assert left  # they wait there still
        bench.hosts.heal("h1")
        bench("run", "w.py", "--site", "a")  # the host is called, and hears that its leases are lost
        until(lambda: not any(_is_job(pid) for pid in bench.hosts.processes("h1")))
        bench.done_once(2)
    finally:
        del bench.hosts.environment["HEADWAY_SILENCE"]


def _is_job(pid: int) -> bool:
    try:
        return b"HEADWAY_JOB=" in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def test_jobs_of_a_host_that_is_switched_off_run_elsewhere_and_it_is_used_when_it_is_back(bench: BenchApart) -> None:
    bench.hosts.set(HEADWAY_SILENCE=str(SILENCE))
    bench.hosts.environment["HEADWAY_SILENCE"] = str(SILENCE)
    job = f"{SAY.format('begin')}; until test -e go; do sleep 0.05; done"
    bench.script(*(f"workflow.job('j{number}', {job!r})" for number in range(8)))
    try:
        run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
        until(lambda: {line.split()[-1] for line in bench.ledger} == {"h1", "h2"})
        bench.hosts.off("h1")
        until(lambda: "a:" in bench.logs() or "site a" in bench.logs())
        bench.hosts.on("h1")
        (bench.folder / "go").touch()
        assert run.wait(120) == 0, bench.logs()
        bench.done_once(8)
        assert any(one["exit_code"] is None for one in bench.json("history")["attempts"])  # lost with its host
    finally:
        del bench.hosts.environment["HEADWAY_SILENCE"]


def test_a_group_with_affinity_stays_on_its_host_and_runs_elsewhere_when_that_is_switched_off(
    bench: BenchApart,
) -> None:
    bench.hosts.set(HEADWAY_SILENCE=str(SILENCE))
    bench.hosts.environment["HEADWAY_SILENCE"] = str(SILENCE)
    meet = f"touch at-$(hostname); until test -e at-h1 && test -e at-h2; do sleep 0.05; done; {SAY.format('first')}"
    bench.script(
        "for n in range(8):",
        "    one = workflow.group(f'G{n}')",
        f"    one.run({meet!r})",
        f"    one.run({SAY.format('second')!r}, affinity=True)",
        f"    one.run({GATED!r}, affinity=True)",
    )
    try:
        run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
        bench.wait_for("begin", 4)  # all slots of both are taken from now on
        assert {line.split()[-1] for line in bench.ledger if line.startswith("begin")} == {"h1", "h2"}
        assert all(len(hosts) == 1 for hosts in _hosts(bench).values()), bench.ledger
        (group, *_) = (
            line.split()[1].partition("#")[0] for line in bench.ledger if line.split()[::2] == ["begin", "h1"]
        )
        bench.hosts.off("h1")
        says = f"It must run on h1, as {group}#2 did (affinity)."
        until(lambda: says in bench.json("explain", f"{group}#3")["because"])
        gone = f"No placeholder is there now. To run both elsewhere: headway redo {group}#2."
        until(lambda: gone in bench.json("explain", f"{group}#3")["because"])
        bench("redo", group)
        (bench.folder / "go").touch()
        until(lambda: f"end {group}#3 h2" in bench.ledger)
        assert _hosts(bench)[group] == {"h1", "h2"}
        bench.hears(run, "waiting: site a: ")  # what is left is bound to the host that is away
        assert run.poll() is None
        bench.hosts.on("h1")
        assert run.wait(120) == 0, bench.logs()
        done = [one for one in bench.json("history")["attempts"] if one["outcome"] == "done"]
        assert len({one["job"] for one in done}) == 24 and len(done) == 24 + 2  # two jobs of that group ran anew
        assert all(len(hosts) == 1 for name, hosts in _hosts(bench).items() if name != group), bench.ledger
    finally:
        del bench.hosts.environment["HEADWAY_SILENCE"]


def test_a_run_that_begins_while_the_only_host_for_its_next_job_is_away_waits_for_it_and_then_uses_all_sites(
    bench: BenchApart,
) -> None:
    meet = f"touch met-$(hostname); until test -e met-h1 && test -e met-h2; do sleep 0.05; done; {SAY.format('meet')}"
    bench.script(
        "one = workflow.group('G')",
        "one.run('true')",
        f"one.run({'test -e go && ' + SAY.format('bound')!r}, affinity=True)",
        f"for n in range(8): workflow.job(f'k{{n}}', {meet!r}, after=one)",
    )
    bench("run", "w.py", "--site", "a", code=3)
    bench.hosts.off("h1")
    (bench.folder / "go").touch()
    run = bench.begin("run", "w.py", "--retry", "--site", "a", "--site", "b")
    bench.hears(run, "waiting: site a: ")
    assert not bench.ledger
    bench.hosts.on("h1")
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger["bound G#2 h1"] == 1
    assert {line.split()[-1] for line in bench.ledger if line.startswith("meet")} == {"h1", "h2"}


def test_a_job_that_is_added_while_a_run_waits_for_a_host_runs_at_another_one(bench: BenchApart) -> None:
    bench.script(
        "one = workflow.group('G')",
        "one.run('true')",
        f"one.run({'test -e go && ' + SAY.format('bound')!r}, affinity=True)",
    )
    bench("run", "w.py", "--site", "a", code=3)
    bench.hosts.off("h1")
    (bench.folder / "go").touch()
    run = bench.begin("run", "w.py", "--retry", "--site", "a", "--site", "b")
    bench.hears(run, "waiting: site a: ")
    environment = {**bench.hosts.environment, "HEADWAY_STORE": str(bench.folder)}
    added = ["mqsub", "-l", "extra", "-c", SAY.format("extra"), "-w", "1"]
    subprocess.run(added, cwd=bench.folder, env=environment, check=True)
    bench.wait_for("extra")
    bench.hosts.on("h1")
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger["bound G#2 h1"] == 1


def test_a_run_that_waits_for_a_host_ends_at_once_when_its_user_has_seen_enough(bench: BenchApart) -> None:
    bench.script("one = workflow.group('G')", "one.run('true')", "one.run('test -e go', affinity=True)")
    bench("run", "w.py", "--site", "a", code=3)
    bench.hosts.off("h1")
    (bench.folder / "go").touch()
    run = bench.begin("run", "w.py", "--retry", "--site", "a", "--site", "b")
    bench.hears(run, "waiting: site a: ")
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 130
    bench.hosts.on("h1")
    bench("run", "w.py", "--site", "a", "--site", "b")


def test_a_run_whose_next_job_is_bound_to_a_host_that_cannot_be_used_any_more_ends_and_says_why(
    bench: BenchApart,
) -> None:
    bench.script("one = workflow.group('G')", "one.run('true')", "one.run('test -e go', affinity=True)")
    bench("run", "w.py", "--site", "a", code=3)
    known = bench.hosts.folder / "known_hosts"
    kept = known.read_text()
    try:
        known.write_text(kept.partition("\n")[2])  # without h1, which is the first
        bench.hosts.off("h1")  # with its connections
        bench.hosts.on("h1")
        said = bench("run", "w.py", "--retry", "--site", "a", "--site", "b", code=3).stderr
    finally:
        known.write_text(kept)
    assert "going on without site a: site a: ssh does not know the key of h1" in said, said
    assert "headway explain JOB tells why" in said, said


def _hosts(bench: BenchApart) -> dict[str, set[str]]:
    """Where jobs of each group have run."""
    found: dict[str, set[str]] = {}
    for _, job, host in (line.split() for line in bench.ledger):
        found.setdefault(job.partition("#")[0], set()).add(host)
    return found


SHIFTED = """\
import sys, time
real = time.time
def shifted():
    with open("{asked}", "a") as file:
        file.write(sys.argv[0] + "\\n")
    return real() + 300
time.time = shifted
"""


def test_a_host_whose_clock_is_minutes_off_loses_nothing_and_its_times_are_told_by_ours(bench: BenchApart) -> None:
    shift = bench.hosts.files("h1") / "usr/lib/python3.9/sitecustomize.py"
    off = SHIFTED.format(asked="/root/asked")
    asked = ["ssh", "h1", "rm -f /usr/lib/python3.9/sitecustomize.py; cat > /usr/lib/python3.9/sitecustomize.py"]
    subprocess.run(asked, env=bench.hosts.environment, input=off, text=True, check=True)
    try:
        assert shift.read_text() == off
        command = f"{SAY.format('told')}; python3 -c 'import time; print(time.time())'; sleep 0.2"
        bench.script(*(f"workflow.job('j{number}', {command!r})" for number in range(8)))
        began = time.time()
        run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
        assert run.wait(120) == 0, bench.logs()
        ended = time.time()
        bench.done_once(8)
        attempts = bench.json("history")["attempts"]
        assert {one["site"] for one in attempts} == {"a", "b"}
        assert all(began - 5 < one["started"] <= one["ended"] < ended + 5 for one in attempts), attempts
        clocks = {host: float(bench("logs", job).stdout) for _, job, host in (line.split() for line in bench.ledger)}
        assert began + 290 < clocks["h1"] < ended + 310 and began - 5 < clocks["h2"] < ended + 5, clocks
        used_by = (bench.hosts.files("h1") / "root/asked").read_text()
        assert "/headway/runner-" in used_by  # the runner there went by that clock as well
    finally:
        subprocess.run(["ssh", "h1", f"rm {_inside(shift)}"], env=bench.hosts.environment, check=True)


def _inside(file: Path) -> str:
    return "/" + str(file).partition("/upper/")[2]


def test_a_quota_of_processes_slows_a_host_down_and_no_job_fails_of_it(bench: BenchApart) -> None:
    """Thirty slots, and room for ten processes: the jobs that cannot begin wait, and their user is told."""
    bench.script(*(f"workflow.job('j{number}', '/bin/sleep 2')" for number in range(20)))
    bench.hosts.limit_processes("h2", 10)
    try:
        run = bench.begin("run", "w.py", "--site", "narrow")
        said = bench.said(run)
        assert run.returncode == 0, said + bench.logs()
        assert "site narrow: a job cannot be started: Resource temporarily unavailable." in said, said
        bench.done_once(20)
    finally:
        bench.hosts.off("h2")  # its limit goes with it


def test_a_key_that_is_withdrawn_while_jobs_run_is_told_and_they_are_found_again(bench: BenchApart) -> None:
    bench.script(*(f"workflow.job('j{number}', {GATED!r})" for number in range(2)))
    keys = bench.hosts.folder / "authorized_keys"
    kept = keys.read_text()
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 2)
    try:
        keys.write_text("")
        bench.kill(bench.connections())
        said = bench.said(run)
        assert run.returncode == 1 and "h1 does not let you in" in said and "ssh-copy-id h1" in said, said
    finally:
        keys.write_text(kept)
    (bench.folder / "go").touch()
    bench.wait_for("end", 2)
    bench("run", "w.py", "--site", "a")
    bench.done_once(2)
    assert sum(bench.ledger.values()) == 4


def test_a_host_whose_key_is_another_than_before_is_refused_with_the_way_out(bench: BenchApart) -> None:
    known = bench.hosts.folder / "known_hosts"
    kept = known.read_text()
    other = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", bench.folder / "other"], check=True)
    assert other.returncode == 0
    key = " ".join((bench.folder / "other.pub").read_text().split()[:2])
    try:
        known.write_text("\n".join(f"{line.split()[0]} {key}" for line in kept.splitlines()) + "\n")
        bench.script("workflow.job('j0', 'true')")
        said = bench("run", "w.py", "--site", "a", code=1).stderr
        assert "the key of h1 is not the one that ssh knows" in said and "ssh-keygen -R h1" in said
        assert "Traceback" not in said
    finally:
        known.write_text(kept)


def test_a_store_on_a_server_that_restarts_while_jobs_run_on_hosts_loses_nothing(bench: BenchApart) -> None:
    with throw_away() as server:
        bench.script(*(f"workflow.job('j{number}', {GATED!r})" for number in range(6)))
        run = bench.begin("run", "w.py", "--site", "a", "--site", "b", "--store", server.url)
        bench.wait_for("begin", 4)
        server.stop()
        (bench.folder / "go").touch()
        bench.wait_for("end", 4)
        server.start()
        assert run.wait(120) == 0, bench.logs()
        assert sum(bench.ledger.values()) == 12
        attempts = bench.json("history", "--store", server.url)["attempts"]
        assert sorted(one["job"] for one in attempts if one["exit_code"] == 0) == [f"j{number}" for number in range(6)]
