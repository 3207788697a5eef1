"""Which workflow of a store a command means: every command asks here."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence

from headway.live.client.asking import GLANCE, asked
from headway.live.store.relative import resolved
from headway.live.store.sub_dags import is_sub_dag
from headway.model.errors import HeadwayError, NotFoundError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Submitted
    from headway.model.messages import WorkflowId


def chosen(store: Store, wanted: str | None = None, home: Home | None = None) -> Submitted:
    """The workflow of that number, file or name; among several, or without one, the one that runs now or ran last.

    A sub-DAG is meant only by its number, or where nothing else is. `home` is the folder of a local store: its runner
    knows what is run just now.
    """
    there = store.watching.workflows()  # the latest first
    if not there:
        raise NotFoundError("the store is empty: nothing was run yet.", "Run a workflow first: headway run W.")
    found = there if wanted is None else _meant(there, wanted)
    if not found:
        known = ", ".join(f"{one.id} ({one.name})" for one in there[:5])
        more = "" if len(there) <= 5 else ", …; headway runs lists them"
        raise NotFoundError(f"the store has no workflow {shown(str(wanted))}.", f"It has {known}{more}.")
    found = [one for one in found if not is_sub_dag(one.source)] or found
    if len(found) == 1:
        return found[0]
    busy, last = running(store, home), store.watching.last_run()
    return min(found, key=lambda one: (one.id not in busy, one.id != last, -one.id))


def _meant(there: Sequence[Submitted], wanted: str) -> list[Submitted]:
    """The workflows of a number; of a file, whatever its arguments were; or else of a name."""
    files = [shlex.quote(path) for path in (resolved(wanted), os.path.abspath(wanted))]  # noqa: PTH100 - not followed
    return (
        [one for one in there if str(one.id) == wanted]
        or [one for one in there if any(f"{one.source} ".startswith(f"{file} ") for file in files)]
        or [one for one in there if one.name == wanted]
    )


def running(store: Store, home: Home | None) -> frozenset[WorkflowId]:
    """The workflows that somebody runs now: its runner says so, or where it cannot be asked, jobs are given out."""
    if home is None or store.is_shared or home.is_foreign:
        return store.watching.leased() if store.watching.present(store.clock()) else frozenset()
    with contextlib.suppress(HeadwayError):  # it does not answer
        said = asked(home, patience=GLANCE)
        return frozenset() if said is None else store.watching.leased() | said.runs
    return store.watching.leased()
