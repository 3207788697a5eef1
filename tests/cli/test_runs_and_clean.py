"""`headway runs` and `headway clean`: what is in a store, and how it goes."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.home.folder import Home
from headway.live.store import opened
from tests.cli.test_logs import WAIT, under_way
from tests.live.ledger import Site, is_alive, kill, until
from tests.shell import answer, headway

FLOW = "mqsub -l A -c 'echo A'\nmqsub -deps A -l B -c 'echo B >> ledger'\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs of one workflow that is done, and one of another that failed."""
    (tmp_path / "w.sh").write_text(FLOW)
    (tmp_path / "bad.sh").write_text("mqsub -l X -c 'echo no; false'\nmqsub -deps X -l Y -c true\n")
    assert headway("run", "w.sh", cwd=tmp_path).returncode == 0
    assert headway("run", "bad.sh", cwd=tmp_path).returncode == 3
    assert headway("run", "w.sh", "--fresh", "--order", "critical-path", cwd=tmp_path).returncode == 0
    return tmp_path


def numbers(folder: Path) -> list[int]:
    return [run["workflow"] for run in answer("runs", cwd=folder)["workflows"]]


def logs(folder: Path) -> set[str]:
    return {path.name for path in (folder / ".headway/logs").iterdir()} - {"running"}


def test_runs_tells_how_far_each_workflow_is(folder: Path) -> None:
    found = answer("runs", cwd=folder)
    assert found["runner"] is False
    one, bad, two = found["workflows"]
    assert (one["name"], one["state"], one["done"], one["jobs"], one["attempts"]) == ("w", "ended", 2, 2, 2)
    assert (bad["state"], bad["failed"], bad["waiting"], bad["source"]) == ("failed", 1, 1, str(folder / "bad.sh"))
    assert two["workflow"] == 3 and one["submitted"] <= one["started"] <= one["ended"] <= two["submitted"]
    lines = headway("runs", cwd=folder).stdout.splitlines()
    assert len(lines) == 4 and lines[2].split()[:2] == ["2", "bad"] and " failed " in lines[2]


def test_runs_tells_the_order_that_auto_chose(tmp_path: Path) -> None:
    (tmp_path / "chain.sh").write_text(FLOW)
    (tmp_path / "fork.sh").write_text(f"{FLOW}mqsub -deps A -l C -c 'test -e go'\n")
    headway("run", "chain.sh", cwd=tmp_path)
    assert headway("run", "fork.sh", cwd=tmp_path).returncode == 3
    (tmp_path / "go").touch()
    for words in ([], ["--retry"]):  # which goes on with what was begun
        headway("run", "fork.sh", "--order", "auto", *words, cwd=tmp_path)
    assert headway("run", "fork.sh", "--fresh", cwd=tmp_path).returncode == 0  # run times are known now
    found = answer("runs", cwd=tmp_path)["workflows"]
    assert [(run["name"], run["order"], run["done"], run["attempts"]) for run in found] == [
        ("chain", "fifo", 2, 2),
        ("fork", "prio", 3, 4),
        ("fork", "prio-weighted", 3, 3),
    ]


def test_a_workflow_that_runs_is_said_to(tmp_path: Path) -> None:
    with under_way(tmp_path, f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\n"):
        found = answer("runs", cwd=tmp_path)
        assert found["runner"] is True and found["workflows"][0]["state"] == "running"
        (tmp_path / "go").touch()


# --- clean ---------------------------------------------------------------------------------------------------------


def test_clean_removes_what_is_done_or_replaced_and_keeps_what_can_be_gone_on_with(folder: Path) -> None:
    found = answer("clean", "--yes", cwd=folder)
    assert [one["workflow"] for one in found["removed"]] == [1, 3] and found["bytes"] > 0
    assert numbers(folder) == [2] and logs(folder) == {"2"}
    assert answer("clean", "--yes", cwd=folder)["removed"] == []
    assert [one["workflow"] for one in answer("clean", "--all", "--yes", cwd=folder)["removed"]] == [2]
    assert numbers(folder) == [] and logs(folder) == set()


def test_what_was_cleaned_runs_again_under_a_new_number(folder: Path) -> None:
    answer("clean", "--all", "--yes", cwd=folder)
    assert headway("run", "w.sh", cwd=folder).returncode == 0
    assert numbers(folder) == [4] and (folder / "ledger").read_text() == "B\n" * 3
    assert headway("logs", "A", cwd=folder).stdout == "A\n"


def test_a_dry_run_removes_nothing_and_neither_does_nobody_s_word(folder: Path) -> None:
    done = headway("clean", "--dry-run", cwd=folder)
    assert done.returncode == 0 and "to be removed: 2 workflows" in done.stdout
    done = headway("clean", cwd=folder)
    assert done.returncode == 2 and "--yes" in done.stderr
    assert numbers(folder) == [1, 2, 3] and logs(folder) == {"1", "2", "3"}


def test_on_a_terminal_it_asks(folder: Path) -> None:
    for word, left in (("n", [1, 2, 3]), ("y", [2])):
        master, terminal = pty.openpty()
        asking = subprocess.Popen(
            [sys.executable, "-m", "headway", "clean"], cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal
        )
        os.close(terminal)
        os.write(master, f"{word}\n".encode())
        asking.wait(60)
        assert b"Remove it?" in os.read(master, 1 << 16)
        os.close(master)
        assert numbers(folder) == left


def test_only_logs_go_and_history_stays(folder: Path) -> None:
    found = answer("clean", "--logs", "--all", "--yes", cwd=folder)
    assert len(found["logs"]) == 3 and logs(folder) == set()
    assert numbers(folder) == [1, 2, 3] and len(answer("history", cwd=folder)["attempts"]) == 2
    done = headway("logs", "X", "--workflow", "2", cwd=folder)
    assert done.returncode == 0 and done.stdout == ""


def test_one_workflow_is_removed_whatever_its_state(folder: Path) -> None:
    answer("clean", "--workflow", "bad.sh", "--yes", cwd=folder)
    assert numbers(folder) == [1, 3] and logs(folder) == {"1", "3"}
    assert headway("clean", "--workflow", "9", "--yes", cwd=folder).returncode == 4


def test_age_decides_if_it_is_given(folder: Path) -> None:
    assert answer("clean", "--older-than", "1h", "--yes", cwd=folder)["removed"] == []
    assert len(answer("clean", "--older-than", "0s", "--yes", cwd=folder)["removed"]) == 2
    done = headway("clean", "--older-than", "old", cwd=folder)
    assert done.returncode == 2 and "30m" in done.stderr


def test_logs_that_nobody_owns_any_more_go_too(folder: Path) -> None:
    for name in ("lost", "77", ".gone-5"):
        (folder / ".headway/logs" / name).mkdir()
        (folder / ".headway/logs" / name / "x.log").write_text("x" * 1000)
    answer("clean", "--yes", cwd=folder)
    assert logs(folder) == {"2"}


def test_the_file_shrinks(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("".join(f"mqsub -l J{at} -c true\n" for at in range(2000)))
    headway("run", "w.sh", cwd=tmp_path)
    before = (tmp_path / ".headway/store.db").stat().st_size
    found = answer("clean", "--yes", cwd=tmp_path)
    after = (tmp_path / ".headway/store.db").stat().st_size
    assert after < before / 2 and found["bytes"] >= before - after


def test_what_runs_stays_and_what_is_beside_it_may_go(folder: Path) -> None:
    text = f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\nmqsub -deps A -l B -c 'echo B >> end'\n"
    with under_way(folder, text) as run:
        found = answer("clean", "--all", "--yes", cwd=folder)
        assert [one["workflow"] for one in found["removed"]] == [1, 2, 3] and found["running"] == [4]
        assert answer("clean", "--workflow", "4", "--yes", cwd=folder)["removed"] == []
        (folder / "go").touch()
        run.wait(60)
        assert run.returncode == 0 and (folder / "end").read_text() == "B\n"
    assert numbers(folder) == [4]


def test_what_a_dead_runner_left_is_ended_before_it_is_forgotten(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.workflow.write_text("mqsub -l A -c 'echo $$ > pid; sleep 1000'\n")
    process = site.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    process.kill()
    kill(site.runner())
    process.communicate()
    until(lambda: site.runner() == 0)
    pid = int((tmp_path / "pid").read_text())
    assert is_alive(pid) and answer("runs", cwd=tmp_path)["workflows"][0]["state"] == "stopped"
    answer("clean", "--yes", cwd=tmp_path)  # it is not done: it stays
    assert numbers(tmp_path) == [1] and is_alive(pid)
    answer("clean", "--all", "--yes", cwd=tmp_path)
    assert numbers(tmp_path) == [] and not is_alive(pid)
    store = opened(site.home / "store.db")
    assert store.leases.open_leases() == []


def test_a_run_that_is_just_starting_is_not_disturbed(folder: Path) -> None:
    with under_way(folder, f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\n"):
        line = Home(folder / ".headway").connect()  # somebody has come who has not said what for
        assert line is not None and line.recv(64)
        done = headway("clean", "--all", "--yes", "--json", cwd=folder)
        assert done.returncode == 1 and "just starting" in done.stderr
        assert numbers(folder) == [1, 2, 3, 4]
        line.close()
        (folder / "go").touch()


def test_answers_are_documented(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/json.md").read_text()
    for words in (("runs",), ("history",), ("clean", "--dry-run")):
        found = answer(*words, cwd=folder)
        section = text.partition(f"## `headway {words[0]}")[2].partition("\n## ")[0]
        for rows in [found, *(rows[0] for rows in found.values() if isinstance(rows, list) and rows)]:
            for key in rows if isinstance(rows, dict) else ():
                assert key == "schema" or key in section, (words, key)
    assert json.loads(headway("runs", "--json", cwd=folder).stdout)["schema"] == 1
