"""DAGMan's semantics, keyword by keyword, on real processes."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from headway.live.store import opened
from headway.model.messages import WorkflowId
from tests.live.ledger import until
from tests.shell import headway

# Every node writes its name into the ledger and then does what its variable `do` says.
HEAD = """\
SUBMIT-DESCRIPTION sh {
    shell = echo $(JOB) >> ledger; $(do)
    queue
}
SUBMIT-DESCRIPTION three {
    shell = echo $(JOB).$(Process) >> ledger; $(do)
    queue 3
}
"""


class Dag:
    """A DAG in a folder, run for real."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.path = folder / "x.dag"
        self.path.write_text(HEAD + text)

    def script(self, name: str, text: str) -> None:
        """A program that writes its name and arguments into the ledger and then does as it is told."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$@" >> ledger\n{text}\n')
        path.chmod(0o755)

    def run(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = headway("run", str(self.path), "--slots", "2", "--json", *words)
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def refused(self) -> str:
        done = headway("run", str(self.path))
        assert done.returncode == 2 and not (self.folder / "ledger").exists(), done.stderr
        return done.stderr

    @property
    def ledger(self) -> list[str]:
        path = self.folder / "ledger"
        return path.read_text().splitlines() if path.exists() else []


# --- scripts -------------------------------------------------------------------------------------------------------


def test_scripts_run_around_a_node_and_know_of_it(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="exit 3"\nSCRIPT PRE A pre $JOB $RETRY of $MAX_RETRIES $NODE_COUNT\n'
        "SCRIPT POST A post $NODE $RETURN $PRE_SCRIPT_RETURN $SUCCESS $JOB_COUNT $OTHER 'two words'\n"
        "JOB B sh\nPARENT A CHILD B\n",
    )
    dag.script("pre", "")
    dag.script("post", "")
    assert dag.run()["done"] == 2
    assert dag.ledger == ["pre A 0 of 0 2", "A", "post A 3 0 False 1 $OTHER 'two words'", "B"]


def test_a_pre_script_that_fails_fails_its_node(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT PRE A pre\nSCRIPT POST A post\nJOB B sh\nPARENT A CHILD B\nRETRY A 1\n")
    dag.script("pre", "exit 7")
    dag.script("post", "")
    found = dag.run(code=3)
    assert (found["failed"], found["skipped"]) == (1, 1) and found["failures"][0]["exit_code"] == 7
    assert dag.ledger == ["pre", "pre"]


def test_a_post_script_decides(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="true"\nSCRIPT POST A post\nRETRY A 1\nJOB B sh\nPARENT A CHILD B\n')
    dag.script("post", "exit 5")
    found = dag.run(code=3)
    assert found["failures"][0]["exit_code"] == 5 and dag.ledger == ["A", "post", "A", "post"]


def test_pre_skip_ends_a_node_well(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT PRE A pre\nPRE_SKIP A 4\nSCRIPT POST A post\nJOB B sh\nPARENT A CHILD B\n")
    dag.script("pre", "exit 4")
    dag.script("post", "")
    assert dag.run()["done"] == 2
    assert dag.ledger == ["pre", "B"]


def test_a_script_that_is_put_off_is_run_again_later_and_that_is_no_retry(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT DEFER 9 1 PRE A pre $RETRY\nSCRIPT DEFER 8 0 POST A post\nJOB B sh\n")
    dag.script("pre", "test -e waited || { touch waited; exit 9; }")
    dag.script("post", "test -e again || { touch again; exit 8; }")
    assert dag.run()["failed"] == 0
    assert [line for line in dag.ledger if line != "B"] == ["pre 0", "pre 0", "A", "post", "post"]


def test_what_a_script_prints_can_go_to_a_file(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT DEBUG said ALL PRE A pre\nSCRIPT DEBUG said STDERR POST A post\n")
    dag.script("pre", "echo out; echo err >&2")
    dag.script("post", "echo out again; echo err again >&2")
    dag.run()
    assert (tmp_path / "said").read_text() == "out\nerr\nerr again\n"


def test_a_node_with_a_directory_runs_its_scripts_there(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    dag = Dag(tmp_path, "JOB A sh DIR d\nSCRIPT PRE A ../pre\nJOB N sh NOOP DIR d\nSCRIPT POST N ../post $RETURN\n")
    dag.script("pre", "")
    dag.script("post", "")
    assert dag.run()["done"] == 2
    assert sorted((tmp_path / "d/ledger").read_text().splitlines()) == ["A", "post 0", "pre"]


def test_the_bounds_of_a_run_count_scripts_and_processes(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A three\nVARS A do="sleep 0.2"\nSCRIPT PRE A pre\nSCRIPT POST A post\n')
    dag.script("pre", "sleep 0.2")
    dag.script("post", "sleep 0.2")
    found = dag.run()
    assert found["minimal_seconds"] >= 0.6 and found["work_seconds"] >= 1.0 and found["attempts"] == 5


# --- retries -------------------------------------------------------------------------------------------------------


def test_each_retry_knows_its_number(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="echo try $(RETRY) >> ledger; test $(RETRY) = 2"\nRETRY A 5\n')
    assert dag.run()["attempts"] == 3
    assert dag.ledger == ["A", "try 0", "A", "try 1", "A", "try 2"]


def test_unless_exit_ends_retries(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="exit $(RETRY)1"\nRETRY A 5 UNLESS-EXIT 11\n')
    found = dag.run(code=3)
    assert found["failures"][0]["exit_code"] == 11 and dag.ledger == ["A", "A"]


# --- the whole DAG -------------------------------------------------------------------------------------------------


def test_a_node_can_end_the_dag_and_say_what_it_returns(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="exit 4"\nABORT-DAG-ON A 4 RETURN 17\nRETRY A 3\nJOB B sh\nPARENT A CHILD B\n'
        'JOB L sh\nVARS L do="sleep 300; echo L slept >> ledger"\n'
        "FINAL F sh\nSCRIPT PRE F pre $DAG_STATUS $FAILED_COUNT\n",
    )
    dag.script("pre", "")
    found = dag.run()  # the final node decides: DAGMan's manual
    assert (found["done"], found["failed"], found["skipped"]) == (1, 1, 2)
    assert dag.ledger.count("A") == 1 and "L slept" not in dag.ledger and dag.ledger[-2:] == ["pre 3 1", "F"]
    dag.path.write_text(dag.path.read_text().partition("FINAL")[0])
    assert dag.run("--fresh", code=17)["skipped"] == 2


def test_an_aborted_dag_goes_on_when_it_is_run_again(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="test -e go || exit 4"\nABORT-DAG-ON A 4\nJOB B sh\nPARENT A CHILD B\nFINAL F sh\n',
    )
    assert dag.run()["failed"] == 1
    (tmp_path / "go").touch()
    assert dag.run("--retry")["done"] == 3
    assert dag.ledger == ["A", "F", "A", "B", "F"]


def test_the_final_node_runs_last_whatever_happened(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="exit 1"\nJOB B sh\nPARENT A CHILD B\nJOB C sh\n'
        'FINAL F sh\nVARS F do="echo status $(DAG_STATUS) failed $(FAILED_COUNT) >> ledger"\n',
    )
    found = dag.run()
    assert (found["done"], found["failed"], found["skipped"]) == (2, 1, 1)
    assert dag.ledger[-2:] == ["F", "status 2 failed 1"] and "B" not in dag.ledger


def test_a_final_node_that_fails_fails_the_dag(tmp_path: Path) -> None:
    found = Dag(tmp_path, 'JOB A sh\nFINAL F sh\nVARS F do="exit 1"\n').run(code=3)
    assert (found["done"], found["failed"]) == (1, 1)


def test_services_run_beside_the_rest_need_no_slot_and_end_with_it(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        "SERVICE S sh\nVARS S do=\"trap 'echo S ends >> ledger; exit' TERM; touch up; while :; do sleep 0.1; done\"\n"
        'SERVICE T sh\nVARS T do="exit 9"\nSERVICE U sh\nVARS U do="sleep 300"\n'
        'JOB A sh\nVARS A do="until test -e up; do sleep 0.05; done"\nJOB B sh\nPARENT A CHILD B\n',
    )
    found = dag.run()
    assert (found["done"], found["failed"], found["skipped"]) == (2, 0, 0)
    assert dag.ledger[-1] == "S ends" and {"A", "B", "S", "T", "U"} <= set(dag.ledger)


def test_a_provisioner_runs_before_the_rest(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nJOB B sh\nPROVISIONER P sh\nVARS P do="sleep 0.3; echo ready >> ledger"\n')
    assert dag.run()["done"] == 3
    assert dag.ledger[:2] == ["P", "ready"]


def test_a_provisioner_that_says_it_is_ready_runs_beside_the_rest(tmp_path: Path) -> None:
    act = f"{sys.executable} -m headway.cli.commands.mqstatus ready; until test -e over; do sleep 0.02; done"
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="touch over"\nPROVISIONER P sh\nVARS P do="{act}"\n')
    assert dag.run()["failed"] == 0 and dag.ledger == ["P", "A"]


def test_nothing_runs_after_a_provisioner_that_fails(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nJOB B sh\nPROVISIONER P sh\nVARS P do="exit 1"\nFINAL F sh\n')
    found = dag.run()
    assert (found["done"], found["failed"], found["skipped"]) == (1, 1, 2) and dag.ledger == ["P", "F"]


def test_a_category_is_throttled(tmp_path: Path) -> None:
    count = "mkdir busy || echo together >> ledger; sleep 0.05; rmdir busy"
    nodes = "".join(f'JOB N{n} sh\nVARS N{n} do="{count}"\nCATEGORY N{n} io\n' for n in range(6))
    dag = Dag(tmp_path, f'{nodes}JOB M sh\nVARS M do="sleep 0.3"\nMAXJOBS io 1\n')
    assert dag.run()["done"] == 7
    assert "together" not in dag.ledger and dag.ledger[:2] in (["N0", "M"], ["M", "N0"])  # M is not held up


def test_a_category_of_none_is_blocked(tmp_path: Path) -> None:
    found = Dag(tmp_path, "JOB A sh\nCATEGORY A c\nMAXJOBS c 0\nJOB B sh\n").run(code=3)
    assert (found["done"], found["skipped"]) == (1, 1)


def test_priorities_go_before_the_order_of_the_file(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB R sh\nJOB A sh\nJOB B sh\nJOB C sh\nPRIORITY C 5\nPRIORITY B -1\nPARENT R CHILD A B C\n")
    done = headway("run", str(dag.path), "--slots", "1")
    assert done.returncode == 0 and dag.ledger == ["R", "C", "A", "B"]


# --- processes -----------------------------------------------------------------------------------------------------


def test_a_node_of_several_processes_is_one_job(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        "JOB A three\nSCRIPT PRE A pre\nSCRIPT POST A post $RETURN $JOB_COUNT $EXIT_CODES\n"
        "JOB B sh\nPARENT A CHILD B\n",
    )
    dag.script("pre", "")
    dag.script("post", "")
    assert dag.run()["done"] == 2
    assert dag.ledger[0] == "pre" and sorted(dag.ledger[1:4]) == ["A.0", "A.1", "A.2"]
    assert dag.ledger[4:] == ["post 0 3 0", "B"]


def test_one_failed_process_ends_the_others_and_all_are_tried_again(tmp_path: Path) -> None:
    second = "until grep -q A.1 ledger; do sleep 0.01; done"  # the first fails when the second has begun
    act = f"test -e failed && exit 0; test $(Process) = 0 || sleep 300; {second}; touch failed; exit 6"
    dag = Dag(tmp_path, f'JOB A three\nVARS A do="{act}"\nRETRY A 1 UNLESS-EXIT 5\n')
    assert dag.run()["done"] == 1
    assert sorted(dag.ledger) in (["A.0", "A.0", "A.1", "A.1", "A.2"], ["A.0", "A.0", "A.1", "A.1", "A.2", "A.2"])


def test_tolerance_lets_some_processes_fail(tmp_path: Path) -> None:
    act = "test $(Process) != 1"
    dag = Dag(tmp_path, f'JOB A three\nVARS A do="{act}"\nTOLERANCE A 1\nJOB B sh\nPARENT A CHILD B\n')
    assert dag.run()["done"] == 2
    assert sorted(dag.ledger) == ["A.0", "A.1", "A.2", "B"]


def test_more_failures_than_tolerated_fail_the_node(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A three\nVARS A do="exit $(Process)"\nTOLERANCE A 50%\nJOB B sh\nPARENT A CHILD B\n')
    found = dag.run(code=3)
    assert (found["failed"], found["skipped"]) == (1, 1) and found["failures"][0]["exit_code"] in (1, 2)
    assert sorted(dag.ledger) == ["A.0", "A.1", "A.2"]  # it waits for all of them


def test_one_process_can_be_tolerated_too(tmp_path: Path) -> None:
    assert Dag(tmp_path, 'JOB A sh\nVARS A do="exit 1"\nTOLERANCE A 1\n').run()["done"] == 1


# --- other DAGs ----------------------------------------------------------------------------------------------------


def test_a_sub_dag_is_run_in_its_nodes_place_with_one_slot_for_all(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSUBDAG EXTERNAL S inner.dag\nJOB B sh\nPARENT A CHILD S\nPARENT S CHILD B\n")
    (tmp_path / "inner.dag").write_text(HEAD + "JOB I sh\nJOB J sh\nPARENT I CHILD J\n")
    done = headway("run", str(dag.path), "--slots", "1")
    assert done.returncode == 0, done.stderr
    assert dag.ledger == ["A", "I", "J", "B"]


def test_nodes_of_sub_dags_that_wait_for_the_only_slot_are_no_work(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "".join(f"SUBDAG EXTERNAL S{at} s{at}.dag\n" for at in range(4)))
    for at in range(4):
        (tmp_path / f"s{at}.dag").write_text(HEAD + f'JOB I{at} sh\nVARS I{at} do="sleep 0.2"\n')
    found = dag.run("--slots", "1")
    assert max(found["slot_seconds"], found["minimal_seconds"]) <= found["seconds"]


def test_a_sub_dag_has_the_order_of_the_dag(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\n")
    (tmp_path / "inner.dag").write_text(HEAD + "JOB I sh\n")
    dag.run("--order", "critical-path")
    runs = json.loads(headway("runs", "--store", str(tmp_path), "--json").stdout)["workflows"]
    assert [run["order"] for run in runs] == ["critical-path"] * 2


def test_retries_that_a_run_gives_reach_the_jobs_of_sub_dags_and_are_not_multiplied(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nJOB A sh\nPARENT S CHILD A\n")
    (tmp_path / "inner.dag").write_text(HEAD + "SUBDAG EXTERNAL T innermost.dag\n")
    (tmp_path / "innermost.dag").write_text(HEAD + 'JOB I sh\nVARS I do="false"\nJOB J sh\nPARENT I CHILD J\n')
    dag.run("--retries", "2", "--backoff", "0.3", "--more-memory", "1.5", code=3)
    assert dag.ledger == ["I"] * 3
    store = opened(tmp_path / ".headway")
    innermost = next(one.id for one in store.watching.workflows() if one.name == "innermost")
    tries = store.history.attempts(innermost, store.history.named(innermost, "I"))
    waits = [after.started - before.ended for before, after in pairwise(tries) if after.started and before.ended]
    assert len(waits) == 2 and waits[0] >= 0.3 and waits[1] >= 0.6
    with sqlite3.connect(tmp_path / ".headway/store.db") as db:
        kept = {json.loads(text)["more_memory"] for (text,) in db.execute("SELECT rules FROM nodes WHERE workflow = 3")}
    assert kept == {1.5}


def test_a_sub_dag_with_scripts_is_tried_again_for_their_sake(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nSCRIPT PRE S make\n")
    (tmp_path / "inner.dag").write_text(HEAD + "JOB I sh\n")
    dag.script("make", "test -e once || { touch once; exit 1; }")
    assert dag.run("--retries", "1")["done"] == 1 and dag.ledger == ["make", "make", "I"]


def test_a_failure_ends_a_run_that_fails_fast_in_sub_dags_too(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S bad.dag\nSUBDAG EXTERNAL T good.dag\nJOB A sh\nPARENT T CHILD A\n")
    (tmp_path / "bad.dag").write_text(HEAD + 'JOB B sh\nVARS B do="until test -e go; do sleep 0.01; done; exit 1"\n')
    hold = "touch go; until test -e failed; do sleep 0.01; done"
    (tmp_path / "good.dag").write_text(HEAD + f'JOB G sh\nVARS G do="{hold}"\nJOB H sh\nPARENT G CHILD H\n')
    command = [sys.executable, "-m", "headway", "run", str(dag.path), "--slots", "2", "--fail-fast"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None and "failed: S " in process.stderr.readline()
    (tmp_path / "failed").touch()
    process.communicate()
    assert process.returncode == 3 and sorted(dag.ledger) == ["B", "G"]
    states = {one.name: one.state.name for one in opened(tmp_path / ".headway").progress.jobs(WorkflowId(1))}
    assert states == {"S": "FAILED", "T": "ELIGIBLE", "A": "WAITING"}


def test_a_run_that_fails_fast_starts_nothing_new_in_the_sub_dag_that_failed(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\n")
    others = "".join(f"JOB J{at} sh\n" for at in range(20))
    (tmp_path / "inner.dag").write_text(HEAD + 'JOB I sh\nVARS I do="exit 1"\n' + others)
    done = headway("run", str(dag.path), "--slots", "1", "--fail-fast")
    assert done.returncode == 3 and dag.ledger == ["I"]


def test_a_sub_dag_may_be_written_while_the_workflow_runs(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSUBDAG EXTERNAL S inner.dag DIR sub\nPARENT A CHILD S\nSCRIPT PRE S ../make\n")
    (tmp_path / "sub").mkdir()
    dag.script("make", "echo 'JOB I i.sub' > inner.dag; printf 'shell = echo I >> ledger\\nqueue\\n' > i.sub")
    assert dag.run()["done"] == 2
    assert dag.ledger == ["A"] and (tmp_path / "sub/ledger").read_text().splitlines() == ["make", "I"]


def test_a_sub_dag_that_fails_is_retried_from_where_it_stopped(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nRETRY S 1\n")
    (tmp_path / "inner.dag").write_text(
        HEAD + 'JOB I sh\nJOB J sh\nVARS J do="test -e once || { touch once; exit 1; }"\nPARENT I CHILD J\n'
    )
    assert dag.run()["done"] == 1
    assert dag.ledger == ["I", "J", "J"]


def test_a_sub_dag_is_run_as_often_as_its_node_is(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        "SUBDAG EXTERNAL S inner.dag\nSUBDAG EXTERNAL T inner.dag\nPARENT S CHILD T\nSCRIPT POST T post\nRETRY T 1\n",
    )
    (tmp_path / "inner.dag").write_text(HEAD + "JOB I sh\n")
    dag.script("post", "test -e once || { touch once; exit 1; }")
    assert dag.run()["done"] == 2
    assert dag.ledger == ["I", "I", "post", "I", "post"]
    dag.run("--fresh")
    assert dag.ledger[5:] == ["I", "I", "post"]
    assert (
        headway("redo", "T", "--store", str(tmp_path / ".headway")).returncode == 0
    )  # of the DAG, not of its sub-DAGs
    dag.run()
    assert dag.ledger[8:] == ["I", "post"]


def test_a_sub_dag_of_itself_is_refused_when_it_comes_to_that(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\n")
    (tmp_path / "inner.dag").write_text("SUBDAG EXTERNAL T x.dag\n")
    dag.run(code=3)
    logs = [path.read_text() for path in (tmp_path / ".headway/logs").rglob("*.log")]
    assert any("x.dag is a sub-DAG of itself" in log for log in logs)


def test_a_sub_dag_that_is_written_anew_for_a_retry_is_run_as_it_is_then(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nSCRIPT PRE S make $RETRY\nRETRY S 1\n")
    (tmp_path / "head").write_text(HEAD)
    dag.script("make", "cp head inner.dag; printf 'JOB I%s sh\\nVARS I%s do=\"test %s = 1\"\\n' $1 $1 $1 >> inner.dag")
    assert dag.run()["done"] == 1
    assert dag.ledger == ["make 0", "I0", "make 1", "I1"]


def test_a_sub_dag_has_the_named_resources_of_the_whole(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\n")
    (tmp_path / "inner.dag").write_text("JOB I i.sub\n")
    (tmp_path / "i.sub").write_text("shell = echo I >> ledger\nrequest_gpus = 1\nqueue\n")
    assert dag.run("--resource", "gpus=1")["done"] == 1 and dag.ledger == ["I"]


def test_a_stop_reaches_sub_dags_which_go_on_another_time(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nJOB B sh\nPARENT S CHILD B\n")
    (tmp_path / "inner.dag").write_text(HEAD + "SUBDAG EXTERNAL T innermost.dag\n")
    (tmp_path / "innermost.dag").write_text(
        HEAD + 'JOB I sh\nVARS I do="until test -e go; do sleep 0.02; done"\nJOB J sh\nPARENT I CHILD J\n'
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(dag.path), "--slots", "2"], stderr=subprocess.PIPE, text=True
    )
    until(lambda: dag.ledger == ["I"])
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None and "stopping" in process.stderr.readline()
    (tmp_path / "go").touch()
    process.communicate()
    assert process.returncode == 3 and dag.ledger == ["I"]
    assert dag.run()["failed"] == 0 and dag.ledger == ["I", "J", "B"]


def test_what_a_sub_dag_returns_is_its_nodes_exit_code(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL S inner.dag\nRETRY S 5 UNLESS-EXIT 42\n")
    (tmp_path / "inner.dag").write_text(HEAD + 'JOB I sh\nVARS I do="exit 1"\nABORT-DAG-ON I 1 RETURN 42\n')
    assert dag.run(code=3)["failures"][0]["exit_code"] == 42
    assert dag.ledger == ["I"]


def test_a_weak_arc_needs_its_parents_end_only(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="exit 1"\nJOB B sh\nJOB C sh\nWEAK PARENT A CHILD B\nPARENT A CHILD C\n')
    found = dag.run(code=3)
    assert (found["done"], found["failed"], found["skipped"]) == (1, 1, 1) and dag.ledger == ["A", "B"]


# --- rescue --------------------------------------------------------------------------------------------------------


def test_a_dag_that_fails_leaves_a_rescue_file_that_another_store_goes_on_from(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nJOB B sh\nVARS B do="test -e go"\nPARENT A CHILD B\nFINAL F sh\n')
    dag.run()
    dag.run("--retry")
    dag.run()  # which finds nothing to run
    rescues = sorted(tmp_path.glob("x.dag.rescue*"))
    assert [rescue.name for rescue in rescues] == ["x.dag.rescue001", "x.dag.rescue002"]
    for rescue in rescues:
        assert [line for line in rescue.read_text().splitlines() if line[0] != "#"] == ["DONE A"]
    (tmp_path / "go").touch()
    assert dag.run("--store", str(tmp_path / "other"))["done"] == 3
    assert dag.ledger == ["A", "B", "F", "B", "F", "B", "F"]


def test_a_fresh_start_takes_no_notice_of_rescue_files(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\n")
    (tmp_path / "x.dag.rescue007").write_text("DONE A\n")
    dag.run("--store", str(tmp_path / "other"))
    assert dag.ledger == []
    dag.run("--fresh")
    assert dag.ledger == ["A"]


# --- refused -------------------------------------------------------------------------------------------------------


def test_a_missing_submit_file_is_refused_where_its_node_is(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nJOB B nowhere.sub\n")
    assert f'x.dag:{len(HEAD.splitlines()) + 2}: the command of "B" is not known' in dag.refused()


def test_save_points_are_refused_by_name_and_line(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nJOB B sh\nPARENT A CHILD B\nSAVE_POINT_FILE B here\n")
    assert f'x.dag:{len(HEAD.splitlines()) + 4}: SAVE_POINT_FILE of "B"' in dag.refused()


def test_what_is_htcondors_own_is_told_by_line_and_the_rest_runs(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path, "JOB A sh\nSCRIPT HOLD A held\nSET_JOB_ATTR Colour = 7\nDOT a.dot\nCONFIG x.config\nENV GET HOME\n"
    )
    done = headway("run", str(dag.path))
    assert done.returncode == 0 and dag.ledger == ["A"], done.stderr
    first, told = len(HEAD.splitlines()), done.stderr.splitlines()
    for line, word in ((2, "HOLD"), (3, "SET_JOB_ATTR"), (4, "DOT"), (5, "CONFIG"), (6, "ENV")):
        assert [said for said in told if f"x.dag:{first + line}: " in said and word in said], (word, told)


def test_the_default_order_is_prios_where_run_times_are_unknown(tmp_path: Path) -> None:
    """Fig. 3 of PRIO's paper, on one slot: c, a, b, d, e; first come, first served it would be a, c, b, d, e."""
    dag = Dag(tmp_path, "".join(f"JOB {name} sh\n" for name in "abcde") + "PARENT a CHILD b\nPARENT c CHILD d e\n")
    for words in ((), ("--order", "prio")):
        done = headway("run", str(dag.path), "--slots", "1", "--fresh", *words)
        assert done.returncode == 0, done.stderr
    assert dag.ledger == list("cabde") * 2
    headway("run", str(dag.path), "--slots", "1", "--fresh", "--order", "fifo")
    assert dag.ledger[10:] == list("acbde")
