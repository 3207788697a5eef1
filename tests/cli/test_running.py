"""Which jobs `headway run` is about: --until, --from, and what --dry-run says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_run import run, script
from tests.shell import answer, headway

FLOW = (
    'mqsub -l A -c "echo A >> ledger"\nmqsub -deps A -l B -c "echo B >> ledger"\n'
    'mqsub -deps B -l C -c "echo C >> ledger"\nmqsub -l S -c "echo S >> ledger"\n'
    'mqsub -deps "C S" -l E -c "echo E >> ledger"\n'
)


def ran(folder: Path) -> str:
    """What has run since it was last asked."""
    ledger = folder / "ledger"
    text = "".join(sorted(ledger.read_text().split())) if ledger.exists() else ""
    ledger.unlink(missing_ok=True)
    return text


def told(path: Path, *words: str) -> dict[str, tuple[bool, str]]:
    jobs: list[dict[str, Any]] = answer("run", str(path), "--dry-run", *words)["jobs"]
    return {job["job"]: (job["runs"], job["why"]) for job in jobs}


def test_until_a_job_runs_what_it_needs_and_a_later_run_goes_on_with_the_rest(tmp_path: Path) -> None:
    path = script(tmp_path, FLOW)
    found = run(path, "--until", "B")
    assert (found["done"], found["failed"], found["skipped"], found["left_out"]) == (2, 0, 0, 3)
    assert ran(tmp_path) == "AB"
    assert run(path, "--until", "B", "--until", "S")["done"] == 3 and ran(tmp_path) == "S"
    assert run(path)["done"] == 5 and ran(tmp_path) == "CE"


def test_from_a_group_runs_it_and_what_follows_again(tmp_path: Path) -> None:
    path = script(tmp_path, FLOW)
    run(path)
    ran(tmp_path)
    assert run(path, "--from", "C")["done"] == 5 and ran(tmp_path) == "CE"
    assert run(path, "--from", "B", "--until", "C")["left_out"] == 1 and ran(tmp_path) == "BC"
    assert run(path)["done"] == 5 and ran(tmp_path) == "E"


def test_from_a_group_of_a_new_workflow_takes_what_comes_before_as_done_for_this_run_only(tmp_path: Path) -> None:
    path = script(tmp_path, FLOW)
    found = run(path, "--from", "C")
    assert (found["done"], found["left_out"]) == (3, 2) and ran(tmp_path) == "CES"
    assert run(path)["done"] == 5 and ran(tmp_path) == "AB"


def test_a_failure_that_is_left_out_does_not_count(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c false\nmqsub -l B -c true\n")
    assert run(path, code=3)["failed"] == 1
    assert run(path, "--until", "B")["failed"] == 0
    assert run(path, code=3)["failed"] == 1


@pytest.mark.parametrize("option", ["--until", "--from"])
def test_a_job_that_is_not_there_is_no_such_thing(tmp_path: Path, option: str) -> None:
    done = headway("run", str(script(tmp_path, FLOW)), option, "F")
    assert done.returncode == 4 and 'no job or group "F"' in done.stderr
    assert ran(tmp_path) == ""


def test_a_dry_run_tells_each_job_why_and_makes_nothing(tmp_path: Path) -> None:
    path = script(tmp_path, FLOW)
    assert told(path, "--until", "S") == {
        **dict.fromkeys("ABCE", (False, "left-out")),
        "S": (True, "new"),
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.sh"]
    done = headway("run", str(path), "--dry-run")
    assert done.stdout.splitlines()[0] == "run   A: never run"
    assert done.stderr == "5 of 5 jobs would run.\n" and done.returncode == 0


def test_a_dry_run_changes_nothing_of_what_an_earlier_run_left(tmp_path: Path) -> None:
    path = script(tmp_path, FLOW.replace("echo B >> ledger", "test -e go"))
    run(path, code=3)
    ran(tmp_path)
    assert told(path, "--from", "C")["A"] == (False, "done")
    assert told(path) == {
        "A": (False, "done"),
        "B": (False, "failed"),
        "C": (False, "blocked"),
        "S": (False, "done"),
        "E": (False, "blocked"),
    }
    assert told(path, "--retry")["B"] == (True, "retried")
    assert told(path, "--fresh") == dict.fromkeys("ABCSE", (True, "new"))
    (tmp_path / "go").touch()
    assert run(path, code=3)["failed"] == 1 and ran(tmp_path) == ""


def test_a_dry_run_says_what_a_run_would_refuse(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    run(path)
    path.write_text("mqsub -l A -c false\n")
    done = headway("run", str(path), "--dry-run")
    assert done.returncode == 2 and "--fresh" in done.stderr
    assert json.loads(headway("run", str(path), "--dry-run", "--fresh", "--json").stdout)["runs"] == 1
