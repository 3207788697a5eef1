"""`headway run --deadline`: what is said before, during and after a run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.shell import headway


def flow(folder: Path, *jobs: tuple[str, str, float | None]) -> None:
    """A chain: name, command, expected seconds."""
    lines = ["from headway import Workflow", "w = Workflow('w')", "last = []"]
    lines += [f"last = w.job({name!r}, {command!r}, seconds={seconds}, after=last)" for name, command, seconds in jobs]
    (folder / "w.py").write_text("\n".join(lines) + "\n")


def test_a_deadline_that_is_met_is_told_before_and_after(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "true", 60.0), ("b", "true", 60.0))
    done = headway("run", "w.py", "--deadline", "1h", cwd=tmp_path)
    assert done.returncode == 0
    assert "it can be met: the jobs take 2 min 00 s to" in done.stderr
    assert "the deadline is met, with " in done.stderr


def test_all_done_but_late_is_exit_code_5(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "sleep 5", 0.1), ("b", "true", 0.1))
    done = headway("run", "w.py", "--deadline", "4s", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 5 and found["done"] == 2
    assert found["met"] is False and found["slack"] < 0 and found["deadline"] > 1e9


def test_a_run_that_fails_has_its_own_exit_code(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "false", 1.0))
    done = headway("run", "w.py", "--deadline", "1h", cwd=tmp_path)
    assert done.returncode == 3 and "the deadline is not met: not everything is done." in done.stderr


def test_a_deadline_shorter_than_the_longest_path_is_refused_with_what_is_possible(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "touch began", 600.0), ("b", "true", 600.0))
    done = headway("run", "w.py", "--deadline", "10m", cwd=tmp_path)
    assert done.returncode == 2 and "Choose a deadline at least 20 min 00 s away" in done.stderr
    assert not (tmp_path / "began").exists()


def test_too_much_work_for_the_slots_is_said_beforehand_and_tried(tmp_path: Path) -> None:
    lines = ["from headway import Workflow", "w = Workflow('w')"]
    lines += [f"w.job('j{number}', 'true', seconds=1800)" for number in range(4)]
    (tmp_path / "w.py").write_text("\n".join(lines) + "\n")
    done = headway("run", "w.py", "--slots", "1", "--deadline", "1h", cwd=tmp_path)
    assert "it cannot be met on 1 slot: the jobs take at least 2 h 00 min" in done.stderr
    assert done.returncode == 0 and "the deadline is met" in done.stderr


def test_jobs_that_tell_no_run_time_leave_it_open_and_the_next_run_knows_them(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "sleep 0.2", None), ("b", "sleep 0.2", None))
    first = headway("run", "w.py", "--deadline", "1h", cwd=tmp_path)
    assert first.returncode == 0 and "no job tells how long it takes. Give the jobs seconds=…, or run" in first.stderr
    again = headway("run", "w.py", "--fresh", "--deadline", "1h", cwd=tmp_path)
    assert "it can be met: the jobs take 0." in again.stderr


# A queue of one host, where an allocation begins at once.
SBATCH = """#!/bin/sh
for word; do case $word in --job-name=*) name=${word#*=};; esac; done
echo "7|$name|RUNNING|None" > there
(sh "$word"; rm there) > /dev/null 2>&1 < /dev/null &
echo 7
"""
CLUSTER = """[sites.cluster]
queue = "slurm"
allocations = 1
cores = 1
time = "10m"
idle = "1"
look = "1"
"""


@pytest.mark.slow
def test_where_jobs_wait_in_a_queue_it_is_said_that_nobody_knows_how_long(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "true", 60.0), ("b", "true", 60.0))
    (tmp_path / "headway.toml").write_text(CLUSTER)
    for name, text in (
        ("sbatch", SBATCH.replace("there", str(tmp_path / "there"))),
        ("squeue", f"#!/bin/sh\ncat {tmp_path}/there 2> /dev/null || true\n"),
        ("scancel", "#!/bin/sh\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    state = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "XDG_STATE_HOME": str(tmp_path / "state")}
    done = headway("run", "w.py", "--site", "cluster", "--deadline", "1h", cwd=tmp_path, env={**os.environ, **state})
    assert done.returncode == 0
    assert "it may be met: the jobs take 2 min 00 s to" in done.stderr
    assert "how long they wait in the queue of cluster is not known." in done.stderr


def test_the_moment_it_becomes_impossible_is_told(tmp_path: Path) -> None:
    flow(tmp_path, ("a", "sleep 4", 0.5), ("b", "true", 4.0))
    done = headway("run", "w.py", "--deadline", "6s", cwd=tmp_path)
    assert "warning: the deadline cannot be met any more" in done.stderr


def test_a_deadline_that_passes_while_the_last_job_runs_is_told(tmp_path: Path) -> None:
    """The run looked every two seconds, or every four: one that ended a second after its deadline was told nothing."""
    flow(tmp_path, ("a", "sleep 3.9", 0.1))
    done = headway("run", "w.py", "--deadline", "3s", cwd=tmp_path)
    assert done.returncode == 5
    assert "warning: the deadline cannot be met any more: it has passed, and not all jobs are done." in done.stderr


@pytest.mark.parametrize("word", ["0", "yesterday", "25:00", "-5", "1e400", "nan"])
def test_a_deadline_that_is_none_is_refused(tmp_path: Path, word: str) -> None:
    flow(tmp_path, ("a", "touch began", 1.0))
    done = headway("run", "w.py", f"--deadline={word}", cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert not (tmp_path / "began").exists()
