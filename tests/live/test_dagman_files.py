"""NODE_STATUS_FILE and JOBSTATE_LOG: what other tools read of a DAG that runs, or ran, here."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.live.ledger import kill, runner_of, until
from tests.live.test_dagman_semantics import Dag
from tests.shell import headway

FILES = "NODE_STATUS_FILE status 0\nJOBSTATE_LOG log\n"
HOLD = "until test -e go; do sleep 0.02; done"


def told(folder: Path) -> list[str]:
    """The lines of the log that are about nodes, without times."""
    lines = [line.partition(" ")[2] for line in (folder / "log").read_text().splitlines()]
    return [line for line in lines if not line.startswith("INTERNAL")]


def nodes(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Of each node in the status file: its state, retries, and how many processes it has under way."""
    blocks = re.findall(
        r'Node = "(.*)";\n  NodeStatus = \d; /\* "STATUS_(\w+)" \*/\n.*\n'
        r"  RetryCount = (\d+);\n  JobProcsQueued = (\d+)",
        (folder / "status").read_text(),
    )
    return {name: (state, int(retries), int(queued)) for name, state, retries, queued in blocks}


def whole(folder: Path) -> dict[str, str]:
    """What the status file says of the DAG."""
    first, _, _ = (folder / "status").read_text().partition("]")
    return dict(re.findall(r"  (\w+) = ([^;]*);", first))


def test_the_log_tells_of_each_try_at_a_node_with_its_scripts(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="test $(RETRY) = 1"\nRETRY A 1\nSCRIPT PRE A pre\nSCRIPT POST A post $RETURN\n'
        "JOB B sh\nPARENT A CHILD B\n" + FILES,
    )
    dag.script("pre", "")
    dag.script("post", "exit $1")
    dag.run()
    assert told(tmp_path) == [
        *("A PRE_SCRIPT_STARTED - local - 1", "A PRE_SCRIPT_SUCCESS - local - 1"),
        *("A SUBMIT 2.0 local - 1", "A EXECUTE 2.0 local - 1"),
        *("A JOB_TERMINATED 2.0 local - 1", "A JOB_FAILURE 1 local - 1"),
        *("A POST_SCRIPT_STARTED 2.0 local - 1", "A POST_SCRIPT_TERMINATED 2.0 local - 1"),
        "A POST_SCRIPT_FAILURE 2.0 local - 1",
        *("A PRE_SCRIPT_STARTED - local - 2", "A PRE_SCRIPT_SUCCESS - local - 2"),
        *("A SUBMIT 5.0 local - 2", "A EXECUTE 5.0 local - 2"),
        *("A JOB_TERMINATED 5.0 local - 2", "A JOB_SUCCESS 0 local - 2"),
        *("A POST_SCRIPT_STARTED 5.0 local - 2", "A POST_SCRIPT_TERMINATED 5.0 local - 2"),
        "A POST_SCRIPT_SUCCESS 5.0 local - 2",
        *("B SUBMIT 7.0 local - 3", "B EXECUTE 7.0 local - 3"),
        *("B JOB_TERMINATED 7.0 local - 3", "B JOB_SUCCESS 0 local - 3"),
    ]
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0].endswith("DAGMAN_STARTED 1.0 ***") and lines[-1].endswith("DAGMAN_FINISHED 0 ***")
    assert nodes(tmp_path) == {"A": ("DONE", 1, 0), "B": ("DONE", 0, 0)}
    assert whole(tmp_path)["DagStatus"] == "5" and whole(tmp_path)["NodesDone"] == "2"


def test_processes_are_told_of_by_their_node(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A three\nVARS A do="test $(Process) != 1"\nTOLERANCE A 1\n' + FILES)
    dag.run()
    lines = told(tmp_path)
    assert {line for line in lines if "SUBMIT" in line} == {f"A SUBMIT 1.{process} local - 1" for process in range(3)}
    assert [line for line in lines if "JOB_TERMINATED" not in line][-1] == "A JOB_SUCCESS 0 local - 1"
    assert nodes(tmp_path) == {"A": ("DONE", 0, 0)}


def test_what_cannot_run_any_more_is_futile_and_what_failed_is_named_at_the_end(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="exit 4"\nJOB B sh\nJOB C sh\nPARENT A CHILD B\nPARENT B CHILD C\nJOB D sh\nFINAL F sh\n'
        + FILES,
    )
    done = headway("run", str(dag.path))
    assert done.returncode == 0 and "x.dag.rescue001" in done.stderr  # the final node decides
    states = {name: state for name, (state, _, _) in nodes(tmp_path).items()}
    assert states == {"A": "ERROR", "B": "FUTILE", "C": "FUTILE", "D": "DONE", "F": "DONE"}
    found = whole(tmp_path)
    assert (found["DagStatus"], found["NodesFailed"], found["NodesFutile"]) == ("5", "1", "2")
    assert "A JOB_FAILURE 4 local - 1" in told(tmp_path)
    assert (tmp_path / "log").read_text().splitlines()[-1].endswith("DAGMAN_FINISHED 0 ***")


def test_both_are_kept_up_while_nothing_ends(tmp_path: Path) -> None:
    dag = Dag(tmp_path, f'JOB A sh\nJOB B three\nVARS B do="{HOLD}"\nPARENT A CHILD B\n' + FILES)
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(dag.path), "--slots", "3"], stderr=subprocess.DEVNULL
    )
    until(lambda: len(dag.ledger) == 4)
    until(lambda: (tmp_path / "status").exists() and nodes(tmp_path).get("B") == ("SUBMITTED", 0, 3))
    assert nodes(tmp_path)["A"] == ("DONE", 0, 0) and whole(tmp_path)["JobProcsRunning"] == "3"
    assert sum("EXECUTE" in line for line in told(tmp_path)) == 4
    (tmp_path / "go").touch()
    assert process.wait(60) == 0


def test_what_happened_while_nobody_wrote_is_in_the_log_after_the_next_run_and_only_once(tmp_path: Path) -> None:
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="{HOLD}"\nJOB B sh\nPARENT A CHILD B\n' + FILES)
    process = subprocess.Popen([sys.executable, "-m", "headway", "run", str(dag.path)], stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "log").exists() and "A EXECUTE 1.0 local - 1" in told(tmp_path))
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    until(lambda: runner_of(tmp_path / ".headway") == 0)
    dag.run()
    dag.run()
    whole_log = [f"{node} {what} local - {at}" for at, node in ((1, "A"), (2, "B")) for what in _steps(at)]
    assert told(tmp_path) == whole_log


def _steps(lease: int) -> list[str]:
    return [f"SUBMIT {lease}.0", f"EXECUTE {lease}.0", f"JOB_TERMINATED {lease}.0", "JOB_SUCCESS 0"]


def test_a_job_that_was_lost_is_evicted_and_goes_on_under_its_number(tmp_path: Path) -> None:
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="{HOLD}"\n' + FILES)
    process = subprocess.Popen([sys.executable, "-m", "headway", "run", str(dag.path)], stderr=subprocess.DEVNULL)
    until(lambda: (tmp_path / "log").exists() and "A EXECUTE 1.0 local - 1" in told(tmp_path))
    kill(runner_of(tmp_path / ".headway"))
    process.wait()
    (tmp_path / ".headway/roster").unlink()  # so that nobody can go on with the job
    (tmp_path / "go").touch()
    dag.run()
    tail = ["EXECUTE 1.0", "JOB_TERMINATED 1.0", "JOB_SUCCESS 0"]
    words = ["SUBMIT 1.0", "EXECUTE 1.0", "JOB_EVICTED 1.0", *tail]
    assert told(tmp_path) == [f"A {word} local - 1" for word in words]


def test_a_fresh_start_is_told_of_as_well(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\n" + FILES)
    dag.run()
    dag.run("--fresh")
    assert [line for line in told(tmp_path) if "SUBMIT" in line] == [f"A SUBMIT {at}.0 local - 1" for at in (1, 2)]


def test_files_that_cannot_be_written_are_a_warning(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nNODE_STATUS_FILE no/status\nJOBSTATE_LOG no/log\n")
    done = headway("run", str(dag.path))
    assert done.returncode == 0 and dag.ledger == ["A"]
    assert done.stderr.count("no/status") == 1 and done.stderr.count("no/log cannot be written") == 1


def test_ctrl_c_leaves_true_files(tmp_path: Path) -> None:
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="{HOLD}"\nJOB B sh\nPARENT A CHILD B\n' + FILES)
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(dag.path)], stderr=subprocess.PIPE, text=True
    )
    until(lambda: dag.ledger == ["A"])
    for word in ("stopping", "ending"):
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None and word in process.stderr.readline()
    process.communicate()
    assert nodes(tmp_path) == {"A": ("READY", 0, 0), "B": ("NOT_READY", 0, 0)}
    assert told(tmp_path)[-1] == "A JOB_EVICTED 1.0 local - 1" and whole(tmp_path)["DagStatus"] == "6"


def test_every_try_at_a_sub_dag_is_told_though_others_ended_in_the_same_second(tmp_path: Path) -> None:
    inner = Dag(tmp_path, "JOB A sh\nSCRIPT PRE A /bin/false\nFINAL F sh\nJOBSTATE_LOG log\n")
    inner.path.rename(tmp_path / "inner.dag")  # its FINAL makes it end well: each try begins from the start
    dag = Dag(tmp_path, "SUBDAG EXTERNAL D inner.dag\nSCRIPT POST D /bin/false\nRETRY D 4\n")
    assert headway("run", str(dag.path)).returncode == 3
    pre = [line for line in told(tmp_path) if "PRE_SCRIPT" in line]
    assert pre == ["A PRE_SCRIPT_STARTED - local - 1", "A PRE_SCRIPT_FAILURE - local - 1"] * 5
