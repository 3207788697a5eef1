"""What must not stop a runner, or lose what it knows: full disks, foreign files, odd limits, a clock set back."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headway.live.home.folder import Home
from headway.live.placeholder.spool import Spool
from headway.model.messages import Finish, LeaseId
from tests.live.ledger import Site, kill, until
from tests.live.test_adoption import orphaned, stop_at_once
from tests.live.test_crashes_and_company import HOLD, ended, on_a_full_disk, runs, site_of


def test_a_runner_that_is_killed_before_there_was_room_loses_no_end(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; echo A >> over'", "mqsub -deps A -l B -c 'touch b'")
    process, runner = on_a_full_disk(site)
    kill(runner)
    ended(process, 1)
    site.finish()
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)] and (tmp_path / "over").read_text() == "A\n"


def test_a_spool_has_its_room_before_the_disk_is_full(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    most = (tmp_path / "spool").stat()
    assert most.st_size == 1 << 17 and most.st_blocks * 512 >= most.st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most.st_size, before[1]))
    try:
        for number in range(1, 500):
            spool.add(Finish(LeaseId(number), 0, 1794798507.8065617, 1794798508.8065617, 1 << 40, 9999.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(list(Spool(tmp_path / "spool").replay())) == 499


def test_an_end_that_is_spooled_and_recorded_is_not_refused_when_it_is_replayed(tmp_path: Path) -> None:
    site = Site(tmp_path)
    assert site.fail_at("exchange.after:3")
    site.finish()
    store = site.store()
    assert store.history.events() == []
    store.close()


@pytest.mark.parametrize(
    "line",
    [
        "rubbish",
        "[1, 2]",
        '{"lease": "x", "exit_code": 0}',
        '{"lease": 1, "exit_code": []}',
        '{"lease": 99999999999999999999999, "exit_code": 0}',
        '{"lease": 1, "exit_code": 0, "ended": 1e999}',
        '{"lease": 1, "exit_code": 0, "cores": 4}',
        '{"lease": 1, "exit_code": 0, "reason": 7}',
        "[" * 100_000,
    ],
)
def test_a_line_of_the_spool_that_makes_no_sense_stops_nobody(tmp_path: Path, line: str) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch a'")
    site.home.mkdir()
    (site.home / "spool").write_text(f'{line}\n{{"lease": 5, "exit_code": 0}}\n')
    said = f"{site.home / 'spool'} has lines that make no sense. A copy is kept as spool.set-aside-1."
    assert said in ended(site.start()) and said in site.talk()
    assert (site.home / "spool.set-aside-1").read_text().startswith(line) and runs(site) == [("A", 1, 0)]


@pytest.mark.parametrize("name", ["spool", "roster", "lock"])
def test_a_folder_in_the_place_of_one_of_our_files_stops_nobody(tmp_path: Path, name: str) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch a'")
    (site.home / name).mkdir(parents=True)
    talk = ended(site.start())
    assert runs(site) == [("A", 1, 0)] and (site.home / f"{name}.set-aside-1").is_dir()
    said = f"{site.home / name} is a folder. It is kept as {name}.set-aside-1."
    assert said in site.talk() and f"warning: {said}" in talk


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_no_socket_in_the_place_of_the_runners_socket_stops_nobody(tmp_path: Path, kind: str) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch a'")
    site.home.mkdir(0o700)
    path = site.home / "runner.sock"
    if kind == "folder":
        path.mkdir()
    elif kind == "file":
        path.write_text("notes")
    else:
        path.symlink_to("elsewhere")
    said = f"{path} is no socket. It is kept as runner.sock.set-aside-1."
    assert f"warning: {said}" in ended(site.start()) and said in site.talk()
    assert runs(site) == [("A", 1, 0)] and os.path.lexists(site.home / "runner.sock.set-aside-1")


def test_a_folder_that_takes_the_place_of_the_socket_while_a_runner_works_is_left_alone(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    (site.home / "runner.sock").unlink()
    (site.home / "runner.sock").mkdir()
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0)] and "Traceback" not in site.talk()
    assert (site.home / "runner.sock").is_dir()


@pytest.mark.parametrize("content", [b"rubbish", b"x" * 5000, bytes(200) + b"\xff" * 300_000])
def test_a_roster_that_makes_no_sense_stops_nobody(tmp_path: Path, content: bytes) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "begun").exists)
    kill(site.runner())
    ended(process, 1)
    (site.home / "roster").unlink()
    (site.home / "roster").write_bytes(content)
    (tmp_path / "go").touch()
    assert "roster makes no sense. It is kept as roster.set-aside-1." in ended(site.start())
    assert runs(site)[-1] == ("B", 1, 0) and (site.home / "roster.set-aside-1").read_bytes().startswith(content)


def recorded(site: Site) -> list[tuple[Any, Any, Any]]:
    """Job, attempt, exit code, while a runner works."""
    return [(name, number, code) for name, number, _, _, _, code, *_ in site.attempts()]


def listens(site: Site) -> bool:
    """Whether a runner has taken over: a socket that a dead one left refuses."""
    line = Home(site.home, to_look=True).connect()
    if line is not None:
        line.close()
    return line is not None


@pytest.mark.parametrize("by", ["", "folder", "file"])
def test_a_roster_that_is_lost_while_jobs_run_is_told_and_written_again(tmp_path: Path, by: str) -> None:
    site = site_of(
        tmp_path,
        f"mqsub -l A -c 'echo >> tries; touch begun; {HOLD}; exit 5'",
        "mqsub -l B -c 'until test -e lost; do sleep 0.01; done'",
    )
    process = site.start()
    until((tmp_path / "begun").exists)
    roster = site.home / "roster"
    roster.unlink()
    if by:
        roster.mkdir() if by == "folder" else roster.write_text("x")
    (tmp_path / "lost").touch()  # B ends, and the runner sees its store
    said = f"{roster} was {'replaced' if by else 'deleted'} while jobs ran."
    said += " It is kept as roster.set-aside-1." if by else ""
    said += " The runner has written it again: nothing is lost."
    until(lambda: f"headway: {said}" in site.talk() and ("B", 1, 0) in recorded(site))
    kill(site.runner())  # A is known to the new roster: its keeper notes how it ends
    assert f"warning: {said}" in ended(process, 1)
    (tmp_path / "go").touch()
    ended(site.start(), 3)
    assert runs(site) == [("A", 1, 5), ("B", 1, 0)] and (tmp_path / "tries").read_text() == "\n"


@pytest.mark.parametrize("by", ["", "folder", "file"])
def test_a_spool_that_is_lost_while_jobs_run_is_told_and_written_again(tmp_path: Path, by: str) -> None:
    site = site_of(
        tmp_path,
        f"mqsub -l A -c 'echo >> tries; touch begun; {HOLD}'",
        "mqsub -l B -c 'until test -e lost; do sleep 0.01; done'",
    )
    once = {"HEADWAY_FAILPOINT": "reap.after-spool:2", "HEADWAY_FAILPOINT_ONCE": str(tmp_path / "killed")}
    process = site.start(once)  # the runner dies when only its spool knows that A has ended
    until((tmp_path / "begun").exists)
    spool = site.home / "spool"
    spool.unlink()
    if by:
        spool.mkdir() if by == "folder" else spool.write_text("x")
    (tmp_path / "lost").touch()  # B ends, and the runner sees its store
    said = f"{spool} was {'replaced' if by else 'deleted'} while jobs ran."
    said += " It is kept as spool.set-aside-1." if by else ""
    said += " The runner has written it again: nothing is lost."
    until(lambda: f"headway: {said}" in site.talk() and ("B", 1, 0) in recorded(site))
    (tmp_path / "go").touch()
    assert f"warning: {said}" in ended(process, 1) and (tmp_path / "killed").exists()
    ended(site.start())
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)] and (tmp_path / "tries").read_text() == "\n"


def test_the_keeper_of_an_earlier_runner_finds_the_roster_that_was_written_again(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; exit 5'", "mqsub -l B -c 'touch b; sleep 1000'")
    orphaned(site, "begun", "b")
    process = site.start({"HEADWAY_SILENCE": "1"})  # it sees its store so much more often
    until(lambda: listens(site))
    (site.home / "roster").unlink()
    until(lambda: "was deleted while jobs ran" in site.talk())
    (tmp_path / "go").touch()
    until(lambda: ("A", 1, 5) in recorded(site))
    ((memory, cpu),) = [(memory, cpu) for name, *_, memory, cpu, _ in site.attempts() if name == "A"]
    assert memory > 100_000 and cpu > 0  # which only its keeper can know
    stop_at_once(process)
    ended(process, 3)


def test_a_roster_that_cannot_be_written_again_is_told_once_and_the_run_goes_on(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        f"mqsub -l A -c 'touch begun; {HOLD}'",
        *(f"mqsub -deps A -l B{at} -c true" for at in range(9)),
    )
    process = site.start()
    until((tmp_path / "begun").exists)
    (site.home / ".roster").mkdir()  # where a new one is made
    (site.home / "roster").unlink()
    (tmp_path / "go").touch()
    talk = ended(process)
    said = f"warning: {site.home / 'roster'} was deleted while jobs ran. It cannot be written again: Is a directory."
    assert talk.count(said) == 1 and "should its runner die, jobs that are running then are started again." in talk
    assert [code for *_, code in runs(site)] == [0] * 10


def test_too_few_handles_are_an_error_at_the_start(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch a'")
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n 16; exec {sys.executable} -m headway run {site.workflow}"],
        capture_output=True,
        text=True,
        check=False,
    )
    said = "only 16 open files are allowed here; running jobs takes 40. Allow more: ulimit -n 40"
    assert done.returncode == 1 and said in done.stderr
    assert not (tmp_path / "a").exists()


def test_as_few_handles_as_are_needed_are_enough(tmp_path: Path) -> None:
    site = site_of(tmp_path, *(f"mqsub -l J{at} -c 'echo {at} >> begun; sleep 0.02; echo said'" for at in range(20)))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    try:
        process = site.start(None, "--slots", "8")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "waiting: " not in ended(process)
    assert len((tmp_path / "begun").read_text().split()) == 20


@pytest.mark.parametrize("request_line", ["request_gpus = 0", "request_cpus = 0", "request_memory = 0"])
def test_a_request_of_nothing_is_granted(tmp_path: Path, request_line: str) -> None:
    site = Site(tmp_path)
    site.workflow = tmp_path / "w.dag"
    (tmp_path / "w.sub").write_text(f"executable = /bin/true\n{request_line}\nqueue\n")
    site.workflow.write_text("JOB A w.sub\nJOB B w.sub\nPARENT A CHILD B\n")
    ended(site.start())
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


def test_a_clock_that_is_set_back_keeps_no_retry_waiting(tmp_path: Path) -> None:
    # A clock that shows an hour less once a file is there: what an administrator does with date.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\n"
        "real = time.time\n"
        f"time.time = lambda: real() - (3600 if os.path.exists({str(tmp_path / 'back')!r}) else 0)\n"
    )
    site = site_of(tmp_path, "mqsub -l A -c 'echo >> tries; test -e back && test $(wc -l < tries) -gt 2'")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = site.start({"PYTHONPATH": path}, "--retries", "9", "--backoff", "1s")
    until(lambda: (tmp_path / "tries").exists() and len(site.attempts()) and site.attempts()[0][5] == 1)
    (tmp_path / "back").touch()
    ended(process)
    assert [code for *_, code in runs(site)] == [1, 1, 0]


def test_a_runner_that_cannot_even_say_why_is_out_of_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is full from the beginning its log stays empty, and the client said nothing after the colon."""
    home = Home(tmp_path / ".headway")
    assert home.last_words() == ""
    full = SimpleNamespace(f_bavail=3, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    assert home.last_words() == "there is no room left on its disk."
