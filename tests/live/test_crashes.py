"""SIGKILL, at random moments and at chosen places: nothing that was completed is lost, nothing runs beside itself."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from tests.live.ledger import SLOTS, Site, is_alive, kill, until
from tests.live.ledger_of_dag import DagSite

# Where a process dies, and at which passage: in `headway run` in the first line, then in the runner, or in either.
POINTS = (
    *("store.create:1", "submit.before:1", "submit.after:1", "hello.before:1", "hello.after:1"),
    *("spawn.before:3", "spawn.unnoted:3", "spawn.after:3", "reap.before-spool:2", "reap.after-spool:2"),
    *("commit.before:1", "commit.after:1", "commit.before:5", "commit.after:5"),
    *("exchange.before:3", "exchange.after:3", "leave.hidden:1", "leave.left:1"),
)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_fail_point_loses_nothing(tmp_path: Path, point: str) -> None:
    site = Site(tmp_path)
    assert site.fail_at(point), f"nobody came by {point}"
    site.finish()
    assert site.violations() == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("reap.after-spool:3", "recover.after-replay:1"),
        ("spawn.before:3", "recover.before-requeue:1"),
        ("reap.before-spool:3", "recover.after-adoption:1"),
    ],
)
def test_a_kill_during_recovery_loses_nothing(tmp_path: Path, first: str, second: str) -> None:
    site = Site(tmp_path)
    assert site.fail_at(first)
    assert site.fail_at(second)
    site.finish()
    assert site.violations() == []


@pytest.mark.parametrize("victims", ["client", "runner", "both", "all"])
def test_kills_at_random_moments_lose_nothing(tmp_path: Path, victims: str) -> None:
    site, rng = Site(tmp_path), random.Random(victims)
    for _ in range(4):
        site.crash(rng, victims)
    site.finish()
    assert site.violations() == []


@pytest.mark.parametrize("victims", ["runner", "both"])
def test_no_job_runs_twice_however_often_its_runner_is_killed(tmp_path: Path, victims: str) -> None:
    site, rng = Site(tmp_path, pause=0.1), random.Random(victims)
    for _ in range(5):
        site.crash(rng, victims, longest=0.8, absent=0.5)
    site.finish()
    assert site.violations() == [] and site.reruns() == 0
    assert [number for _, number, *_, code, _, _, _ in site.attempts() if code == 0] == [1] * site.jobs


DAG_POINTS = (
    *("spawn.before:9", "spawn.after:14", "reap.before-spool:8", "reap.after-spool:5", "reap.after-spool:12"),
    *("exchange.before:11", "exchange.after:9", "commit.before:12", "commit.after:8"),
)


@pytest.mark.parametrize("point", DAG_POINTS)
def test_a_kill_in_a_dag_with_scripts_processes_and_sub_dags_loses_nothing(tmp_path: Path, point: str) -> None:
    site = DagSite(tmp_path)
    assert site.fail_at(point), f"nobody came by {point}"
    site.finish()
    assert site.violations() == []


@pytest.mark.parametrize("victims", ["client", "runner", "both", "all"])
def test_kills_at_random_moments_of_such_a_dag_lose_nothing(tmp_path: Path, victims: str) -> None:
    site, rng = DagSite(tmp_path), random.Random(victims)
    for _ in range(3):
        site.crash(rng, victims, longest=1.5)
    site.finish()
    assert site.violations() == []


def test_jobs_of_a_dead_client_are_adopted_and_recorded_as_they_really_ended(tmp_path: Path) -> None:
    site = Site(tmp_path)
    lines = {
        "good": "touch good; while ! test -e go; do sleep 0.01; done; exit 0",
        "bad": "touch bad; while ! test -e go; do sleep 0.01; done; exit 7",
        "killed": "touch killed; while ! test -e go; do sleep 0.01; done; kill -SEGV $$",
    }
    text = "".join(
        f"mqsub -l {name} -c '{line}'\nmqsub -deps {name} -l after-{name} -c true\n" for name, line in lines.items()
    )
    site.workflow.write_text(text)
    process = site.start(None, "--slots", "3")
    until(lambda: all((tmp_path / name).exists() for name in lines))
    process.kill()
    process.communicate()
    (tmp_path / "go").touch()
    site.settled()
    found = {name: (number, code, rss, cpu) for name, number, _, _, _, code, rss, cpu, _ in site.attempts()}
    assert {name: code for name, (_, code, _, _) in found.items()} == {"good": 0, "bad": 7, "killed": -signal.SIGSEGV}
    assert all(number == 1 and rss > 100_000 and cpu > 0 for number, _, rss, cpu in found.values())
    again = site.start()
    again.communicate()
    assert again.returncode == 3
    site.settled()
    assert [(name, number) for name, number, *_ in site.attempts()] == [(name, 1) for name in (*lines, "after-good")]


def test_the_next_client_goes_on_with_the_living_runner(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.workflow.write_text(
        "mqsub -l A -c 'touch begun; while ! test -e go; do sleep 0.01; done'\nmqsub -deps A -l B -c true\n"
    )
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    process.kill()
    process.communicate()
    again = site.start()
    until(lambda: len(connections(runner)) >= 2)
    assert site.runner() == runner
    (tmp_path / "go").touch()
    again.communicate()
    assert again.returncode == 0
    site.settled()
    assert [number for _, number, *_ in site.attempts()] == [1, 1]


def connections(pid: int) -> list[str]:
    """The sockets that a process has."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(str(entry.readlink()))
        except FileNotFoundError:
            continue
    return [name for name in found if name.startswith("socket:")]


def test_a_client_whose_runner_dies_says_so_and_how_to_go_on(tmp_path: Path) -> None:
    site = Site(tmp_path)
    process = site.start()
    until(lambda: site.begun() >= SLOTS)
    kill(site.runner())
    _, talk = process.communicate()
    site.kills += 1
    assert process.returncode == 1 and "the runner has died. Run again" in talk
    site.finish()
    assert site.violations() == []


def test_a_daemon_that_a_completed_job_left_is_not_taken_for_an_orphan(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.workflow.write_text(
        'mqsub -l A -c \'setsid -f sh -c "echo \\$\\$ > daemon; exec sleep 1000" > /dev/null 2>&1;'
        " until test -s daemon; do sleep 0.01; done'\n"
        "mqsub -deps A -l B -c 'echo $$ > orphan; test -e go || sleep 1000'\n"
    )
    process = site.start()
    until((tmp_path / "orphan").exists)
    until((tmp_path / "orphan").read_text)
    kill(site.runner())
    process.communicate()
    orphan, daemon = (int((tmp_path / name).read_text()) for name in ("orphan", "daemon"))
    (site.home / "roster").unlink()  # so that nobody can go on with the job
    (tmp_path / "go").touch()
    try:
        site.finish()
        assert not is_alive(orphan) and is_alive(daemon)
    finally:
        kill(daemon)


def test_a_copied_folder_leaves_the_jobs_of_the_original_alone(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    site = Site(tmp_path / "one")
    site.workflow.write_text("mqsub -l A -c 'echo $$ > pid; while ! test -e go; do sleep 0.01; done'\n")
    process = site.start()
    until((site.folder / "pid").exists)
    until((site.folder / "pid").read_text)
    (tmp_path / "two/.headway").mkdir(parents=True)
    for name in ("store.db", "store.db-wal", "spool", "roster"):
        (tmp_path / "two/.headway" / name).write_bytes((site.home / name).read_bytes())
    copy = Site(tmp_path / "two")
    copy.workflow.write_text(site.workflow.read_text())
    (tmp_path / "two/go").touch()
    copy.finish()  # it goes on with its own copy of the store, in which nobody runs the job
    assert is_alive(int((site.folder / "pid").read_text()))
    (site.folder / "go").touch()
    process.communicate()
    assert process.returncode == 0


def test_no_job_is_started_for_a_client_that_died(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.workflow.write_text("\n".join(f"mqsub -l J{at} -c 'echo {at} >> ledger; sleep 0.02'" for at in range(400)))
    process = site.start()
    until(site.ledger.exists)
    process.kill()
    process.communicate()
    dead = time.time()
    site.settled()
    started = [float(one[3]) for one in site.attempts() if one[3]]
    assert len(started) < 400
    assert len([moment for moment in started if moment > dead]) <= SLOTS  # between the kill and our look at the clock
