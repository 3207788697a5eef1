"""DAGMan's own files about a DAG: what names and numbers look like in them."""

from __future__ import annotations

from headway.formats.dagman.status import NodeLine, NodeStatus, Trial, Tries, status_text
from headway.model.job import PLAIN, Rules, Script, Tolerance


def trial(lease: int, step: str, code: int | None, process: int = 0, processes: int = 1, rules: Rules = PLAIN) -> Trial:
    ended = None if code == -99 else lease + 0.5
    return Trial("A", process, processes, rules, lease, step, float(lease), ended, None if code == -99 else code)


def said(*trials: Trial) -> list[tuple[int, str]]:
    tries = Tries()
    return [line for one in trials for line in tries.lines(one)]


def test_names_are_quoted_and_the_counts_are_those_of_the_nodes() -> None:
    nodes = [NodeLine('a"b\\c', NodeStatus.DONE), NodeLine("d", NodeStatus.SUBMITTED, retries=2, queued=3)]
    text = status_text('x".dag', nodes, 7, "then", code=None, next_update=60)
    assert 'Node = "a\\"b\\\\c";' in text and 'DagFiles = { "x\\".dag" };' in text
    assert "NodesDone = 1;" in text and "NodesQueued = 1;" in text and "JobProcsRunning = 3;" in text
    assert 'DagStatus = 3; /* "STATUS_SUBMITTED" */' in text and "NextUpdate = 60;" in text
    assert text.count("[\n") == text.count("]\n") == 4


def test_a_dag_that_has_ended_has_no_next_update() -> None:
    text = status_text("x", [NodeLine("a", NodeStatus.ERROR)], 7, "then", 0, 60)
    assert "NextUpdate = 0;" in text and 'DagStatus = 5; /* "STATUS_DONE (success)" */' in text  # a final node decides


def test_an_attempt_that_never_began_is_not_told_of() -> None:
    assert said(Trial("A", 0, 1, PLAIN, 1, "JOB", None, 4.0, None)) == []


def test_a_script_that_is_put_off_after_the_job_is_the_same_try_and_a_job_again_is_another() -> None:
    lines = said(
        *(trial(1, "JOB", 0), trial(2, "POST_SCRIPT", 4), trial(3, "POST_SCRIPT", 4), trial(4, "JOB", 0)),
    )
    sequences = [line.rpartition(" ")[2] for _, line in lines]
    assert sequences == ["1"] * 10 + ["2"] * 4 and lines[-4] == (4, "A SUBMIT 4.0 local - 2")


def test_a_node_of_several_processes_ends_once_and_as_it_tolerates() -> None:
    pair = [trial(1, "JOB", 3, 0, 2), trial(2, "JOB", 0, 1, 2)]
    assert said(*pair)[-1] == (2, "A JOB_FAILURE 3 local - 1")
    assert sum("JOB_FAILURE" in line for _, line in said(*pair)) == 1
    rules = Rules(tolerance=Tolerance(1))
    lenient = [trial(1, "JOB", 3, 0, 2, rules), trial(2, "JOB", 0, 1, 2, rules)]
    assert said(*lenient)[-1] == (2, "A JOB_SUCCESS 0 local - 1")


def test_a_process_under_way_has_begun_and_not_ended() -> None:
    assert said(trial(5, "JOB", -99)) == [(5, "A SUBMIT 5.0 local - 1"), (5, "A EXECUTE 5.0 local - 1")]


def test_a_node_that_is_skipped_says_so_and_one_of_no_work_is_never_executed() -> None:
    assert said(trial(1, "PRE_SCRIPT", 3, rules=Rules(pre_skip=3)))[-2:] == [
        (1, "A PRE_SCRIPT_FAILURE - local - 1"),
        (1, "A PRESKIP 0.2147483647 local - 1"),
    ]
    lines = said(trial(1, "JOB", 0, rules=Rules(noop=True)), trial(2, "POST_SCRIPT", 0, rules=Rules(noop=True)))
    words = ("SUBMIT", "JOB_TERMINATED", "POST_SCRIPT_STARTED", "POST_SCRIPT_TERMINATED", "POST_SCRIPT_SUCCESS")
    told = [line for _, line in lines if "JOB_SUCCESS" not in line]
    assert told == [f"A {word} 0.2147483647 local - 1" for word in words]


def test_a_script_that_is_put_off_has_begun_and_is_no_try() -> None:
    rules = Rules(pre=Script("pre", defer=(4, 1)), retries=1)
    tries, trials = Tries(), [trial(1, "PRE_SCRIPT", 4, rules=rules), trial(2, "PRE_SCRIPT", 0, rules=rules)]
    words = [line.split()[1] for one in trials for _, line in tries.lines(one)]
    assert words == ["PRE_SCRIPT_STARTED", "PRE_SCRIPT_STARTED", "PRE_SCRIPT_SUCCESS"] and tries.count["A"] == 1


def test_details_are_told_in_dagmans_words() -> None:
    def details(*trials: Trial, rules: Rules = PLAIN) -> str:
        tries = Tries()
        for one in trials:
            list(tries.lines(one))
        return tries.details("A", rules)

    job, post = trial(1, "JOB", 4), trial(2, "POST_SCRIPT", 5)
    assert details(trial(1, "PRE_SCRIPT", 3)) == "PRE Script failed with status 3"
    assert details(trial(1, "PRE_SCRIPT", -9)) == "PRE Script died on signal 9 (Killed)"
    assert details(job) == "Job proc (1.0.0) failed with status 4"
    assert details(trial(1, "JOB", -9)) == "Job proc (1.0.0) failed with signal 9"
    assert details(job, post) == "Job exited with status 4 and POST Script failed with status 5"
    assert details(trial(1, "JOB", -9), post) == "Job died on signal 9 and POST Script failed with status 5"
    assert details(trial(1, "JOB", 0), post) == "Job failed due to DAGMAN error 0 and POST Script failed with status 5"
    twice = [job, trial(2, "JOB", 4)]
    assert details(*twice, rules=Rules(retries=1)) == "Job proc (2.0.0) failed with status 4 (after 1 node retries)"
    assert details(job, rules=Rules(retries=1, unless_exit=4)) == "Job proc (1.0.0) failed with status 4"
    assert details(job, post, rules=Rules(retries=1, unless_exit=5)) == "POST script failed with status 5"
