"""What a run would do, without doing it: nothing is started, and no folder or store is made."""

from __future__ import annotations

from pathlib import Path

from headway.engine.plan import Known, Plan
from headway.live.choice import Choice
from headway.live.run import carried, changed, submission_of
from headway.live.store.arrangement import known, last_starts
from headway.live.store.sqlite import SqliteStore
from headway.model.flatten import Flat
from headway.model.states import State

DONE = Known(State.DONE, True)


def dry_run(choice: Choice, folder: Path, fresh: bool) -> tuple[Flat, Plan]:
    """The graph of a workflow, and what happens to each job if it is run from the store in a folder."""
    submission, flat = submission_of(choice.source, choice.arguments, "fifo")
    database = folder / "store.db"
    if fresh or not database.is_file():
        return flat, choice.planned(flat)
    store = SqliteStore(database)
    try:
        earlier = store.latest(submission.source)
        if earlier is None:
            return flat, choice.planned(flat)
        number, digest = earlier
        if digest != submission.digest:
            if choice.source.format != "array":
                raise changed(choice.source)
            done = carried(store, number, choice.arguments)
            return flat, choice.planned(flat, {n: DONE for n, name in enumerate(flat.dag.names) if name in done})
        return flat, choice.planned(flat, known(store, number), last_starts(store, number))
    finally:
        store.close()
