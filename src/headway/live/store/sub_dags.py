"""What the source of a workflow says if it runs in place of a job of another."""

from __future__ import annotations

import re

from headway.model.messages import WorkflowId

_PLACE = r" @(\d+)\.\d+\.\d+$"


def sub_dag_mark(place: str, done: int) -> str:
    """What the source of a sub-DAG ends with: whose place it has, WORKFLOW.JOB, and how often that was done before."""
    return f"@{place}.{done}"


def is_sub_dag(source: str) -> bool:
    """Whether a workflow runs in place of a job of another."""
    return re.search(_PLACE, source) is not None


def above(source: str) -> WorkflowId | None:
    """The workflow that a sub-DAG is part of."""
    found = re.search(_PLACE, source)
    return None if found is None else WorkflowId(int(found[1]))


def without_place(source: str) -> str:
    """A source by its file and arguments, wherever it is run."""
    return re.sub(_PLACE, "", source)
