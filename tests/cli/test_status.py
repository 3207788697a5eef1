"""`headway status` and `headway explain` beside real runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headway.live.store import opened
from tests.live.ledger import runner_of, until
from tests.shell import answer, headway

HOLD = "while ! test -e go; do sleep 0.01; done"
SAY = f"{sys.executable} -m headway.cli.commands.mqstatus"
STAGES = f"""\
mqsub -l one/A -c true
mqsub -l one/B -c true
mqsub -deps one -l two
mqsub -l two/C -c "touch begun; {SAY} Step=3 of=7; touch said; {HOLD}"
mqsub -l two/D -c false
mqsub -deps two -l three
mqsub -l three/E -c true
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "w.sh"
    path.write_text(text)
    return path


def started(path: Path, *words: str) -> subprocess.Popen[str]:
    """A run whose jobs know their store."""
    return subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(path), "--slots", "2", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HEADWAY_STORE": str(path.parent / ".headway")},
    )


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)


def states(found: dict[str, Any]) -> dict[str, str]:
    return {group["path"]: group["state"] for group in found["groups"]}


def test_status_shows_groups_running_jobs_and_what_they_say(tmp_path: Path, outside: None) -> None:
    process = started(script(tmp_path, STAGES))
    until((tmp_path / "said").exists)
    until(lambda: states(answer("status", "two", cwd=tmp_path)) == {"two/C": "running", "two/D": "failed"})
    found = answer("status", cwd=tmp_path)
    assert states(found) == {"one": "done", "two": "running", "three": "waiting"}
    nothing = {"waiting": 0, "eligible": 0, "running": 0, "done": 0, "failed": 0, "disabled": 0, "later": 0}
    assert found["groups"][1]["counts"] == {**nothing, "running": 1, "failed": 1}
    (workflow,) = found["workflows"]
    assert {key: workflow[key] for key in nothing} == {**nothing, "waiting": 1, "running": 1, "done": 2, "failed": 1}
    assert workflow["name"] == "w"
    (job,) = found["running"]
    assert (job["job"], job["status"], job["host"], job["site"]) == (
        "two/C",
        "Step=3 of=7",
        os.uname().nodename,
        "local",
    )
    assert job["command"].startswith("touch begun;") and job["started"] >= workflow["submitted"]
    text = headway("status", cwd=tmp_path).stdout
    assert re.search(r"^two +running +· +1 +· +1$", text, re.M) and "Step=3 of=7" in text
    said = headway("explain", "two/C", cwd=tmp_path).stdout
    assert said.startswith("two/C: running") and "Step=3 of=7" in said
    mqstat = headway(str(tmp_path / ".headway"), program="mqstat").stdout
    assert "two/C" in mqstat and "Step=3 of=7" in mqstat
    (tmp_path / "go").touch()
    process.communicate()
    assert process.returncode == 3
    assert answer("status", cwd=tmp_path)["running"] == []


def test_jobs_that_the_runner_took_ahead_are_not_shown_as_running(tmp_path: Path, outside: None) -> None:
    folder, process = with_jobs_ahead(tmp_path)
    store = opened(folder / ".headway")
    found = answer("status", cwd=folder)
    begun = {f"long/{file.name}" for file in folder.glob("J*")}
    assert {job["job"] for job in found["running"]} == begun and len(begun) == 2
    assert (found["workflows"][0]["running"], found["workflows"][0]["eligible"]) == (2, 18)
    assert states(found) == {"short": "done", "long": "running"}
    assert (found["groups"][1]["counts"]["running"], found["groups"][1]["counts"]["eligible"]) == (2, 18)
    (listed,) = answer("runs", cwd=folder)["workflows"]
    assert (listed["running"], listed["eligible"], listed["state"]) == (2, 18, "running")
    mqstat = headway(str(folder / ".headway"), program="mqstat").stdout
    assert len(mqstat.splitlines()) == 1 + 2 and all(name in mqstat for name in begun)
    attempts = answer("history", "long/*", cwd=folder)["attempts"]
    assert {one["job"] for one in attempts} == begun and {one["outcome"] for one in attempts} == {"running"}
    taken = next(job for job in store.watching.running() if job.name not in begun)
    said = answer("explain", taken.name, cwd=folder)
    assert said["because"] == ["It is next, and waits for a slot: the runner has it already."]
    assert said["state"] == states(answer("status", "long", cwd=folder))[taken.name] == "eligible"
    os.kill(runner_of(folder / ".headway"), signal.SIGSTOP)
    try:  # a runner that does not answer: what the store says
        assert len(answer("status", cwd=folder)["running"]) == len(store.watching.running()) > 2
    finally:
        os.kill(runner_of(folder / ".headway"), signal.SIGCONT)
    (folder / "go").touch()
    process.communicate()
    assert process.returncode == 0
    assert answer("status", cwd=folder)["workflows"][0]["done"] == 220


def test_never_more_jobs_are_shown_as_running_than_there_are_slots(tmp_path: Path, outside: None) -> None:
    """While thousands of short jobs come and go, between two looks at the store and a word with the runner."""
    short = [f"mqsub -l J{at} -c :" for at in range(1500)]
    process = started(script(tmp_path, "\n".join([f'mqsub -l K -c "touch began; {HOLD}"', *short])))
    until((tmp_path / "began").exists)
    counts, done = list[int](), 0
    while done < 1500:
        found = answer("status", cwd=tmp_path)
        (workflow,) = found["workflows"]
        (listed,) = answer("runs", cwd=tmp_path)["workflows"]
        counts += [len(found["running"]), workflow["running"], listed["running"]]
        done = workflow["done"]
    (tmp_path / "go").touch()
    process.communicate()
    assert max(counts) <= 2 and min(counts) >= 1


def two_began(folder: Path) -> bool:
    return len(list(folder.glob("J*"))) == 2


def with_jobs_ahead(folder: Path) -> tuple[Path, subprocess.Popen[str]]:
    """A run whose runner has taken jobs ahead: it does after jobs so short that a busy machine may need some tries."""
    short = [f"mqsub -l short/S{at} -c :" for at in range(200)]
    long = [f'mqsub -l long/J{at} -c "touch J{at}; {HOLD}"' for at in range(20)]
    for at in range(6):
        place = folder / str(at)
        place.mkdir()
        process = started(script(place, "\n".join([*short, "mqsub -deps short -l long", *long])))
        until(partial(two_began, place))
        if len(opened(place / ".headway").watching.running()) > 2:
            return place, process
        (place / "go").touch()
        process.communicate()
    raise AssertionError("nothing was ever taken ahead")


def test_a_job_is_explained(tmp_path: Path, outside: None) -> None:
    path = script(tmp_path, "mqsub -l A -c false\nmqsub -deps A -l B -c true\nmqsub -deps B -l C -c true\n")
    headway("run", str(path))
    found = answer("explain", "C", cwd=tmp_path)
    assert (found["job"], found["state"]) == ("C", "waiting")
    assert found["because"] == [
        "It waits for B (waiting).",
        "It cannot start until A succeeds. Retry it: headway run --retry, or headway redo A.",
    ]
    assert answer("explain", "A", cwd=tmp_path)["because"][0] == "It failed at its only try: exit code 1."
    answer("redo", "A", cwd=tmp_path)
    assert answer("explain", "A", cwd=tmp_path)["because"] == [
        "Nobody runs this workflow now: headway run goes on with it."
    ]


def test_what_is_not_there_is_said_with_what_is_near(tmp_path: Path, outside: None) -> None:
    headway("run", str(script(tmp_path, "mqsub -l stage/alpha -c true\nmqsub -l stage/beta -c true\n")))
    for words, said in (
        (["status", "stag"], '"stag". Did you mean "stage"'),
        (["explain", "stage/alpa"], '"stage/alpha"'),
        (["explain", "stage"], "is a group"),
        (["redo", "stage/gamma", "stage"], "stage/gamma"),
        (["status", "--workflow", "9"], "1 (w)"),
        (["status", "--store", "nowhere"], "no store"),
        (["disable", "*.x"], "*.x"),
    ):
        done = headway(*words, cwd=tmp_path)
        assert done.returncode == 4 and said in done.stderr and not done.stdout
    assert not (tmp_path / "nowhere").exists()


def test_the_latest_workflow_is_meant_unless_another_is_named(tmp_path: Path, outside: None) -> None:
    store = str(tmp_path / "store")
    for name in ("a", "b"):
        (tmp_path / f"{name}.sh").write_text(f"mqsub -l {name} -c true\n")
        headway("run", str(tmp_path / f"{name}.sh"), "--store", store)
    for words, expected in (([], "b"), (["--workflow", "1"], "a"), (["--workflow", str(tmp_path / "a.sh")], "a")):
        assert states(answer("status", "--store", store, *words)) == {expected: "done"}
    assert [one["name"] for one in answer("status", "--store", store)["workflows"]] == ["b", "a"]
    assert [one["name"] for one in answer("status", "--store", store, "--workflow", "a")["workflows"]] == ["a"]


def test_a_name_that_commands_terminals_is_shown_harmlessly(tmp_path: Path, outside: None) -> None:
    headway("run", str(script(tmp_path, "mqsub -l 'A\x1b[31m' -c true\n")))
    assert "\x1b" not in headway("status", cwd=tmp_path).stdout


def test_a_name_of_two_lines_breaks_no_table(tmp_path: Path, outside: None) -> None:
    path = tmp_path / "w.py"
    path.write_text("from headway import Workflow\nw = Workflow('w')\nw.job('two\\nlines', 'true')\n")
    assert "two lines: never run" in headway("run", str(path), "--dry-run").stdout
    assert headway("run", str(path)).returncode == 0
    for words in (["status"], ["history"], ["explain", "two\nlines"]):
        assert "two lines" in headway(*words, cwd=tmp_path).stdout


def test_the_first_line_and_the_groups_count_what_a_run_left_out_alike(tmp_path: Path, outside: None) -> None:
    path = script(tmp_path, "mqsub -l A -c true\nmqsub -deps A -l B -c true\nmqsub -deps B -l C -c true\n")
    headway("run", str(path), "--until", "A")
    found = answer("status", cwd=tmp_path)
    assert states(found) == {"A": "done", "B": "disabled", "C": "disabled"}
    assert (found["workflows"][0]["waiting"], found["workflows"][0]["disabled"]) == (0, 2)


def test_many_groups_are_cut_short_for_people_and_what_matters_is_kept(tmp_path: Path, outside: None) -> None:
    lines = [f"mqsub -l J{at} -c {'false' if at == 90 else 'true'}" for at in range(100)]
    headway("run", str(script(tmp_path, "\n".join(lines))))
    text = headway("status", cwd=tmp_path).stdout
    assert "and 70 more" in text and re.search("^J90 +failed", text, re.M)
    assert len(headway("status", "--all", cwd=tmp_path).stdout.splitlines()) > 100
    assert len(json.loads(headway("status", "--json", cwd=tmp_path).stdout)["groups"]) == 100
