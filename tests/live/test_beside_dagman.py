"""Where a real DAGMan did otherwise: each as it was seen on a pool, where tests/htcondor compares many more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live.ledger import until
from tests.live.test_dagman_files import FILES, told
from tests.live.test_dagman_semantics import Dag
from tests.shell import headway

SLEEPS = 'VARS L do="touch up; exec sleep 300"\n'


def rescues(folder: Path, dag: str = "x.dag") -> list[str]:
    return sorted(path.name for path in folder.glob(f"{dag}.rescue*"))


# --- rescue files ----------------------------------------------------------------------------------------------------


def test_a_rescue_file_of_dagman_names_the_nodes_that_it_put_between_many_and_many(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nJOB B sh\nJOB C sh\nJOB D sh\nPARENT A B CHILD C D\n")
    (tmp_path / "x.dag.rescue001").write_text("DONE A\nDONE B\nDONE C\nDONE _condor_join_node1\n")
    assert dag.run()["done"] == 4 and dag.ledger == ["D"]


def test_a_rescue_file_that_names_a_join_node_of_ours_is_read(tmp_path: Path) -> None:
    text = "".join(f"JOB {letter} sh\n" for letter in "ABCDEF") + "PARENT A B C CHILD D E F\n"
    (tmp_path / "x.dag.rescue001").write_text("DONE A\nDONE B\nDONE C\nDONE _condor_join_node0\n")
    dag = Dag(tmp_path, text)
    assert dag.run()["done"] == 6 and sorted(dag.ledger) == ["D", "E", "F"]


def test_a_rule_for_a_join_node_is_an_error_that_says_so(tmp_path: Path) -> None:
    text = (
        "".join(f"JOB {letter} sh\n" for letter in "ABCDEF") + "PARENT A B C CHILD D E F\nRETRY _condor_join_node0 2\n"
    )
    assert "x.dag:16: " in (said := Dag(tmp_path, text).refused()) and "joins many parents" in said


def test_a_rescue_file_is_written_whenever_dagman_writes_one(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="exit 1"\n')
    dag.run(code=3)
    dag.run("--retry", code=3)
    assert rescues(tmp_path) == ["x.dag.rescue001", "x.dag.rescue002"]  # though nothing is done


def test_no_rescue_file_is_written_by_a_dag_that_is_ended_well(tmp_path: Path) -> None:
    Dag(tmp_path, 'JOB A sh\nVARS A do="exit 7"\nABORT-DAG-ON A 7 RETURN 0\nJOB B sh\nPARENT A CHILD B\n').run()
    assert rescues(tmp_path) == []


def test_a_rescue_file_is_written_by_the_run_that_finds_what_failed_after_the_last_one_was_killed(
    tmp_path: Path,
) -> None:
    dag = Dag(
        tmp_path, 'JOB A sh\nJOB B sh\nPARENT A CHILD B\nVARS B do="until test -e go; do sleep 0.02; done; exit 1"\n'
    )
    run = subprocess.Popen([sys.executable, "-m", "headway", "run", str(dag.path)], stderr=subprocess.DEVNULL)
    until(lambda: "B" in dag.ledger)
    run.kill()
    run.wait()
    (tmp_path / "go").touch()
    until(lambda: json.loads(headway("status", "--json", cwd=tmp_path).stdout)["workflows"][0]["failed"])
    assert rescues(tmp_path) == []
    for _ in range(2):  # the second one finds nothing new
        dag.run(code=3)
        assert rescues(tmp_path) == ["x.dag.rescue001"] and dag.ledger == ["A", "B"]
    assert (tmp_path / "x.dag.rescue001").read_text().splitlines()[-1] == "DONE A"


# --- how a DAG ends --------------------------------------------------------------------------------------------------


def test_a_final_node_decides_over_failed_nodes_and_over_what_a_node_returns(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="exit 7"\nFINAL F sh\nVARS F do="test ! -e bad"\n')
    assert dag.run()["failed"] == 1 and rescues(tmp_path) == ["x.dag.rescue001"]
    dag.path.write_text(dag.path.read_text() + "ABORT-DAG-ON A 7 RETURN 17\n")
    dag.run("--fresh")
    (tmp_path / "bad").touch()
    dag.run("--fresh", code=3)


def test_a_run_whose_final_node_decides_against_its_jobs_says_so(tmp_path: Path) -> None:
    done = headway("run", str(Dag(tmp_path, 'JOB A sh\nVARS A do="exit 7"\nFINAL F sh\n').path))
    assert done.returncode == 0 and "FINAL node has ended well, which decides: exit code 0." in done.stderr


@pytest.mark.parametrize("rule", ["", "ABORT-DAG-ON A 7 RETURN 17\n"])
def test_a_final_node_that_is_called_done_does_not_decide(tmp_path: Path, rule: str) -> None:
    """A DAG that had failed ended with exit code 0 once its FINAL node was called done."""
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="exit 7"\nFINAL F sh\nVARS F do="exit 1"\n{rule}')
    dag.run(code=3)
    assert headway("done", "F", cwd=tmp_path).returncode == 0
    assert dag.run(code=17 if rule else 3)["done"] == 1 and dag.ledger == ["A", "F"]
    assert headway("done", "A", cwd=tmp_path).returncode == 0
    dag.run()


@pytest.mark.parametrize("returns", [17, 0])
def test_the_next_run_ends_with_what_a_node_has_made_the_dag_return(tmp_path: Path, returns: int) -> None:
    """It ended with 3, or with 0."""
    dag = Dag(
        tmp_path,
        f'JOB A sh\nVARS A do="test -e go || exit 7"\nABORT-DAG-ON A 7 RETURN {returns}\n'
        'JOB B sh\nPARENT A CHILD B\nJOB C sh\nVARS C do="test ! -e bad"\nPRIORITY A 9\n',
    )
    assert headway("run", str(dag.path), "--slots", "1", "--order", "fifo").returncode == returns
    assert dag.ledger == ["A"]
    for _ in range(2):  # C is done, and then nothing is left to do
        done = headway("run", str(dag.path))
        assert done.returncode == returns and dag.ledger == ["A", "C"]
        assert ("ABORT-DAG-ON says RETURN 0, which decides: exit code 0." in done.stderr) == (returns == 0)
    (tmp_path / "go").touch()
    dag.run("--retry")
    assert dag.ledger == ["A", "C", "A", "B"]


def test_a_node_that_fails_later_is_not_hidden_by_what_another_has_made_the_dag_return(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="exit 7"\nABORT-DAG-ON A 7 RETURN 0\nJOB C sh\nVARS C do="exit 1"\n')
    assert headway("run", str(dag.path), "--slots", "1", "--order", "fifo").returncode == 0 and dag.ledger == ["A"]
    for _ in range(2):
        dag.run(code=3)
    assert dag.ledger == ["A", "C"]


def test_a_final_node_decides_in_a_sub_dag(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL U u.dag\nSCRIPT POST U post $RETURN\nJOB B sh\nPARENT U CHILD B\n")
    dag.script("post", "exit $1")
    Dag(tmp_path, 'JOB S sh\nVARS S do="exit 7"\nFINAL F sh\n').path.rename(tmp_path / "u.dag")
    dag = Dag(tmp_path, "SUBDAG EXTERNAL U u.dag\nSCRIPT POST U post $RETURN\nJOB B sh\nPARENT U CHILD B\n")
    assert dag.run()["done"] == 2 and dag.ledger == ["S", "F", "post 0", "B"]


def test_a_node_that_ends_the_dag_without_a_word_returns_its_exit_code(tmp_path: Path) -> None:
    Dag(tmp_path, 'JOB A sh\nVARS A do="exit 10"\nRETRY A 2\nABORT-DAG-ON A 10\n').run(code=10)


def test_a_service_ends_though_a_process_of_a_node_has_failed(tmp_path: Path) -> None:
    """It went on for ever: nobody was told of the processes that were called off, and so nobody looked."""
    dag = Dag(
        tmp_path,
        'SERVICE S sh\nVARS S do="exec sleep 300"\nJOB A three\n'
        'VARS A do="test $(Process) = 1 || exec sleep 300; sleep 0.4; exit 3"\n',
    )
    command = [sys.executable, "-m", "headway", "run", str(dag.path), "--slots", "4", "--json"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 3 and json.loads(done.stdout)["failures"][0]["exit_code"] == 3


def test_a_final_node_that_failed_is_retried(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nFINAL F sh\nSCRIPT PRE F pre\nVARS F do="test -e go"\n')
    dag.script("pre", "")
    dag.run(code=3)
    (tmp_path / "go").touch()
    assert dag.run(code=3)["failed"] == 1  # nobody asked for it
    assert dag.run("--retry")["done"] == 2 and dag.ledger == ["A", "pre", "F", "pre", "F"]


# --- sub-DAGs --------------------------------------------------------------------------------------------------------


def nested(folder: Path, outer: str, inner: str) -> Dag:
    Dag(folder, inner).path.rename(folder / "u.dag")
    return Dag(folder, outer)


@pytest.mark.parametrize(
    ("rules", "code"),
    [("RETRY U 3 UNLESS-EXIT 1\n", 3), ("ABORT-DAG-ON U 1 RETURN 9\n", 9), ("SCRIPT POST U post $RETURN\n", 0)],
)
def test_a_sub_dag_that_fails_returns_1_to_its_node(tmp_path: Path, rules: str, code: int) -> None:
    dag = nested(tmp_path, f"SUBDAG EXTERNAL U u.dag\n{rules}", 'JOB S sh\nVARS S do="exit 7"\n')
    dag.script("post", "")
    dag.run(code=code)
    assert dag.ledger == ["S", "post 1"][: 2 if "POST" in rules else 1]
    assert rescues(tmp_path, "u.dag") == ["u.dag.rescue001"]


def test_a_sub_dag_that_cannot_be_read_returns_1_to_its_node(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "SUBDAG EXTERNAL U u.dag\nSCRIPT POST U post $RETURN\n")
    (tmp_path / "u.dag").write_text("NONSENSE here\n")
    dag.script("post", "")
    dag.run()
    assert dag.ledger == ["post 1"]


def test_a_dag_that_is_ended_lets_a_sub_dag_run_its_final_node(tmp_path: Path) -> None:
    dag = nested(
        tmp_path,
        'JOB A sh\nVARS A do="until test -e up; do sleep 0.02; done; exit 7"\nABORT-DAG-ON A 7 RETURN 5\n'
        "SUBDAG EXTERNAL U u.dag\n",
        "JOB L sh\n"
        + SLEEPS
        + 'JOB M sh\nPARENT L CHILD M\nFINAL F sh\nSCRIPT PRE F pre $DAG_STATUS\nVARS F do="sleep 6"\n',
    )
    dag.script("pre", "")
    dag.run(code=5)
    assert dag.ledger[-2:] == ["pre 4", "F"] and "M" not in dag.ledger
    assert rescues(tmp_path, "u.dag") == ["u.dag.rescue001"]


def test_a_sub_dag_whose_post_script_fails_goes_on_from_its_last_rescue_file(tmp_path: Path) -> None:
    dag = nested(
        tmp_path,
        "SUBDAG EXTERNAL U u.dag\nRETRY U 3\nSCRIPT POST U post $RETRY\n",
        'JOB R sh\nJOB S sh\nVARS S do="mkdir tried 2> /dev/null && exit 1; exit 0"\nPARENT R CHILD S\n',
    )
    dag.script("post", "test $1 = 2")
    assert dag.run()["done"] == 1
    assert dag.ledger == ["R", "S", "post 0", "S", "post 1", "S", "post 2"]


# --- nodes and jobs --------------------------------------------------------------------------------------------------


def test_a_sub_dag_of_no_work_is_not_run(tmp_path: Path) -> None:
    dag = nested(tmp_path, "SUBDAG EXTERNAL U u.dag NOOP\nSCRIPT POST U post $RETURN\n", "JOB S sh\n")
    dag.script("post", "")
    assert dag.run()["done"] == 1 and dag.ledger == ["post 0"]


def test_a_pre_script_that_succeeds_skips_nothing(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT PRE A pre\nPRE_SKIP A 0\n")
    dag.script("pre", "")
    assert dag.run()["done"] == 1 and dag.ledger == ["pre", "A"]


@pytest.mark.parametrize(
    ("submit", "codes", "runs", "returned"),
    [
        ("max_retries = 2", "1", 3, 1),  # three runs for each try of the node
        ("max_retries = 2", "1 0", 2, 0),
        ("success_exit_code = 3", "3", 1, 3),  # the job's success, which DAGMan's node knows nothing of
        ("success_exit_code = 3", "0", 3, 0),
        ("max_retries = 3\nretry_until = 7", "1 7", 2, 7),
    ],
)
def test_a_submit_files_retries_are_the_jobs_own(
    tmp_path: Path, submit: str, codes: str, runs: int, returned: int
) -> None:
    (tmp_path / "j.sub").write_text(f"executable = job\narguments = {codes}\n{submit}\nqueue\n")
    dag = Dag(tmp_path, "JOB A j.sub\nRETRY A 1 UNLESS-EXIT 0\nSCRIPT POST A post $RETURN $RETRY\n")
    act = 'n=$(grep -c job ledger); while [ $# -gt 1 ] && [ $n -gt 1 ]; do shift; n=$((n - 1)); done; exit "$1"'
    dag.script("job", act)
    dag.script("post", "exit $1")
    found = dag.run(code=3 if returned else 0)
    assert dag.ledger[: runs + 1] == [*(["job " + codes] * runs), f"post {returned} 0"] and found["failed"] == bool(
        returned
    )
    if returned:  # and the node's own retry begins anew
        assert dag.ledger[-1] == f"post {int(codes.split()[-1])} 1"


def test_retries_that_cannot_be_computed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "j.sub").write_text("executable = /bin/true\nretry_until = ExitCode > 3\nqueue\n")
    said = Dag(tmp_path, "JOB A j.sub\n").refused()
    assert "j.sub:2: retry_until = " in said and "is no plain number" in said


def test_a_submit_file_alone_counts_its_own_exit_code_as_a_success(tmp_path: Path) -> None:
    (tmp_path / "j.sub").write_text("shell = echo run >> ledger; exit 3\nsuccess_exit_code = 3\nqueue\n")
    assert headway("run", "j.sub", cwd=tmp_path).returncode == 0
    assert (tmp_path / "ledger").read_text() == "run\n"


def test_the_words_of_scripts_may_be_written_in_any_case_of_letters(tmp_path: Path) -> None:
    dag = Dag(tmp_path, "JOB A sh\nSCRIPT PRE A pre $job $Retry $mAX_rETRIES\nSCRIPT POST A post $Return $node x$JOB\n")
    dag.script("pre", "")
    dag.script("post", "")
    dag.run()
    assert dag.ledger == ["pre A 0 0", "A", "post 0 A x$JOB"]


def test_scripts_are_told_how_each_process_ended(tmp_path: Path) -> None:
    words = "$RETURN $EXIT_CODES $EXIT_CODE_COUNTS $JOB_COUNT $JOB_ABORT_COUNT"
    act = "test $(Process) = 1 || exec sleep 300; until test $(grep -c ^A ledger) = 3; do sleep 0.02; done; exit 5"
    dag = Dag(
        tmp_path,
        f'JOB A three\nVARS A do="{act}"\nSCRIPT POST A post {words}\nJOB N sh NOOP\nSCRIPT POST N post {words}\n',
    )
    dag.script("post", "")
    done = headway("run", str(dag.path), "--slots", "4")
    assert done.returncode == 0, done.stderr
    assert {line for line in dag.ledger if line.startswith("post")} == {"post 5 5 5:1 3 2", "post 0 0 0:1 0 0"}


# --- files -----------------------------------------------------------------------------------------------------------


def block(folder: Path, node: str) -> dict[str, str]:
    found = next(part for part in (folder / "status").read_text().split("[\n") if f'Node = "{node}";' in part)
    return dict(line.strip().rstrip(";").split(" = ", 1) for line in found.splitlines() if " = " in line)


def test_the_status_file_has_dagmans_details_and_the_retries_of_this_run(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="exit 4"\nRETRY A 1\nJOB B sh\nPARENT A CHILD B\nJOB D sh DONE\n'
        "JOB P sh\nSCRIPT PRE P pre\nPRE_SKIP P 3\nJOB Q sh\nSCRIPT POST Q post\nRETRY Q 2\n" + FILES,
    )
    dag.script("pre", "exit 3")
    dag.script("post", "exit 5")
    for words in ((), ("--retry",)):
        dag.run(*words, code=3)
        failed = block(tmp_path, "A")
        assert failed["StatusDetails"].endswith('.0.0) failed with status 4 (after 1 node retries)"')
        assert failed["RetryCount"] == "1" and block(tmp_path, "Q")["RetryCount"] == "2"
        assert block(tmp_path, "Q")["StatusDetails"].startswith('"Job failed due to DAGMAN error 0 and POST Script')
        assert block(tmp_path, "B")["StatusDetails"] == '"Had an ancestor node fail"'
        assert block(tmp_path, "D")["StatusDetails"] == '"User defined as DONE"'
    lines = told(tmp_path)
    assert lines.count("P PRESKIP 0.2147483647 local - 1") + lines.count("P PRESKIP 0.2147483647 local - 2") == 1
    assert sum(" POST_SCRIPT_TERMINATED " in line for line in lines) == 6
    assert (tmp_path / "log").read_text().splitlines()[-1].endswith("DAGMAN_FINISHED 1 ***")


# --- what jobs can call ----------------------------------------------------------------------------------------------


def run_without_a_path(dag: Dag) -> dict[str, Any]:
    """As by somebody who calls Headway by its path and has nothing of it in PATH."""
    program = Path(sys.executable).with_name("headway")
    command = [str(program), "run", str(dag.path), "--json"]
    done = subprocess.run(command, capture_output=True, env={"PATH": "/usr/bin:/bin"}, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_job_finds_mqstatus(tmp_path: Path) -> None:
    assert run_without_a_path(Dag(tmp_path, 'JOB A sh\nVARS A do="mqstatus half"\n'))["done"] == 1


def test_so_does_a_job_that_sets_its_own_path(tmp_path: Path) -> None:
    environment = 'environment = "PATH=/own:/usr/bin:/bin"'
    (tmp_path / "own.sub").write_text(f"executable = /bin/sh\narguments = a.sh\n{environment}\nqueue\n")
    dag = Dag(tmp_path, "JOB A own.sub\n")
    dag.script("a.sh", 'mqstatus half && echo "$PATH" > path')
    assert run_without_a_path(dag)["done"] == 1
    services = Path(sys.executable).parent
    assert (tmp_path / "path").read_text() == f"/own:/usr/bin:/bin:{services}\n"


def test_so_does_a_job_that_sets_its_own_path_in_python(tmp_path: Path) -> None:
    (tmp_path / "w.py").write_text(
        "from headway import Workflow\n"
        'w = Workflow("w")\n'
        'w.job("a", "mqstatus half && mqstat > /dev/null", environment={"PATH": "/usr/bin:/bin"})\n'
    )
    dag = Dag(tmp_path, "")
    dag.path = tmp_path / "w.py"
    assert run_without_a_path(dag)["done"] == 1


def test_a_provisioner_that_calls_condor_chirp_is_heard(tmp_path: Path) -> None:
    act = "condor_chirp set_job_attr ProvisionerState 2; until test -e over; do sleep 0.02; done"
    dag = Dag(tmp_path, f'JOB A sh\nVARS A do="touch over"\nPROVISIONER P sh\nVARS P do="{act}"\n')
    assert run_without_a_path(dag)["failed"] == 0 and dag.ledger == ["P", "A"]


def test_a_provisioner_that_calls_condor_chirp_by_its_path_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "p.sub").write_text("executable = prov\nqueue\n")
    dag = Dag(tmp_path, "JOB A sh\nPROVISIONER P p.sub\n")
    dag.script("prov", "/usr/libexec/condor/condor_chirp set_job_attr ProvisionerState 2")
    assert "prov:3: the provisioner calls condor_chirp" in dag.refused()


# --- what the run says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["RETRY A 2 UNLESS-EXIT 3", "RETRY A 2\nABORT-DAG-ON A 3"])
def test_a_node_that_is_not_tried_again_is_not_said_to_be(tmp_path: Path, rule: str) -> None:
    Dag(tmp_path, f'JOB A sh\nVARS A do="exit 3"\n{rule}\n')
    done = headway("run", "x.dag", cwd=tmp_path)
    assert done.returncode == 3 and "failed: A (exit code 3)" in done.stderr and "tried again:" not in done.stderr


def test_a_node_of_several_processes_runs_by_its_group_too(tmp_path: Path) -> None:
    """The headline said one running, and the table said that it was eligible."""
    (tmp_path / "q.sub").write_text("executable = /bin/sleep\narguments = 60\nqueue 3\n")
    (tmp_path / "x.dag").write_text("JOB A q.sub\n")
    assert headway("run", "x.dag", "--detach", "--slots", "3", cwd=tmp_path).returncode == 0
    try:
        while not (found := json.loads(headway("status", "--json", cwd=tmp_path).stdout))["workflows"][0]["running"]:
            pass
        assert found["groups"][0]["state"] == "running" and found["groups"][0]["counts"]["running"] == 1
    finally:
        headway("cancel", cwd=tmp_path)
