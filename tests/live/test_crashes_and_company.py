"""A runner in bad company: several clients, clients that vanish, no room on disk, jobs that run Headway themselves."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from headway.live.home.folder import Home
from headway.live.placeholder.spool import Spool
from headway.live.store import opened
from headway.model.messages import Finish, LeaseId, WorkflowId
from headway.model.states import State
from tests.live.ledger import Site, is_alive, kill, until
from tests.live.test_crashes import connections

HOLD = "while ! test -e go; do sleep 0.01; done"


def site_of(folder: Path, *lines: str) -> Site:
    site = Site(folder)
    site.workflow.write_text("\n".join(lines) + "\n")
    return site


def other(site: Site, *lines: str) -> Site:
    """Another workflow that shares the store of one."""
    folder = site.folder / "other"
    folder.mkdir()
    second = site_of(folder, *lines)
    second.home = site.home
    return second


def ended(process: subprocess.Popen[str], code: int = 0) -> str:
    _, talk = process.communicate(timeout=120)
    assert process.returncode == code, talk
    assert "Traceback" not in talk
    return talk


def runs(site: Site) -> list[tuple[Any, Any, Any]]:
    """Job, attempt, exit code."""
    site.settled()
    return [(name, number, code) for name, number, _, _, _, code, *_ in site.attempts()]


# --- several clients ------------------------------------------------------------------------------------------------


def test_two_runs_of_one_new_workflow_at_once_are_one(tmp_path: Path) -> None:
    site = Site(tmp_path)
    for process in [site.start() for _ in range(4)]:
        ended(process)
    assert site.violations() == []


def test_two_workflows_in_one_store_both_progress(tmp_path: Path) -> None:
    site = site_of(tmp_path, *(f"mqsub -l A{at} -c 'echo A >> ledger; sleep 0.02'" for at in range(5000)))
    second = other(site, *(f"mqsub -l B{at} -c 'echo B >> ../ledger; sleep 0.02'" for at in range(10)))
    first = site.start()
    until(site.ledger.exists)
    ended(second.start(None, "--store", str(site.home)))
    assert first.poll() is None, "the one that came later had to wait for the other"
    first.send_signal(signal.SIGINT)
    first.wait(60)
    assert "".join(site.ledger.read_text().split()).rstrip("A")[-1] == "B"


def test_a_wide_job_waits_for_room_that_another_workflow_has(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    second = other(site, "mqsub -l B -c 'touch ran' -attr cores=2")
    first = site.start()
    until((tmp_path / "begun").exists)
    waiting = second.start(None, "--store", str(site.home))
    until(lambda: len(connections(site.runner())) >= 3)
    (tmp_path / "go").touch()
    ended(first)
    ended(waiting)
    assert (second.folder / "ran").exists()


def test_one_of_two_clients_can_leave_and_the_other_goes_on(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    stays = site.start()
    until((tmp_path / "begun").exists)
    leaves = site.start()
    until(lambda: len(connections(site.runner())) >= 3)
    until(lambda: catches(leaves.pid, signal.SIGTERM))
    for number in (signal.SIGINT, signal.SIGTERM):
        leaves.send_signal(number)
    assert "another headway run goes on with it." in ended(leaves, 3)
    (tmp_path / "go").touch()
    ended(stays)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal."""
    mask = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


def test_retry_reaches_a_runner_that_had_nothing_to_do(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -l F -c 'echo >> tries; test -e better'")
    first = site.start()
    until(lambda: (tmp_path / "begun").exists() and (tmp_path / "tries").exists())
    until(lambda: ("F", 1, 1) in [(name, number, code) for name, number, _, _, _, code, *_ in site.attempts()])
    (tmp_path / "better").touch()
    second = site.start(None, "--retry")
    until(lambda: len((tmp_path / "tries").read_text().splitlines()) == 2)
    (tmp_path / "go").touch()
    ended(first)
    ended(second)
    assert sorted(runs(site)) == [("A", 1, 0), ("F", 1, 1), ("F", 2, 0)]


def test_quick_runs_one_after_the_other_always_find_a_runner(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'echo A >> ledger'")
    second = other(site, "mqsub -l B -c 'echo B >> ../ledger'")
    for _ in range(25):
        pair = [site.start(None, "--fresh"), second.start(None, "--fresh", "--store", str(site.home))]
        for process in pair:
            ended(process)
    assert sorted(site.ledger.read_text().split()) == ["A"] * 25 + ["B"] * 25


# --- clients that vanish --------------------------------------------------------------------------------------------


def test_clients_that_vanish_or_talk_nonsense_do_no_harm(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "begun").exists)
    hello = b'{"workflow": 1, "slots": 2, "environment": {}}\n'
    said = [b"", b"{", b"nonsense\n", b"[1]\n", b'{"workflow": "x"}\n', b'{"workflow": 1}\n', hello, hello * 50]
    for words in said * 5:
        line = Home(site.home).connect()
        assert line is not None
        line.sendall(words)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
        line.close()
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (signal.SIGHUP, -signal.SIGHUP)])
def test_a_run_that_is_told_to_go_lets_its_jobs_end(tmp_path: Path, number: int, code: int) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; exit 5'", "mqsub -l B -c true -attr cores=2")
    process = site.start()
    until((tmp_path / "begun").exists)
    until(lambda: catches(process.pid, signal.SIGTERM))
    process.send_signal(number)
    if code < 0:
        ended(process, code)
    else:
        assert process.stderr is not None and "stopping" in process.stderr.readline()
    (tmp_path / "go").touch()
    process.communicate()
    assert process.returncode == code
    assert runs(site) == [("A", 1, 5)]


def test_ctrl_c_twice_gives_back_what_was_prefetched(tmp_path: Path) -> None:
    site = site_of(tmp_path, *(f"mqsub -l J{at} -c 'echo >> ledger'" for at in range(600)))
    process = site.start()
    until(site.ledger.exists)
    until(lambda: catches(process.pid, signal.SIGTERM))
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate()
    site.settled()
    store = opened(site.home / "store.db")
    assert State.RUNNING not in store.progress.counts(WorkflowId(1))
    store.close()
    site.finish()


def test_what_the_starter_had_open_is_not_kept_open(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    out, into = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(site.workflow)], pass_fds=[into], stderr=subprocess.DEVNULL
    )
    os.close(into)
    until((tmp_path / "begun").exists)
    process.kill()
    process.wait()
    assert os.read(out, 1) == b""
    os.close(out)
    assert site.runner()
    (tmp_path / "go").touch()
    site.finish()


# --- no room, no right ----------------------------------------------------------------------------------------------


def on_a_full_disk(site: Site) -> tuple[subprocess.Popen[str], int]:
    """A run whose job A has ended when there was no room to record it; and its runner."""
    process = site.start()
    until((site.folder / "begun").exists)
    runner = site.runner()
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    (site.folder / "go").touch()
    assert process.stderr is not None and "waiting: " in process.stderr.readline()
    return process, runner


def test_a_full_disk_loses_no_end(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; touch over'", "mqsub -deps A -l B -c 'touch b'")
    process, runner = on_a_full_disk(site)
    assert process.stderr is not None
    assert (tmp_path / "over").exists() and not (tmp_path / "b").exists()
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert "going on" in process.stderr.readline()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


def test_a_runner_without_room_stays_until_it_has_recorded_what_it_knows(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; exit 4'")
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    (tmp_path / "go").touch()
    assert process.stderr is not None and "waiting: " in process.stderr.readline()
    process.kill()
    process.communicate()
    assert is_alive(runner)
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert runs(site) == [("A", 1, 4)]


def test_a_job_that_there_is_no_handle_for_waits_until_there_is(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c 'touch b'")
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    soft, hard = resource.prlimit(runner, resource.RLIMIT_NOFILE)
    resource.prlimit(runner, resource.RLIMIT_NOFILE, (3, hard))
    (tmp_path / "go").touch()
    assert process.stderr is not None and "waiting: a job cannot be" in process.stderr.readline()
    resource.prlimit(runner, resource.RLIMIT_NOFILE, (soft, hard))
    assert "going on" in process.stderr.readline()
    ended(process)
    assert (tmp_path / "b").exists() and runs(site) == [("A", 1, 0), ("B", 1, 0)]


def test_more_slots_than_there_are_handles_for_take_no_job_back(tmp_path: Path) -> None:
    quick = (f"mqsub -l Q{at} -c true" for at in range(300))
    slow = (f"mqsub -l S{at} -c 'echo {at} >> begun; sleep 0.2'" for at in range(150))
    site = site_of(tmp_path, *quick, *slow)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        process = site.start(None, "--slots", "1000")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "waiting: " not in ended(process)
    assert site.talk() == ""
    assert len((tmp_path / "begun").read_text().split()) == 150


def test_a_runner_without_room_does_nothing_while_a_retry_is_due(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'test -e go'", f"mqsub -l B -c 'touch begun; {HOLD}'")
    process = site.start(None, "--retries", "9", "--backoff", "0.5s")
    until((tmp_path / "begun").exists)
    runner = site.runner()
    until(lambda: len(site.attempts()) > 1)
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    (tmp_path / "go").touch()
    talk = process.stderr
    assert talk is not None and any("waiting: " in line for line in talk)
    time.sleep(0.5)
    before = ticks(runner)
    time.sleep(1)
    assert ticks(runner) - before <= 20
    resource.prlimit(runner, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    ended(process)


def test_a_spool_without_room_keeps_whole_lines_only(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add(Finish(LeaseId(1), 0))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    written = (tmp_path / "spool").read_bytes().index(b"\0")
    resource.setrlimit(resource.RLIMIT_FSIZE, (written + 10, before[1]))
    try:
        with pytest.raises(OSError):
            spool.add(Finish(LeaseId(2), 0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [finish.lease for finish in Spool(tmp_path / "spool").replay()] == [1]
    spool.add(Finish(LeaseId(3), 0))
    assert [finish.lease for finish in spool.replay()] == [1, 2, 3]
    with (tmp_path / "spool").open("ab") as stream:
        stream.write(b'rubbish\n{"lease": 4, "exit_code": 0}\n{"lease": 5, "ex')
    assert [finish.lease for finish in Spool(tmp_path / "spool").replay()] == [1, 2, 3, 4]


def test_a_folder_that_cannot_be_written_is_refused_with_a_way_out(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c true")
    ended(site.start())
    site.home.chmod(0o555)
    argv = [sys.executable, "-m", "headway", "run", str(site.workflow)]
    if os.geteuid() == 0:  # who may write everywhere, but not where nobody may
        mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        argv = ["unshare", "-m", "sh", "-c", mount, str(site.home), *argv]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and ".headway: cannot be written. Choose another place with --store" in done.stderr


def test_a_store_that_another_program_holds_is_waited_for(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; touch over'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "begun").exists)
    db = sqlite3.connect(site.home / "store.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    (tmp_path / "go").touch()
    until((tmp_path / "over").exists)
    second = site.start()
    db.execute("ROLLBACK")
    db.close()
    ended(process)
    ended(second)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


def test_logs_that_were_deleted_are_made_anew(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        "mqsub -l A -c 'rm -r .headway/logs'",
        "mqsub -deps A -l B -c 'echo b'",
        "mqsub -deps B -l C -c 'echo; echo c'",
    )
    ended(site.start())
    assert [path.read_text() for path in sorted((site.home / "logs").rglob("*.log"))] == ["b\n", "\nc\n"]


def test_the_runners_own_log_stays_small(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c true")
    site.home.mkdir()
    (site.home / "runner.log").write_text("something was wrong\n" * 10_000)
    ended(site.start())
    assert site.talk() == ""


# --- names and places -----------------------------------------------------------------------------------------------


def test_a_host_that_was_renamed_recovers_its_jobs(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    kill(site.runner())
    ended(process, 1)
    db = sqlite3.connect(site.home / "store.db")
    db.execute("UPDATE placeholders SET host = 'its-old-name'")
    db.commit()
    db.close()
    (tmp_path / "go").touch()
    site.finish()
    assert runs(site) == [("A", 1, 0)]


def test_a_folder_may_lie_deep(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("deeper" * 20)
    folder.mkdir(parents=True)
    site_of(folder, "mqsub -l A -c true").finish()


@pytest.mark.parametrize("store", ["", "--store elsewhere"])
def test_a_job_may_run_headway_even_on_the_only_slot(tmp_path: Path, store: str) -> None:
    (tmp_path / "inner.sh").write_text("mqsub -l I1 -c 'touch i1'\nmqsub -deps I1 -l I2 -c 'touch i2'\n")
    headway = f"{sys.executable} -m headway"
    site = site_of(tmp_path, f"mqsub -l A -c '{headway} run inner.sh --slots 1 {store}'", "mqsub -deps A -l B -c true")
    ended(site.start(None, "--slots", "1"))
    assert (tmp_path / "i2").exists()


def test_a_run_works_where_dead_children_are_ignored(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'exit 6'")
    done = subprocess.run(
        ["/bin/sh", "-c", f"trap '' CHLD; exec {sys.executable} -m headway run {site.workflow}"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert runs(site) == [("A", 1, 6)]


# --- nothing left, nothing wasted -----------------------------------------------------------------------------------


def test_a_time_limit_reaches_what_a_job_started_in_another_session(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'setsid -w sh -c \"echo \\$\\$ > pid; exec sleep 1000\"' -attr time=0.5")
    ended(site.start(), 3)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_after_many_jobs_no_handle_and_no_process_is_left(tmp_path: Path) -> None:
    names = [f"J{at}" for at in range(200)]
    site = site_of(
        tmp_path,
        f"mqsub -l A -c 'touch begun; {HOLD}'",
        *(f"mqsub -deps A -l {name} -c true" for name in names),
        f"mqsub -deps '{' '.join(names)}' -l Z -c 'touch last; while ! test -e end; do sleep 0.01; done'",
    )
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    until(lambda: len(connections(runner)) == 2)
    before = len(list(Path(f"/proc/{runner}/fd").iterdir()))
    (tmp_path / "go").touch()
    until((tmp_path / "last").exists)
    outputs = 3  # kept open: the second slot's, and one for each job that begins while the last one is written down
    assert len(list(Path(f"/proc/{runner}/fd").iterdir())) <= before + outputs
    assert len(Path(f"/proc/{runner}/task/{runner}/children").read_text().split()) == 1
    (tmp_path / "end").touch()
    ended(process)
    until(lambda: not is_alive(runner))


def test_an_idle_runner_does_nothing(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    before = ticks(runner)
    time.sleep(1)
    assert ticks(runner) - before <= 2
    (tmp_path / "go").touch()
    ended(process)


def ticks(pid: int) -> int:
    """CPU time of a process, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_a_runner_that_is_told_to_end_ends_its_jobs_and_records_it(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'echo $$ > pid; test -e go || sleep 1000'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "pid").exists)
    until((tmp_path / "pid").read_text)
    os.kill(site.runner(), signal.SIGTERM)
    ended(process, 3)
    assert runs(site) == [("A", 1, None)]
    assert not is_alive(int((tmp_path / "pid").read_text()))
    (tmp_path / "go").touch()
    site.finish()
    assert runs(site) == [("A", 1, None), ("A", 2, 0), ("B", 1, 0)]
