"""What people see of a store."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.states import State

_PLACE = re.compile(r" @(\d+)\.\d+\.\d+$")


def sub_dag_mark(place: str, done: int) -> str:
    """What the source of a sub-DAG ends with: whose place it has, WORKFLOW.JOB, and how often that was done before."""
    return f"@{place}.{done}"


def is_sub_dag(source: str) -> bool:
    """Whether a workflow runs in place of a job of another."""
    return _PLACE.search(source) is not None


def above(source: str) -> WorkflowId | None:
    """The workflow that a sub-DAG is part of."""
    found = _PLACE.search(source)
    return None if found is None else WorkflowId(int(found[1]))


def without_place(source: str) -> str:
    """A source by its file and arguments, wherever it is run."""
    return _PLACE.sub("", source)


@dataclass(frozen=True, slots=True)
class Submitted:
    """A workflow in the store."""

    id: WorkflowId
    name: str
    source: str  # its file, and the arguments it was read with
    submitted: Seconds


@dataclass(frozen=True, slots=True)
class Span:
    """A group: its jobs are those from one place to another. A group of one job is that job."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A job, as far as it is."""

    job: JobId
    name: str
    state: State
    off: bool


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job under way."""

    workflow: WorkflowId
    job: JobId
    name: str
    lease: LeaseId
    attempt: int
    command: str
    host: str
    started: Seconds
    status: str  # what it says of itself
