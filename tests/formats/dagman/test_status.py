"""DAGMan's own files about a DAG: what names and numbers look like in them."""

from __future__ import annotations

from headway.formats.dagman.status import NodeLine, NodeStatus, Trial, Tries, status_text


def trial(lease: int, step: str, code: int | None, process: int = 0, processes: int = 1, tolerated: int = 0) -> Trial:
    ended = None if code == -99 else lease + 0.5
    return Trial("A", process, processes, tolerated, lease, step, float(lease), ended, None if code == -99 else code)


def said(*trials: Trial) -> list[tuple[int, str]]:
    tries = Tries()
    return [line for one in trials for line in tries.lines(one)]


def test_names_are_quoted_and_the_counts_are_those_of_the_nodes() -> None:
    nodes = [NodeLine('a"b\\c', NodeStatus.DONE), NodeLine("d", NodeStatus.SUBMITTED, retries=2, queued=3)]
    text = status_text('x".dag', nodes, 7, "then", ended=False, next_update=60)
    assert 'Node = "a\\"b\\\\c";' in text and 'DagFiles = { "x\\".dag" };' in text
    assert "NodesDone = 1;" in text and "NodesQueued = 1;" in text and "JobProcsRunning = 3;" in text
    assert 'DagStatus = 3; /* "STATUS_SUBMITTED" */' in text and "NextUpdate = 60;" in text
    assert text.count("[\n") == text.count("]\n") == 4


def test_a_dag_that_has_ended_has_no_next_update() -> None:
    assert "NextUpdate = 0;" in status_text("x", [NodeLine("a", NodeStatus.DONE)], 7, "then", True, 60)


def test_an_attempt_that_never_began_is_not_told_of() -> None:
    assert said(Trial("A", 0, 1, 0, 1, "JOB", None, 4.0, None)) == []


def test_a_script_that_is_put_off_after_the_job_is_the_same_try_and_a_job_again_is_another() -> None:
    lines = said(
        *(trial(1, "JOB", 0), trial(2, "POST_SCRIPT", 4), trial(3, "POST_SCRIPT", 4), trial(4, "JOB", 0)),
    )
    sequences = [line.rpartition(" ")[2] for _, line in lines]
    assert sequences == ["1"] * 8 + ["2"] * 4 and lines[-4] == (4, "A SUBMIT 4.0 local - 2")


def test_a_node_of_several_processes_ends_once_and_as_it_tolerates() -> None:
    pair = [trial(1, "JOB", 3, 0, 2), trial(2, "JOB", 0, 1, 2)]
    assert said(*pair)[-1] == (2, "A JOB_FAILURE 3 local - 1")
    assert sum("JOB_FAILURE" in line for _, line in said(*pair)) == 1
    lenient = [trial(1, "JOB", 3, 0, 2, 1), trial(2, "JOB", 0, 1, 2, 1)]
    assert said(*lenient)[-1] == (2, "A JOB_SUCCESS 0 local - 1")


def test_a_process_under_way_has_begun_and_not_ended() -> None:
    assert said(trial(5, "JOB", -99)) == [(5, "A SUBMIT 5.0 local - 1"), (5, "A EXECUTE 5.0 local - 1")]
