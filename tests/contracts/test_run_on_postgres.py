"""`headway run` with its store on a PostgreSQL server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.live.ledger import runner_of, until
from tests.shell import headway


def flow(folder: Path, *jobs: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "w.sh"
    path.write_text("\n".join(jobs) + "\n")
    return path


def test_a_workflow_runs_and_goes_on_from_the_server(tmp_path: Path, postgres_url: str) -> None:
    path = flow(tmp_path, "mqsub -l A -c 'echo A >> ledger'", "mqsub -deps A -l B -c 'test -e go && echo B >> ledger'")
    first = headway("run", str(path), "--store", postgres_url, "--json")
    assert first.returncode == 3, first.stderr
    (tmp_path / "go").touch()
    second = headway("run", str(path), "--store", postgres_url, "--retry", "--json")
    assert second.returncode == 0 and json.loads(second.stdout)["done"] == 2
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]
    assert not (tmp_path / ".headway/store.db").exists()
    status = headway("status", "--store", postgres_url, "--json")
    assert json.loads(status.stdout)["workflows"][0]["done"] == 2


def test_a_run_on_a_server_and_one_here_have_their_own_runners_and_logs(tmp_path: Path, postgres_url: str) -> None:
    path = flow(tmp_path, "mqsub -l A -c 'echo $WHERE; until test -e go; do sleep 0.02; done'")
    here, server = {**os.environ, "WHERE": "here"}, {**os.environ, "WHERE": "server"}
    command = [sys.executable, "-m", "headway", "run", str(path)]
    runs = [subprocess.Popen(command, env=here), subprocess.Popen([*command, "--store", postgres_url], env=server)]
    (tmp_path / "go").touch()
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    for place, expected in ((str(tmp_path / ".headway"), "here\n"), (postgres_url, "server\n")):
        assert headway("logs", "A", "--store", place).stdout == expected


def test_a_run_on_a_server_is_watched_and_cancelled(tmp_path: Path, postgres_url: str) -> None:
    path = flow(tmp_path, "mqsub -l A -c 'sleep 600'")
    assert headway("run", str(path), "--store", postgres_url, "--detach").returncode == 0
    watcher = subprocess.Popen([sys.executable, "-m", "headway", "attach", "--store", postgres_url])
    assert headway("cancel", "--store", postgres_url).returncode == 0
    assert watcher.wait(timeout=60) in (3, 4)  # it may come when all is over


def test_a_sub_dag_is_in_the_same_store_with_the_same_runner(tmp_path: Path, postgres_url: str) -> None:
    head = "SUBMIT-DESCRIPTION sh {\n shell = echo $(JOB) >> ledger\n queue\n}\n"
    (tmp_path / "x.dag").write_text(head + "JOB A sh\nSUBDAG EXTERNAL S inner.dag\nPARENT A CHILD S\n")
    (tmp_path / "inner.dag").write_text(head + "JOB I sh\n")
    done = headway("run", str(tmp_path / "x.dag"), "--store", postgres_url, "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ledger").read_text().split() == ["A", "I"]
    runs = headway("runs", "--store", postgres_url, "--json")
    assert sorted(run["name"] for run in json.loads(runs.stdout)["workflows"]) == ["inner", "x"]


INNER = """\
SUBMIT-DESCRIPTION sh {
    shell = echo this is $(JOB); touch begun-$(JOB); until test -e go; do sleep 0.02; done
    queue
}
JOB I sh
JOB J sh
"""


def test_a_sub_dag_in_another_folder_is_looked_at_steered_and_stopped_like_any_other(
    tmp_path: Path, postgres_url: str
) -> None:
    inner = tmp_path / "deep/er"
    inner.mkdir(parents=True)
    (tmp_path / "x.dag").write_text("SUBDAG EXTERNAL S deep/middle.dag\n")
    (tmp_path / "deep/middle.dag").write_text("SUBDAG EXTERNAL T inner.dag DIR er\n")
    (inner / "inner.dag").write_text(INNER)
    begun = headway("run", str(tmp_path / "x.dag"), "--store", postgres_url, "--slots", "2", "--detach")
    assert begun.returncode == 0, begun.stderr
    until(lambda: all((inner / f"begun-{name}").exists() for name in "IJ"))
    assert not list(tmp_path.glob("deep/**/.headway"))
    there = ("--store", postgres_url, "--workflow", "3")
    assert headway("logs", "I", *there).stdout == "this is I\n"
    stopped = headway("stop", "J", *there, "--json")
    assert json.loads(stopped.stdout) == {"schema": 1, "changed": ["J"], "stopping": 0}, stopped.stderr
    command = [sys.executable, "-m", "headway", "attach", *there]
    watcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert watcher.stderr is not None and "watching workflow 3" in watcher.stderr.readline()
    cancelled = headway("cancel", *there)
    assert cancelled.returncode == 0 and "workflow 3 is stopped" in cancelled.stderr
    watcher.communicate(timeout=60)
    assert watcher.returncode == 3
    attempts = json.loads(headway("history", *there, "--json").stdout)["attempts"]
    assert {one["outcome"] for one in attempts} == {"given back"}


def test_two_folders_share_a_server_and_after_a_crash_each_goes_on_with_its_own_jobs(
    tmp_path: Path, postgres_url: str
) -> None:
    hold = "echo {0} >> ../ledger; until test -e ../go; do sleep 0.02; done; echo {0} ends >> ../ledger"
    paths = [flow(tmp_path / name, f"mqsub -l {name} -c '{hold.format(name)}'") for name in ("one", "two")]
    command = [sys.executable, "-m", "headway", "run", "--store", postgres_url]
    runs = [subprocess.Popen([*command, str(path)]) for path in paths]
    ledger = tmp_path / "ledger"
    until(lambda: ledger.exists() and sorted(ledger.read_text().split()) == ["one", "two"])
    # Client and runner of the first die; the jobs of the second are none of its successor's business.
    for pid in _runner(tmp_path / "one"), runs[0].pid:
        os.kill(pid, signal.SIGKILL)
    runs[0].wait()
    again = subprocess.Popen([*command, str(paths[0])])
    until(lambda: _has_runner(tmp_path / "one"))
    (tmp_path / "go").touch()
    assert again.wait(60) == 0 and runs[1].wait(60) == 0
    assert sorted(ledger.read_text().splitlines()) == ["one", "one ends", "two", "two ends"]


def _has_runner(folder: Path) -> bool:
    return any(runner_of(home) for home in folder.glob(".headway/server-*"))


def _runner(folder: Path) -> int:
    """The process that has the lock of a folder's runner."""
    lock = next(folder.glob(".headway/server-*/lock")).stat().st_ino
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "FLOCK" and words[5].endswith(f":{lock}"):
            return int(words[4])
    raise AssertionError("no runner has the lock")


def test_the_process_that_talks_to_the_server_may_be_killed(tmp_path: Path, postgres_url: str) -> None:
    """The runner starts another: jobs that run go on, and what ended meanwhile is recorded once."""
    held = "echo {0} >> ledger; touch {0}; until test -e go; do sleep 0.02; done"
    path = flow(
        tmp_path,
        f"mqsub -l A -c '{held.format('A')}'",
        "mqsub -deps A -l B -c 'echo B >> ledger'",
    )
    run = subprocess.Popen([sys.executable, "-m", "headway", "run", str(path), "--store", postgres_url])
    until((tmp_path / "A").exists)
    (home,) = (tmp_path / ".headway").glob("*/runner.log")
    runner = runner_of(home.parent)
    between = [pid for pid in children(runner) if b"headway" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(between) == 1
    os.kill(between[0], signal.SIGKILL)
    (tmp_path / "go").touch()
    assert run.wait(timeout=60) == 0
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
