"""Workflows inside jobs that are to end: their final jobs run first, and the store is asked for that once."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import cast

from headway.live.placeholder.runner import Runner
from headway.live.placeholder.sub_workflows import WindingUp
from headway.model.messages import LeaseId, WorkflowId

INSIDE, JOB, OTHER = WorkflowId(5), LeaseId(77), LeaseId(78)
NOW = 1000.0


def runner(asked: list[WorkflowId], ended: list[LeaseId]) -> Runner:
    """A runner with a job in whose place a workflow runs."""

    def inside(leases: Collection[LeaseId]) -> dict[WorkflowId, LeaseId]:
        return {INSIDE: JOB} if JOB in leases else {}

    made = object.__new__(Runner)
    made.winding_up = WindingUp(made)
    made.sub_workflows = SimpleNamespace(  # type: ignore[assignment]
        inside=inside, stop_inside=lambda leases, now: False, call_off=lambda lease: None
    )
    made.exchange = cast(  # type: ignore[assignment]
        "object", SimpleNamespace(send=lambda winds_up: asked.append(winds_up), trouble="", put_back=lambda *_: None)
    )
    made.jobs = SimpleNamespace(end=lambda leases, now: ended.extend(leases))  # type: ignore[assignment]
    made.demand = SimpleNamespace(marks={"x"})  # type: ignore[assignment]
    return made


def test_a_workflow_is_wound_up_once_however_often_its_job_is_told_to_end() -> None:
    asked, ended = list[WorkflowId](), list[LeaseId]()
    made = runner(asked, ended)
    made.end([JOB, OTHER], NOW)
    assert asked == [INSIDE] and ended == [OTHER]
    made.end([JOB], NOW)
    made.winding_up.go_on({INSIDE: []}, NOW)
    made.end([JOB], NOW)  # the store says so with every roll call, until the final job has ended
    assert asked == [INSIDE] and ended == [OTHER]


def test_a_workflow_without_a_final_job_ends_like_any_other() -> None:
    asked, ended = list[WorkflowId](), list[LeaseId]()
    made = runner(asked, ended)
    made.end([JOB], NOW)
    made.winding_up.go_on({INSIDE: None}, NOW)
    assert ended == [JOB]
