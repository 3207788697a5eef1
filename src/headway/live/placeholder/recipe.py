"""A recipe of make whose lines are jobs: if one of them fails, the target is half-written, whichever line wrote it."""

from __future__ import annotations

from collections.abc import Iterable

from headway.live.placeholder.partial_outputs import remove_since
from headway.live.placeholder.running import TAKEN
from headway.model.messages import Finish, Lease, Seconds, WorkflowId


def settle_recipe(
    starts: dict[tuple[WorkflowId, str], Seconds], finish: Finish, lease: Lease, files: Iterable[str]
) -> None:
    """A line of a recipe has ended. If it failed, what the recipe has changed of its target is removed.

    As make does (.DELETE_ON_ERROR). What the failed line itself has changed is gone already. One that is tried again
    needs what those before it wrote. `starts`: when the first line of each recipe began.
    """
    target, _, number = lease.name.rpartition("#")
    if not target or not number.isdecimal():
        starts[lease.workflow, lease.name] = finish.started
        return
    if finish.exit_code == 0 or finish.reason == TAKEN:
        return
    if finish.exit_code is not None and not lease.is_final(finish.exit_code):
        return
    began = starts.get((lease.workflow, target))
    if began is not None:  # else another runner began it: the next run knows that the recipe was not done
        remove_since(files, began)
