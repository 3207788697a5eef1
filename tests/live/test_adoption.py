"""The runner dies and its jobs do not: what goes on is taken over, and what ends meanwhile is recorded as it ended."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.live.ledger import Site, is_alive, keeper_of, kill, until
from tests.live.test_crashes_and_company import HOLD, catches, ended, runs, site_of


def orphaned(site: Site, *begun: str, slots: int = 4, words: tuple[str, ...] = ()) -> None:
    """A run whose runner is killed once some files are there."""
    process = site.start(None, "--slots", str(slots), *words)
    until(lambda: all((site.folder / name).exists() for name in begun))
    kill(site.runner())
    ended(process, 1)


def attempts(site: Site) -> dict[Any, tuple[Any, ...]]:
    """Started, ended, exit code, memory, CPU time, reason; of the only attempt at each job."""
    site.settled()
    found = site.attempts()
    assert [number for _, number, *_ in found] == [1] * len(found)
    return {name: tuple(rest) for name, _, _, *rest in found}


def test_jobs_that_end_while_no_runner_is_there_are_recorded_as_they_really_ended(tmp_path: Path) -> None:
    lines = {"good": "exit 0", "bad": "exit 7", "killed": "kill -SEGV $$", "high": "exit 139"}
    site = site_of(
        tmp_path, *(f"mqsub -l {name} -c 'touch {name}; {HOLD}; touch {name}.over; {do}'" for name, do in lines.items())
    )
    orphaned(site, *lines)
    gone = time.time()
    (tmp_path / "go").touch()
    until(lambda: all((tmp_path / f"{name}.over").exists() for name in lines))
    over = time.time()
    ended(site.start(), 3)
    found = attempts(site)
    assert {name: code for name, (_, _, code, *_) in found.items()} == {
        "good": 0,
        "bad": 7,
        "killed": -signal.SIGSEGV,
        "high": 139,
    }
    for began, end, _, memory, cpu, _ in found.values():
        assert began < gone < end < over + 1 and memory > 100_000 and cpu > 0


def test_a_job_that_still_runs_is_taken_over_and_its_output_is_its_log(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'echo one; touch begun; {HOLD}; echo two'", "mqsub -deps A -l B -c true")
    orphaned(site, "begun")
    process = site.start()
    until(site.runner)
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]
    assert [log.read_text() for log in (site.home / "logs").rglob("*.log")] == ["one\ntwo\n"]


def test_a_job_survives_two_runners(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}; exit 6'", "mqsub -l B -c 'touch b; sleep 1000'")
    orphaned(site, "begun", "b")
    for _ in range(2):
        process = site.start()
        until(lambda: adopted(site) == ["A", "B"])
        kill(site.runner())
        ended(process, 1)
    (tmp_path / "go").touch()
    process = site.start()
    until(lambda: catches(process.pid, signal.SIGTERM))
    until(lambda: ("A", 1, 6) in [(name, number, code) for name, number, _, _, _, code, *_ in site.attempts()])
    stop_at_once(process)
    ended(process, 3)
    assert runs(site) == [("A", 1, 6), ("B", 1, None)]


def stop_at_once(process: subprocess.Popen[str]) -> None:
    """Asks a run twice to stop."""
    assert process.stderr is not None
    for answer in ("stopping", "ending jobs"):
        process.send_signal(signal.SIGTERM)
        while not (line := process.stderr.readline()).startswith(answer):
            assert line


def adopted(site: Site) -> list[str]:
    """The jobs that the present placeholder has."""
    db = sqlite3.connect(site.home / "store.db")
    try:
        found = db.execute(
            "SELECT s.name FROM jobs j JOIN attempts a ON a.id = j.lease JOIN specs s USING (workflow, job)"
            " WHERE j.state = 2 AND a.placeholder = (SELECT MAX(id) FROM placeholders) ORDER BY s.name"
        ).fetchall()
    finally:
        db.close()
    runner = site.runner()
    return [name for (name,) in found] if runner and (site.home / "runner.sock").exists() else []


def test_a_job_that_was_taken_over_is_ended_when_its_user_wants_it(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'echo $$ > begun; sleep 1000'")
    orphaned(site, "begun")
    process = site.start()
    until(lambda: catches(process.pid, signal.SIGTERM) and adopted(site) == ["A"])
    stop_at_once(process)
    ended(process, 3)
    assert runs(site) == [("A", 1, None)]
    assert not is_alive(int((tmp_path / "begun").read_text()))


def test_a_time_limit_counts_from_the_start_whoever_is_the_runner(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'touch begun; sleep 1000' -attr time=1.5")
    orphaned(site, "begun")
    ended(site.start(), 3)
    began, end, code, *_, reason = attempts(site)["A"]
    assert (code, reason) == (-signal.SIGTERM, "time limit") and 1.4 < end - began < 30


def test_a_job_that_was_told_to_end_when_its_runner_died_does_not_count_as_failed(tmp_path: Path) -> None:
    site = site_of(
        tmp_path, "mqsub -l A -c 'trap \"touch told\" TERM; touch begun; while ! test -e go; do sleep 0.01; done'"
    )
    process = site.start()
    until((tmp_path / "begun").exists)
    until(lambda: catches(process.pid, signal.SIGTERM))
    stop_at_once(process)
    until((tmp_path / "told").exists)
    kill(site.runner())
    ended(process, 1)
    (tmp_path / "go").touch()
    ended(site.start())
    assert runs(site) == [("A", 1, None), ("A", 2, 0)]


def test_a_job_that_was_stopped_while_nobody_was_there_is_ended(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'echo $$ > begun; test -e go || sleep 1000'")
    orphaned(site, "begun")
    headway = [sys.executable, "-m", "headway"]
    subprocess.run([*headway, "stop", "A", "--store", str(site.home)], check=True, capture_output=True)
    (tmp_path / "go").touch()
    first = int((tmp_path / "begun").read_text())
    process = site.start()
    until(lambda: not is_alive(first))
    process.communicate(timeout=60)
    assert runs(site)[0] == ("A", 1, None)


def test_a_job_that_the_store_has_given_to_others_is_ended_not_taken_over(tmp_path: Path) -> None:
    site = site_of(tmp_path, "mqsub -l A -c 'echo $$ >> begun; test -e go || sleep 1000'")
    orphaned(site, "begun")
    db = sqlite3.connect(site.home / "store.db")
    db.execute("UPDATE jobs SET state = 1, lease = NULL")
    db.commit()
    db.close()
    (tmp_path / "go").touch()
    site.finish()
    first, _ = (int(line) for line in (tmp_path / "begun").read_text().split())
    assert not is_alive(first)


def test_a_run_inside_a_job_that_lost_its_runner_is_no_failure_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "inner.sh").write_text(f"mqsub -l I -c 'echo I >> inner; {HOLD}'\n")
    headway = f"{sys.executable} -m headway"
    site = site_of(
        tmp_path, f"mqsub -l A -c '{headway} run inner.sh --slots 1 || exit 8'", "mqsub -deps A -l B -c true"
    )
    orphaned(site, "inner")
    (tmp_path / "go").touch()
    site.finish()
    assert (tmp_path / "inner").read_text() == "I\n"
    assert runs(site) == [("A", 1, None), ("A", 2, 0), ("B", 1, 0)]


def test_a_job_that_left_something_in_its_process_group_leaves_nothing_though_no_runner_is_there(
    tmp_path: Path,
) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'sleep 1000 & echo $! > left; touch begun; {HOLD}'")
    orphaned(site, "begun")
    (tmp_path / "go").touch()
    until(lambda: not is_alive(int((tmp_path / "left").read_text())))
    site.finish()
    assert runs(site) == [("A", 1, 0)]


def test_the_keeper_goes_when_its_runner_has_gone(tmp_path: Path) -> None:
    daemon = 'setsid -f sh -c "echo \\$\\$ > daemon; exec sleep 1000"'
    site = site_of(tmp_path, f"mqsub -l A -c '{daemon}; touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    keeper = keeper_of(site.runner())
    assert os.getpgid(keeper) != os.getpgid(site.runner())
    (tmp_path / "go").touch()
    ended(process)
    until(lambda: not is_alive(keeper))
    until((tmp_path / "daemon").read_text)
    kill(int((tmp_path / "daemon").read_text()))


def test_a_keeper_of_dead_jobs_goes_too(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    keeper = keeper_of(site.runner())
    kill(site.runner())
    ended(process, 1)
    assert is_alive(keeper)
    (tmp_path / "go").touch()
    until(lambda: not is_alive(keeper))
    site.finish()
    assert runs(site) == [("A", 1, 0)]


def test_if_the_keeper_dies_too_nothing_runs_beside_itself(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'echo $$ >> begun; {HOLD}'")
    process = site.start()
    until(lambda: (tmp_path / "begun").exists() and (tmp_path / "begun").read_text())
    runner = site.runner()
    kill(keeper_of(runner))
    kill(runner)
    ended(process, 1)
    process = site.start()
    until(site.runner)
    (tmp_path / "go").touch()
    ended(process)
    *before, (name, number, code) = runs(site)
    assert (name, code) == ("A", 0) and before == [("A", 1, None)][: number - 1]
    assert len((tmp_path / "begun").read_text().split()) == number
