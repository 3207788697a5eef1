"""A recipe of make whose lines are jobs: if one of them fails, the target is half-written, whichever line wrote it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from headway.live.placeholder.partial_outputs import remove_since
from headway.live.placeholder.running import TAKEN
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, JobId, Lease

if TYPE_CHECKING:
    from headway.live.store import Store


def remove_target(store: Store, finish: Finish, lease: Lease, files: Iterable[str]) -> None:
    """Removes what a recipe has changed of its target since its first line began, as make does (.DELETE_ON_ERROR).

    What the failed line itself has changed is gone already. One that is tried again needs what those before it wrote.
    """
    target, _, number = lease.name.rpartition("#")
    if not target or not number.isdecimal() or finish.reason == TAKEN:
        return
    if finish.exit_code is not None and not lease.is_final(finish.exit_code):
        return
    with contextlib.suppress(HeadwayError):  # no store: the next run knows that the recipe was not done
        began = store.progress.began(lease.workflow, JobId(lease.job - int(number) + 1), target)
        if began is not None:
            remove_since(files, began)
