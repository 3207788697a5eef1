"""Looking at a store that cannot be written, as an ordinary user has it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.ledger import runner_of, until
from tests.shell import ORDINARY

FLOW = """\
mqsub -l A -c 'echo hello; touch begun; until test -e go; do sleep 0.01; done'
mqsub -deps A -l B -c 'echo bye'
mqsub -l C -c false
"""


def ordinary(*words: str, cwd: Path, said: str = "", module: str = "headway") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ORDINARY, sys.executable, "-m", module, *words],
        cwd=cwd,
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def lock(folder: Path) -> None:
    """Nobody may write there from now on, as on a read-only file system; a runner that is there goes on."""
    for path in (*folder.iterdir(), folder):
        path.chmod(path.stat().st_mode & 0o555)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)
    (tmp_path / "w.sh").write_text(FLOW)
    yield tmp_path / ".headway"
    (tmp_path / ".headway").chmod(0o755)


def run(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "headway", "run", str(folder / "w.sh"), "--slots", "2"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def looks(folder: Path) -> dict[str, str]:
    """What each command that looks says."""
    commands = (["status"], ["history"], ["explain", "B"], ["runs"], ["logs", "A"], ["run", "w.sh", "--dry-run"])
    found = {}
    for words in commands:
        done = ordinary(*words, cwd=folder)
        assert done.returncode == 0 and not done.stderr.startswith("note"), (words, done.stderr)
        found[words[0]] = done.stdout
    return found


def test_whoever_may_only_look_sees_the_same_as_everybody(tmp_path: Path, home: Path) -> None:
    (tmp_path / "go").touch()
    assert run(tmp_path).wait(60) == 3
    before = looks(tmp_path)
    files = {path.name: path.stat().st_mtime_ns for path in home.iterdir()}
    lock(home)
    assert looks(tmp_path) == before and "hello" in before["logs"]
    assert {path.name: path.stat().st_mtime_ns for path in home.iterdir()} == files
    stat = ordinary(cwd=tmp_path, module="headway.cli.commands.mqstat")
    assert stat.returncode == 0, stat.stderr


def test_whoever_wants_to_change_it_is_told(tmp_path: Path, home: Path) -> None:
    (tmp_path / "go").touch()
    run(tmp_path).wait(60)
    lock(home)
    for words in (["redo", "A"], ["disable", "A"], ["clean", "--all", "--yes"], ["run", "w.sh"]):
        done = ordinary(*words, cwd=tmp_path)
        assert done.returncode == 1 and "cannot be written" in done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1
    dump = ordinary(cwd=tmp_path, said="4\n0\n11\n", module="headway.cli.commands.mqdump")
    assert dump.returncode == 0 and "only looked at" in dump.stdout


def test_a_run_of_somebody_else_is_seen_as_it_goes_on(tmp_path: Path, home: Path) -> None:
    process = run(tmp_path)
    until((tmp_path / "begun").exists)
    until(lambda: "failed" in ordinary("history", "C", cwd=tmp_path).stdout)
    lock(home)
    (home / "runner.sock").chmod(0o400)
    found = looks(tmp_path)
    assert json.loads(ordinary("status", "--json", cwd=tmp_path).stdout)["running"][0]["job"] == "A"
    assert "running" in found["runs"] and "It waits for A (running)." in found["explain"]
    assert json.loads(ordinary("runs", "--json", cwd=tmp_path).stdout)["runner"] is True
    for word in ("attach", "cancel"):
        done = ordinary(word, cwd=tmp_path)
        assert done.returncode == 1 and "another user's" in done.stderr
    follower = subprocess.Popen(
        [*ORDINARY, sys.executable, "-m", "headway", "logs", "-f", "B"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert follower.stderr is not None and follower.stderr.readline() == "it waits for other jobs.\n"
    home.chmod(0o755)  # for the runner, which makes files there
    (tmp_path / "go").touch()
    assert process.wait(60) == 3
    out, talk = follower.communicate(timeout=60)
    assert (out, follower.returncode) == ("bye\n", 0) and "done after 1 attempt." in talk


def test_what_a_dead_run_left_as_running_is_said_to_be_out_of_date(tmp_path: Path, home: Path) -> None:
    process = run(tmp_path)
    until((tmp_path / "begun").exists)
    os.kill(runner_of(home), 9)
    process.wait(60)
    (tmp_path / "go").touch()
    with sqlite3.connect(home / "store.db") as db:
        db.execute("UPDATE placeholders SET beat = beat - 1000")
    lock(home)
    done = ordinary("status", "--json", cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["workflows"][0]["running"] == 1
    assert done.stderr.count("\n") == 1 and "may be out of date" in done.stderr


def test_what_may_not_be_read_is_said_so(tmp_path: Path, home: Path) -> None:
    (tmp_path / "go").touch()
    run(tmp_path).wait(60)
    (home / "store.db").chmod(0)
    done = ordinary("status", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{home}/store.db cannot be read: Permission denied. Its owner lets")
