"""Runs that go on without a terminal: detached, watched, cancelled."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.shell import headway


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def background(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "headway", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def flow(folder: Path) -> Path:
    """A writes that it began and waits for a file; B follows."""
    path = folder / "w.sh"
    wait = "touch begun; until test -e go; do sleep 0.02; done; echo A >> ledger"
    path.write_text(f"mqsub -l A -c '{wait}'\nmqsub -deps A -l B -c 'echo B >> ledger'\n")
    return path


def test_a_detached_run_goes_on_and_can_be_watched_to_its_end(tmp_path: Path) -> None:
    path = flow(tmp_path)
    done = headway("run", str(path), "--detach")
    assert done.returncode == 0 and "headway attach" in done.stderr
    until((tmp_path / "begun").exists)
    watching = background("attach", "--store", str(tmp_path))
    assert watching.stderr is not None and "watching" in watching.stderr.readline()
    (tmp_path / "go").touch()
    _, said = watching.communicate(timeout=60)
    assert watching.returncode == 0 and "2 of 2 jobs done" in said
    assert "s for the longest path; " in said and "s of work in all." in said
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]


def test_who_watches_can_leave_and_nothing_happens(tmp_path: Path) -> None:
    path = flow(tmp_path)
    headway("run", str(path), "--detach")
    until((tmp_path / "begun").exists)
    watching = background("attach", "--store", str(tmp_path))
    assert watching.stderr is not None and "watching" in watching.stderr.readline()
    watching.kill()
    watching.wait()
    (tmp_path / "go").touch()
    until(lambda: (tmp_path / "ledger").exists() and (tmp_path / "ledger").read_text().split() == ["A", "B"])


def test_a_cancelled_workflow_stops_for_everybody_and_can_be_run_again(tmp_path: Path) -> None:
    path = flow(tmp_path)
    running = background("run", str(path))
    until((tmp_path / "begun").exists)
    done = headway("cancel", "--store", str(tmp_path), "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["cancelled"]
    assert running.wait(60) == 3 and not (tmp_path / "ledger").exists()
    (tmp_path / "go").touch()
    assert headway("run", str(path)).returncode == 0
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]


def test_cancelled_gently_what_runs_may_end(tmp_path: Path) -> None:
    path = flow(tmp_path)
    running = background("run", str(path))
    until((tmp_path / "begun").exists)
    cancelling = background("cancel", "--store", str(tmp_path), "--gently")
    assert cancelling.stderr is not None and "waiting" in cancelling.stderr.readline()
    (tmp_path / "go").touch()
    assert cancelling.wait(60) == 0 and running.wait(60) == 3
    assert (tmp_path / "ledger").read_text().split() == ["A"]


def test_what_is_not_run_cannot_be_watched(tmp_path: Path) -> None:
    path = flow(tmp_path)
    (tmp_path / "go").touch()
    headway("run", str(path))
    for word in ("attach", "cancel"):
        until(lambda word=word: headway(word, "--store", str(tmp_path)).returncode == 4)  # type: ignore[misc]


def test_a_detached_run_says_at_once_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "w.dag").write_text("JOB A nowhere.sub\n")
    done = headway("run", str(tmp_path / "w.dag"), "--detach")
    assert done.returncode == 2 and "nowhere.sub" in done.stderr
