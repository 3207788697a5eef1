"""Placeholders in a real Slurm: what is asked for, granted, lost and killed; every job is done once."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.experiments.trellisdag.crews import place
from headway.live.client.line import Line
from headway.live.client.messages import Progress, Watch
from headway.live.doors.tls_relay import Address, relay
from headway.live.home.folder import Home
from headway.live.store.allocations import State as AllocationState
from headway.live.store.allocations import name_of
from tests.experiments.test_trellisdag_crews import run_by
from tests.infra.queues import Cluster, slurm
from tests.live.ledger import is_alive, runner_of, until
from tests.sites.queue_bench import QueueBench
from tests.sites.script_bench import JOB, ScriptBench, in_queue, kill_all, known

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("slurm")]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm() as found:
        yield found


@pytest.fixture
def bench(cluster: Cluster, tmp_path: Path) -> Iterator[QueueBench]:
    found = QueueBench(cluster, tmp_path, "slurm")
    yield found
    found.close()
    until(lambda: not cluster("squeue", "-h").strip())


def queued(bench: QueueBench) -> list[str]:
    """The names of what the queue has of ours."""
    store = bench.store()
    mark = store.id
    store.close()
    return [name for name in bench.cluster("squeue", "-h", "-o", "%j").split() if name.startswith(f"headway-{mark}-")]


def ever(bench: QueueBench) -> list[str]:
    """The names of all that the queue was asked for by us, also of what has ended or was cancelled."""
    mark = bench.store().id
    listed = bench.cluster("squeue", "-h", "-t", "all", "-o", "%j").split()
    return [name for name in listed if name.startswith(f"headway-{mark}-")]


def test_sixty_jobs_run_in_allocations_that_end_when_there_is_no_more_work(bench: QueueBench) -> None:
    bench.jobs(60, 0.1)
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(60)
    attempts = bench.json("history")["attempts"]
    assert {one["site"] for one in attempts} == {"cluster"}
    until(lambda: not queued(bench))
    store = bench.store()
    until(lambda: all(one.ended is not None and one.began is not None for one in store.allocations.all()))


def test_jobs_run_in_slurms_environment_and_their_logs_are_fetched(bench: QueueBench) -> None:
    bench.script(
        "workflow.job('a', 'echo $SLURM_JOB_ID $SLURM_CPUS_PER_TASK')", "workflow.job('b', 'echo why; exit 3')"
    )
    bench("run", "w.py", "--site", "cluster", code=3)
    number, cores = bench("logs", "a").stdout.split()
    assert number.isdigit() and cores == "2"
    (log,) = bench.json("logs", "b")["logs"]
    assert (log["text"], log["site"], log["exit_code"]) == ("why\n", "cluster", 3)


def test_what_a_job_prints_is_followed_while_it_runs_in_an_allocation(bench: QueueBench) -> None:
    bench.script(
        "workflow.job('j', 'echo first; echo begin >> ledger; until test -e go; do sleep 0.1; done; echo last')",
        "workflow.job('k', 'echo other')",
    )
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    follow = bench.begin("logs", "-f", "j")
    assert follow.stdout is not None and follow.stdout.readline() == "first\n"
    assert bench("logs", "j").stdout == "first\n"
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    assert follow.communicate(timeout=60)[0] == "last\n"
    assert bench("logs", "j").stdout == "first\nlast\n"


def test_while_an_allocation_waits_its_user_is_told_for_what_and_nobody_is_told_to_run_again(bench: QueueBench) -> None:
    bench.set(cores=64)
    bench.jobs(1, 0)
    run = bench.begin("run", "w.py", "--site", "cluster")
    store = bench.store()
    until(lambda: [one.state for one in store.allocations.open("cluster")] == [AllocationState.QUEUED])
    assert bench.json("explain", "j0")["because"] == [
        "It may run, and is next.",
        "1 allocation waits in the queue of cluster.",
    ]
    follow = bench.begin("logs", "-f", "j0")
    bench.hears(follow, "it waits for a slot.")
    line = Line.to(Home(bench.home), 10.0)
    assert line is not None
    with line:
        line.say(Watch(1))
        until(
            lambda: any(
                isinstance(one, Progress) and one.names == ["1 allocation queued (PartitionConfig) at cluster"]
                for one in line.news()
            )
        )
    bench("cancel")
    assert run.wait(60) == 3
    assert bench.json("explain", "j0")["because"][0].startswith("Nobody runs this workflow now")


def test_a_run_in_allocations_is_watched_kept_and_cancelled_like_any(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    assert [one["state"] for one in bench.json("runs")["workflows"]] == ["running"]
    assert "workflow 1 (w) is running" in bench("clean", "--all", "--yes").stderr
    watch = bench.begin("attach")
    assert watch.stderr is not None and watch.stderr.readline().startswith("watching workflow 1")
    assert "headway run goes on with it" in bench("cancel").stderr
    assert (run.wait(60), watch.wait(60)) == (3, 3)
    assert bench.json("status")["workflows"][0]["running"] == 0 and bench.ledger == {"begin": 1}
    (bench.folder / "go").touch()
    bench("run", "w.py", "--site", "cluster")
    assert bench.ledger == {"begin": 2, "end": 1}


def test_a_job_that_runs_in_an_allocation_is_explained_and_stopped_there_and_runs_again_when_enabled(
    bench: QueueBench,
) -> None:
    gated = "echo pid $$ >> ledger; echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger"
    bench.script(f"workflow.job('j', {gated!r})", "workflow.job('k', 'true', after='j')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    (pid,) = (int(line.split()[1]) for line in bench.ledger if line.startswith("pid"))
    (said,) = bench.json("explain", "j")["because"]
    assert said.startswith(f"It has been running on {os.uname().nodename} for ") and is_alive(pid)
    assert bench.json("explain", "k")["because"] == ["It waits for j (running)."]
    bench("stop", "j")
    until(lambda: not is_alive(pid))
    assert run.wait(60) == 3
    (attempt,) = bench.json("history")["attempts"]
    assert (attempt["site"], attempt["outcome"], attempt["reason"]) == ("cluster", "given back", "called off")
    assert "It is disabled" in bench.json("explain", "j")["because"][0] and bench.ledger["end"] == 0
    (bench.folder / "go").touch()
    bench("enable", "j")
    bench("run", "w.py", "--site", "cluster")
    assert (bench.ledger["begin"], bench.ledger["end"]) == (2, 1)


# --- several nodes ---------------------------------------------------------------------------------------------------


def test_a_job_of_several_nodes_runs_on_all_of_them_in_one_allocation(bench: QueueBench) -> None:
    say = "echo wide $SLURM_NODEID $SLURMD_NODENAME $SLURM_JOB_ID $SLURM_CPUS_PER_TASK >> ledger"
    bench.script(
        f"workflow.job('wide', {say!r}, nodes=2, cores=2)",
        "for n in range(6): workflow.job(f'j{n}', 'echo narrow $SLURM_JOB_ID >> ledger')",
    )
    bench("run", "w.py", "--site", "cluster")
    lines = [line.split() for line in bench.ledger.elements()]
    wide = [words for words in lines if words[0] == "wide"]
    assert sorted(words[1] for words in wide) == ["0", "1"]
    assert len({words[2] for words in wide}) == 2  # nodes
    assert len({words[3] for words in wide}) == 1  # one allocation ...
    assert {words[4] for words in wide} == {"2"}
    assert len(lines) == 8
    assert all(words[1] != wide[0][3] for words in lines if words[0] == "narrow")  # ... which is for nothing else
    store = bench.store()
    assert len(store.allocations.all()) <= 3


def test_an_allocation_of_several_nodes_does_not_wait_for_what_jobs_of_one_node_may_lead_to(bench: QueueBench) -> None:
    bench.script(
        "workflow.job('wide', 'true', nodes=2)",
        "workflow.job('narrow', 'echo begin >> ledger; until test -e go; do sleep 0.1; done')",
    )
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    store = bench.store()
    until(lambda: bench.json("status")["workflows"][0]["done"] == 1)
    until(lambda: [one.nodes for one in store.allocations.open("cluster")] == [1])
    (bench.folder / "go").touch()
    assert run.wait(60) == 0


def test_a_job_of_several_nodes_ends_everywhere_when_one_fails_and_has_failed(bench: QueueBench) -> None:
    command = "test $SLURM_NODEID = 0 && exit 4; sleep 600"
    bench.script(f"workflow.job('wide', {command!r}, nodes=2)")
    assert bench("run", "w.py", "--site", "cluster", code=3)
    (attempt,) = bench.json("history")["attempts"]
    assert attempt["exit_code"] not in (0, None)
    assert bench.json("logs", "wide")["logs"][0]["site"] == "cluster"


def test_a_job_of_several_nodes_is_refused_where_there_is_one(bench: QueueBench) -> None:
    bench.script("workflow.job('wide', 'true', nodes=2)")
    for words in ([], ["--site", "local"], ["--resource", "nodes=2"]):
        failed = bench("run", "w.py", *words, code=2)
        assert "node" in failed.stderr and "Traceback" not in failed.stderr
    assert (
        '"wide" runs on 2 nodes at once, which none of the sites of this run has' in bench("run", "w.py", code=2).stderr
    )


def old_python(folder: Path) -> Path:
    """Debian 11's Python 3.9, which runs among this computer's files: with its own C library."""
    made = subprocess.run([ROOT / "scripts/bare-root", "11"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    system = Path(made.stdout.strip())
    (loader,) = system.glob("usr/lib/*-linux-gnu/ld-2.*.so")
    program = folder / "python"
    words = [str(loader), "--library-path", str(loader.parent), str(system / "usr/bin/python3.9")]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    return program


def test_placeholders_of_python_3_9_run_jobs_of_one_node_and_of_several_and_give_them_back_when_told_to_end(
    bench: QueueBench,
) -> None:
    bench.set(python=str(old_python(bench.folder)))
    gate = "until test -e go; do sleep 0.1; done"
    old = r"tr '\0' '\n' < /proc/$PPID/cmdline | grep -c 'python3.9$'"
    bench.script(
        f"workflow.job('narrow', {f'echo begin $({old}) >> ledger; {gate}'!r})",
        f"workflow.job('wide', 'echo wide $SLURM_NODEID >> ledger; {gate}', nodes=2)",
    )
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin 1")  # its parent is the runner
    bench.wait_for("wide", 2)
    bench.cluster("scancel", "--full", "--signal=TERM", "--user=root")
    bench.wait_for("begin 1", 2)
    bench.wait_for("wide", 4)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger == {"begin 1": 2, "wide 0": 2, "wide 1": 2}
    found = Counter((one["job"], one["outcome"]) for one in bench.json("history")["attempts"])
    assert found == {(job, how): 1 for job in ("narrow", "wide") for how in ("given back", "done")}


def test_nothing_new_begins_in_allocations_after_a_failure_if_its_user_wants_that(bench: QueueBench) -> None:
    bench.set(allocations=1)
    command = "echo begin $HEADWAY_JOB >> ledger; sleep 1; test $HEADWAY_JOB != j0"
    bench.script(f"for n in range(12): workflow.job(f'j{{n}}', {command!r})")
    done = bench("run", "w.py", "--site", "cluster", "--fail-fast", code=3)
    assert "failed: j0 (exit code 1), log: cluster:" in done.stderr
    assert bench.ledger.total() <= 6
    bench("run", "w.py", "--site", "cluster", "--fail-fast", code=3)  # what has failed before is no new failure
    assert bench.ledger.total() == 12


def test_no_more_is_asked_for_than_the_site_allows_and_than_there_is_work(bench: QueueBench) -> None:
    bench.jobs(1, 1)
    bench("run", "w.py", "--site", "cluster")
    store = bench.store()
    assert len(store.allocations.all()) == 1
    bench.jobs(40, 0.2)
    bench("run", "w.py", "--site", "cluster", "--fresh", "--edited", "rerun")
    assert len(store.allocations.all()) <= 4


def test_no_option_or_variable_takes_its_name_from_an_allocation_which_would_be_asked_for_without_end(
    bench: QueueBench,
) -> None:
    bench.set(options='["--job-name=mine"]')
    bench.jobs(2, 1)
    run = bench.begin("run", "w.py", "--site", "cluster", SBATCH_JOB_NAME="other")
    assert run.wait(60) == 0, bench.logs()
    assert len(bench.store().allocations.all()) == 1
    bench.each_once(2)


def test_placeholders_that_cannot_start_are_not_asked_for_without_end_and_their_user_is_told_why(
    bench: QueueBench,
) -> None:
    bench.set(python="/no/python3")
    bench.jobs(6, 0.1)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.hears(run, "/no/python3: not found")
    bench.hears(run, "One at a time is asked for after 2 s.")
    assert len(bench.store().allocations.all()) <= 5
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 130
    bench.set(python=sys.executable)
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(6)


def test_an_allocation_whose_time_runs_out_gives_its_jobs_back(bench: QueueBench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(
        text.replace('"10m"', '"15s"').replace("allocations = 3", "allocations = 1")
    )
    bench.script(
        "workflow.job('long', 'echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger')"
    )
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)  # in the next allocation
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    reasons = [one["outcome"] for one in bench.json("history")["attempts"]]
    assert reasons[0] == "given back" and reasons[-1] == "done"
    assert bench.ledger["end"] == 1


def test_for_a_job_that_takes_longer_than_any_allocation_nothing_is_asked_and_its_user_is_told(
    bench: QueueBench,
) -> None:
    bench.set(time="30s")
    bench.script("workflow.job('long', 'true', seconds=60)", "workflow.job('short', 'true', seconds=1)")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.hears(run, "1 job is expected to take longer than an allocation of cluster lasts (30 s)")
    store = bench.store()
    until(lambda: store.allocations.all() and not store.allocations.open("cluster"))
    assert len(store.allocations.all()) == 1  # for the other one
    assert bench.json("status")["workflows"][0]["done"] == 1
    run.send_signal(signal.SIGINT)
    assert run.wait(60) in (3, 130)


def test_scancel_gives_jobs_back_with_the_reason_and_they_run_in_the_next_allocation(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    bench.cluster("scancel", "--full", "--signal=TERM", "--user=root")
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    first = bench.json("history")["attempts"][0]
    assert first["outcome"] == "given back" and "told to end" in json.dumps(first), first


def test_a_node_that_dies_with_its_placeholder_loses_nothing(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    bench.cluster("scancel", "--signal=KILL", "--full", "--user=root")
    for home in bench.folder.glob("state/headway/*/home-*"):
        if pid := runner_of(home):
            os.kill(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()


@pytest.mark.parametrize("point", ["allocation.asked", "allocation.submitted"])
def test_a_crash_while_asking_neither_forgets_an_allocation_nor_asks_twice(bench: QueueBench, point: str) -> None:
    """One job, and one allocation at once: whatever happens meanwhile, the queue is asked for one in all."""
    bench.set(allocations=1)
    bench.jobs(1, 0.1)
    first = bench.begin("run", "w.py", "--site", "cluster", HEADWAY_FAILPOINT=f"{point}:1")
    assert first.wait(60) == 1
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(1)
    store = bench.store()
    found = store.allocations.all()
    (ran,) = (one for one in found if one.began is not None)
    assert ever(bench) == [name_of(store.id, ran.id)], (found, bench.logs())  # Slurm keeps what has ended for an hour
    if point == "allocation.submitted":
        assert found == [ran]
    else:  # the queue never heard of the first one, which is not open for ever
        never, last = found
        assert (never.queue_id, never.state, last) == (None, AllocationState.ENDED, ran)
    until(lambda: not queued(bench))


def test_what_the_queue_has_under_our_name_and_the_store_does_not_know_is_cancelled_and_nothing_else(
    bench: QueueBench,
) -> None:
    bench.jobs(2, 0.1)
    bench("run", "w.py", "--site", "cluster")
    store = bench.store()
    ours, others = f"headway-{store.id}-999", "headway-0123456789abcdef-1"
    for name in (ours, others):
        bench.cluster("sbatch", "-J", name, "-t", "5", "-o", "/dev/null", "--wrap", "sleep 300")
    bench.jobs(3, 0.1)
    bench("run", "w.py", "--site", "cluster", "--fresh", "--edited", "rerun")
    until(lambda: ours not in bench.cluster("squeue", "-h", "-o", "%j").split())
    assert others in bench.cluster("squeue", "-h", "-o", "%j").split()


def test_when_headway_run_dies_nothing_new_begins_and_the_next_one_goes_on(bench: QueueBench) -> None:
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    run.kill()
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(12)


def test_when_the_sites_process_dies_placeholders_find_the_next_one(bench: QueueBench) -> None:
    bench.jobs(12, 0.7)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    os.kill(runner_of(bench.home), signal.SIGKILL)
    assert run.wait(60) == 1
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(12)


def test_what_slurm_refuses_is_told(bench: QueueBench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(f'{text}options = ["--partition=nowhere"]\n')
    bench.jobs(1, 0)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.hears(run, "Slurm refuses: sbatch: error: Batch job submission failed: Invalid partition name specified.")
    run.send_signal(signal.SIGINT)
    assert run.wait(60) in (3, 130)


# --- the door --------------------------------------------------------------------------------------------------------


def card(bench: QueueBench) -> dict[str, object]:
    """What the first allocation shows at the door."""
    (path,) = bench.folder.glob("state/headway/*/1.json")
    assert path.stat().st_mode & 0o077 == 0
    found: dict[str, object] = json.loads(path.read_text())
    return found


def answered(said: dict[str, object], **other: object) -> str:
    """What the door says to somebody with this card."""
    said = {**said, **other}
    ours, theirs = socket.socketpair()
    address = Address(
        *(said["hosts"], said["port"], said["fingerprint"], said["token"], said["allocation"], "somebody else")  # type: ignore[arg-type]
    )
    relay(address, theirs.detach())
    ours.settimeout(5)
    return ours.recv(1 << 16).decode()


def test_the_door_lets_nobody_in_who_is_not_the_placeholder_of_an_allocation(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    said = card(bench)
    assert "does not admit" in answered(said, token="wrong")
    assert "does not admit" in answered(said, token="")
    assert "does not admit" in answered(said)  # the right one, shown by another process
    assert "does not admit" in answered(said, allocation=2)
    assert "another certificate" in answered(said, fingerprint="00" * 32)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    plain = socket.create_connection((said["hosts"][0], said["port"]))  # type: ignore[index, arg-type]
    with pytest.raises(ssl.SSLError):
        context.wrap_socket(plain)
    (bench.folder / "go").touch()
    assert run.wait(60) == 0
    assert bench.ledger == {"begin": 1}
    secret = str(said["token"])
    shown = bench.cluster("squeue", "-h", "-t", "all", "-o", "%all") + bench.logs()
    assert secret not in shown
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in one.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue


@contextlib.contextmanager
def shown(said: dict[str, object], instance: str) -> Iterator[socket.socket]:
    """A connection of a process that shows this card at the door."""
    ours, theirs = socket.socketpair()
    address = Address(
        *(said["hosts"], said["port"], said["fingerprint"], said["token"], said["allocation"], instance)  # type: ignore[arg-type]
    )
    passing_on = threading.Thread(target=relay, args=(address, theirs.detach()))
    passing_on.start()
    try:
        yield ours
    finally:
        ours.close()
        passing_on.join(30)


def is_let_in(said: dict[str, object], instance: str) -> bool:
    """Whether the door waits for what this process has to say, instead of refusing it."""
    with shown(said, instance) as line:
        return not select.select([line], [], [], 2.0)[0]


def test_a_token_that_is_replayed_word_by_word_is_refused_while_its_placeholder_is_connected(bench: QueueBench) -> None:
    bench.set(options='["--hold"]')  # so that its placeholder is this test
    bench.jobs(1, 0)
    run = bench.begin("run", "w.py", "--site", "cluster")
    store = bench.store()
    until(lambda: [one.state for one in store.allocations.open("cluster")] == [AllocationState.QUEUED])
    said = card(bench)
    with shown(said, "first"):
        until(lambda: [one.state for one in store.allocations.open("cluster")] == [AllocationState.RUNNING])
        assert not is_let_in(said, "first")
        assert "showed the token of allocation 1 while its placeholder is here" in bench.logs()
    until(lambda: is_let_in(said, "first"))  # a connection that broke is made again
    assert not is_let_in(said, "second")
    run.send_signal(signal.SIGINT)
    assert run.wait(60) in (3, 130)


def test_the_door_is_on_loopback_alone_unless_the_site_says_otherwise(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    port = int(card(bench)["port"])  # type: ignore[call-overload]
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert [one for one in listening if int(one.partition(":")[2], 16) == port] == [f"0100007F:{port:04X}"]
    (bench.folder / "go").touch()
    assert run.wait(60) == 0


def test_slurmctld_may_be_killed_and_come_back(bench: QueueBench) -> None:
    bench.jobs(16, 0.5)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin", 2)
    os.kill(bench.cluster.daemon("slurmctld"), signal.SIGKILL)
    bench.wait_for("end", 6)
    bench.cluster.start()
    assert run.wait(120) == 0, bench.logs()
    bench.each_once(16)


# --- placeholders that are scripts -------------------------------------------------------------

HEAD = ("#SBATCH --time=5", "#SBATCH --output=/dev/null", "#SBATCH --no-requeue")


@pytest.fixture
def scripts(cluster: Cluster, tmp_path: Path) -> Iterator[ScriptBench]:
    found = ScriptBench(tmp_path, environment=cluster.environment)
    yield found
    cluster("scancel", "--user=root")
    found.close()
    until(lambda: not cluster("squeue", "-h").strip())


def test_placeholders_that_take_one_job_each_and_submit_themselves_again_run_a_workflow(
    cluster: Cluster, scripts: ScriptBench
) -> None:
    scripts.layers(3, 4, 0.2)
    words = in_queue(scripts, ["sbatch"], *HEAD)
    for _ in range(3):
        cluster(*words)
    until(lambda: scripts.counts() == {"done": 12}, 180)
    until(lambda: not cluster("squeue", "-h").strip(), 120)  # nothing is left to do: nobody comes again
    assert scripts.wrong() == [] and set(scripts.ledger.values()) == {1}
    callers = known(scripts)
    assert {sched for sched, _ in callers} == {"slurm"}
    assert len({number for _, number in callers}) == len(callers) == 12


def test_a_placeholder_that_is_gone_from_squeue_loses_its_job_and_one_that_is_there_keeps_it(
    cluster: Cluster, scripts: ScriptBench
) -> None:
    scripts.submit(f"mqsub -l A -c 'test -e {scripts.folder}/go || {{ {JOB.format(scripts.folder, 600)}; }}'")
    subprocess.run(in_queue(scripts, ["sbatch"], *HEAD), env=scripts.environment, check=True)
    until(lambda: scripts.begun("A"))
    caller = ("sched=slurm", "sched_id=999999", "submit_host=localhost", "host=here")
    asked = time.monotonic()
    while time.monotonic() < asked + 5:  # its lease is two seconds; squeue has it
        assert scripts.service("mqnextjob", *caller).returncode == 10
    (scripts.folder / "go").touch()
    kill_all(scripts.folder)
    until(lambda: scripts.service("mqnextjob", *caller).returncode == 0)
    first = scripts.asked("history")["attempts"][0]
    assert first["outcome"] == "given back" and "list of slurm" in first["reason"]


@pytest.mark.parametrize("name", ["slurm-scripts", "cluster"])
def test_the_crews_of_trellisdags_experiment_run_here(
    bench: QueueBench, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in bench.environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(bench.folder)
    run_by(place(name).crew, bench.folder)
