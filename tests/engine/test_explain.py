"""Why a job does not run, in sentences."""

from __future__ import annotations

import pytest

from headway.engine.explain import Awaited, Facts, LastAttempt, because, named
from headway.engine.ready import Lane
from headway.model.states import Kind, State, Step


def attempt(
    code: int | None = None, reason: str = "", status: str = "", step: Step = Step.MAIN, stop: str = ""
) -> LastAttempt:
    return LastAttempt(2, "here", 100.0, None if code is None else 130.0, code, reason, status, step, stop)


@pytest.mark.parametrize(
    ("facts", "sentences"),
    [
        (Facts("a", State.RUNNING, attempt=attempt()), ["It has been running on here for 60 s."]),
        (
            Facts("a", State.RUNNING, off=True, attempt=attempt(status="half", stop="its user has stopped it")),
            ['It has been running on here for 60 s. It says: "half".', "It was told to end: its user has stopped it."],
        ),
        (
            Facts("a", State.RUNNING, attempt=attempt(step=Step.PRE)),
            ["Its PRE script has been running on here for 60 s."],
        ),
        (Facts("a", State.RUNNING, parts=(5, 2)), ["It runs: 2 of its 5 processes have not ended."]),
        (Facts("a", State.DONE, attempt=attempt(0)), ["It is done, at attempt 2 on here."]),
        (Facts("a", State.DONE), ["It is done: it was called so without being run."]),
        (
            Facts("a", State.FAILED, tries=3, attempt=attempt(-9, "time limit")),
            [
                "It failed after 3 tries: ended by signal 9 (time limit).",
                "Retry it: headway run --retry, or headway redo.",
            ],
        ),
        (
            Facts("f", State.WAITING, kind=Kind.FINAL),
            ["It is the final job: it runs when nothing else of the workflow can."],
        ),
        (
            Facts("a", State.WAITING, awaited=[Awaited(f"p{at}", State.LATER) for at in range(7)]),
            ["It waits for p0 (put off), p1 (put off), p2 (put off), p3 (put off), p4 (put off) and 2 more."],
        ),
        (
            Facts("a", State.ELIGIBLE, lane=Lane(named=(("gpu", 2),)), lane_running=["x"], cores=4, running=1),
            ["It wants 2 gpu, which x may hold.", "It is next, and waits for a slot of 4 cores: 1 job is running."],
        ),
        (
            Facts("a", State.ELIGIBLE, is_halted=True),
            [
                "It may run, and is next.",
                "One of its jobs has ended the workflow (ABORT-DAG-ON); it goes on with the next headway run.",
            ],
        ),
    ],
)
def test_sentences(facts: Facts, sentences: list[str]) -> None:
    assert because(facts, 160.0) == sentences


def test_a_job_that_is_called_done_after_it_failed_is_not_said_to_have_been_done_at_its_attempt() -> None:
    assert because(Facts("a", State.DONE, attempt=attempt(1)), 0.0) == [
        "It is done: it was called so without being run."
    ]


def test_names_are_short() -> None:
    assert named(["a"]) == "a" and named(["a", "b", "c"]) == "a, b and c" and named(list("abcdefg")).endswith("2 more")
