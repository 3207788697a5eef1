"""Which workflow a command means that is not told one by its number."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_attach import background, until
from tests.shell import answer, headway

NAMING = ("status", "history", "logs", "explain")


def quick(folder: Path, name: str) -> Path:
    path = folder / f"{name}.sh"
    path.write_text(f"mqsub -l {name} -c 'echo {name} was here'\n")
    return path


@contextmanager
def one_running_and_a_later_one_done(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Workflow 1 waits for a file; workflow 2 was submitted after it and is done."""
    wait = "touch begun; until test -e go; do sleep 0.02; done"
    (folder / "long.sh").write_text(f"mqsub -l slow -c '{wait}'\nmqsub -deps slow -l next -c true\n")
    run = background("run", str(folder / "long.sh"))
    until((folder / "begun").exists)
    assert headway("run", str(quick(folder, "short"))).returncode == 0
    try:
        yield run
    finally:
        (folder / "go").touch()
        run.communicate(timeout=60)


def test_a_cancel_stops_what_runs_and_not_what_was_submitted_last(tmp_path: Path) -> None:
    with one_running_and_a_later_one_done(tmp_path) as run:
        done = headway("cancel", "--json", cwd=tmp_path)
        assert done.returncode == 0 and json.loads(done.stdout)["workflow"] == 1
        assert run.wait(60) == 3


def test_a_cancel_that_would_stop_nothing_says_so(tmp_path: Path) -> None:
    with one_running_and_a_later_one_done(tmp_path) as run:
        done = headway("cancel", "--workflow", "2", cwd=tmp_path)
        assert done.returncode == 4 and "workflow 2 is not being run" in done.stderr
        assert "stopped" not in done.stderr and run.poll() is None


def test_what_runs_now_is_meant_by_all_commands(tmp_path: Path) -> None:
    with one_running_and_a_later_one_done(tmp_path):
        assert answer("status", cwd=tmp_path)["workflow"] == 1
        assert answer("explain", "next", cwd=tmp_path)["state"] == "waiting"
        assert [one["job"] for one in answer("history", cwd=tmp_path)["attempts"]] == ["slow"]
        assert headway("logs", "slow", cwd=tmp_path).returncode == 0
        watching = background("attach", "--store", str(tmp_path))
        assert watching.stderr is not None and "watching workflow 1;" in watching.stderr.readline()
        (tmp_path / "go").touch()
        assert watching.communicate(timeout=60) and watching.returncode == 0


def test_if_nothing_runs_the_one_run_last_is_meant_even_if_there_was_nothing_to_do(tmp_path: Path) -> None:
    first, second = quick(tmp_path, "first"), quick(tmp_path, "second")
    for path in (first, second):
        assert headway("run", str(path)).returncode == 0
    assert answer("status", cwd=tmp_path)["workflow"] == 2
    assert headway("run", str(first)).returncode == 0
    assert answer("status", cwd=tmp_path)["workflow"] == 1
    assert [one["job"] for one in answer("history", cwd=tmp_path)["attempts"]] == ["first"]
    assert headway("logs", "first", cwd=tmp_path).stdout == "first was here\n"


@pytest.mark.parametrize("wanted", ["first", "first.sh", "1"])
def test_all_commands_find_a_workflow_by_name_file_and_number(tmp_path: Path, wanted: str) -> None:
    for name in ("first", "second"):
        assert headway("run", str(quick(tmp_path, name))).returncode == 0
    for command in NAMING:
        job = ["first"] if command in ("logs", "explain") else []
        done = headway(command, *job, "--workflow", wanted, cwd=tmp_path)
        assert done.returncode == 0 and "first" in done.stdout and "second" not in done.stdout, done
    missing = [headway(command, "first", "--workflow", "nowhere", cwd=tmp_path) for command in NAMING]
    assert {one.returncode for one in missing} == {4} and len({one.stderr for one in missing}) == 1


def test_what_runs_is_attached_to_and_cancelled_by_its_name(tmp_path: Path) -> None:
    with one_running_and_a_later_one_done(tmp_path) as run:
        watching = background("attach", "--store", str(tmp_path), "--workflow", "long")
        assert watching.stderr is not None and "watching workflow 1;" in watching.stderr.readline()
        assert headway("cancel", "--workflow", "long", cwd=tmp_path).returncode == 0
        assert run.wait(60) == 3 and watching.communicate(timeout=60)


def test_a_number_is_a_number_even_if_a_workflow_is_called_so(tmp_path: Path) -> None:
    for name in ("first", "1"):
        assert headway("run", str(quick(tmp_path, name))).returncode == 0
    assert answer("status", "--workflow", "1", cwd=tmp_path)["workflow"] == 1
