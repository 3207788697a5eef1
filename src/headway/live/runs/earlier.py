"""What an edited workflow keeps of an earlier run of it: imported only if there was one and the file was changed."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.edited import REFUSE, RERUN, still_done
from headway.model.errors import UsageError
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store
    from headway.live.store.submission import Submission
    from headway.model.flatten import Flat
    from headway.model.messages import WorkflowId
    from headway.model.workflow import Workflow


def carried_over(
    store: Store,
    before: WorkflowId,
    workflow: Workflow,
    arguments: Sequence[str],
    submission: Submission,
    flat: Flat,
    edited: str,
) -> frozenset[str]:
    """The jobs of an edited workflow that an earlier run has done."""
    if workflow.format == "array":  # another list: lines that are done stay done
        return _carried(store, before, arguments)
    if edited == REFUSE:
        raise _changed(workflow)
    if store.leases.open_leases() and store.progress.counts(before).get(State.RUNNING):
        raise UsageError(
            f"{workflow.source} was changed, and jobs of what it was are running.", "Wait for them, or headway cancel."
        )
    names = flat.dag.names
    was = store.submissions.definitions(before)
    kept = still_done(flat.dag, submission.definitions(), was, edited)
    if workflow.format == "makefile" and edited == RERUN:
        from headway.live.reading.recipes import of_whole_recipes

        kept = of_whole_recipes(kept, flat, was)
    return frozenset(names[node] for node in kept)


def disabled(store: Store, workflow: WorkflowId) -> frozenset[str]:
    """The jobs that their user has disabled, and that stay so when the file is edited."""
    from headway.live.store.arrangement import known

    off = {job for job, one in known(store.database, workflow).items() if one.off}
    return frozenset(job.name for job in store.progress.jobs(workflow) if job.job in off) if off else frozenset()


def _carried(store: Store, workflow: WorkflowId, command: Sequence[str]) -> frozenset[str]:
    """Lines of a list that stay done when it is changed: those that are, unless the command has their numbers in it."""
    if any("{#}" in word for word in command):
        return frozenset()
    return frozenset(job.name for job in store.progress.jobs(workflow) if job.state is State.DONE)


def _changed(workflow: Workflow) -> UsageError:
    return UsageError(
        f"{workflow.source} was changed since it was last run; its jobs are not those in the store.",
        "Run it with --edited rerun (what has changed, and what follows), --edited keep, or --fresh.",
    )
