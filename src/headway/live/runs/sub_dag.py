"""A workflow that runs in place of a job of another."""

from __future__ import annotations

from headway.live.runs.submit import source_of
from headway.live.store import Store
from headway.live.store.sub_dags import above, sub_dag_mark, without_place
from headway.live.store.views import Attempt
from headway.model.errors import HeadwayError
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Step
from headway.model.workflow import Workflow


def sub_dag(store: Store, dag: Workflow, place: str) -> str:
    """What a sub-DAG is known by beside its file: the job whose place it has, and how often that was done.

    A job that runs again runs its sub-DAG from the beginning; one that has not come to its end goes on with it.
    """
    workflow, _, _ = place.partition(".")
    sources = {one.id: one.source for one in store.watching.workflows()}
    outer: WorkflowId | None = WorkflowId(int(workflow))
    while outer in sources:
        if without_place(sources[outer]) == source_of(dag, ()):
            raise HeadwayError(
                f"{dag.source} is a sub-DAG of itself, which would never end.", "Give the sub-DAG a file of its own."
            )
        outer = above(sources[outer])
    runs = _tries(store, place)
    return sub_dag_mark(place, sum(run.step is Step.MAIN and run.exit_code == 0 for run in runs))


def is_tried_again(store: Store, place: str) -> bool:
    """Whether a job is tried again since its POST script has failed: then DAGMan goes on from the last rescue file."""
    ended = [run for run in _tries(store, place) if run.step is not Step.PRE and run.exit_code is not None]
    return bool(ended) and ended[-1].step is Step.POST and ended[-1].exit_code != 0


def _tries(store: Store, place: str) -> list[Attempt]:
    workflow, _, job = place.partition(".")
    return store.history.attempts(WorkflowId(int(workflow)), JobId(int(job)))
