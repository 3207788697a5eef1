"""What a run would do, without doing it: nothing is started, and no folder or store is made."""

from __future__ import annotations

from pathlib import Path

from headway.engine.edited import REFUSE
from headway.engine.plan import Known, Plan
from headway.live.choice import Choice
from headway.live.rescue import rescue_of, rescued
from headway.live.store import looked_at
from headway.live.store.arrangement import known, last_starts
from headway.live.submit import carried_over, disabled, latest_of, submission_of
from headway.live.where import is_store
from headway.model.flatten import Flat
from headway.model.states import State

DONE = Known(State.DONE, True)


def dry_run(choice: Choice, place: Path | str, fresh: bool, edited: str = REFUSE) -> tuple[Flat, Plan]:
    """The graph of a workflow, and what happens to each job if it is run from the store in a file or on a server."""
    submission, flat = submission_of(choice.source, choice.arguments, "fifo")
    if fresh or (isinstance(place, Path) and not is_store(place)):
        return _anew(choice, flat, fresh)
    store = looked_at(place)
    try:
        earlier = latest_of(store, submission.source, choice.source, choice.arguments)
        if earlier is None:
            return _anew(choice, flat, fresh)
        number, digest = earlier
        if digest == submission.digest:
            return flat, choice.planned(flat, known(store, number), last_starts(store, number))
        done = carried_over(store, number, choice.source, choice.arguments, submission, flat, edited)
        off, before = disabled(store, number), store.definitions(number)
        return flat, choice.planned(
            flat,
            {
                node: DONE if name in done else Known(off=name in off, edited=before[name][0])
                for node, name in enumerate(flat.dag.names)
                if name in before
            },
        )
    finally:
        store.close()


def _anew(choice: Choice, flat: Flat, fresh: bool) -> tuple[Flat, Plan]:
    """What no run has begun yet; a rescue file, and DAGMan's DONE, say what is done all the same."""
    rescue = None if fresh else rescue_of(choice.source)
    if rescue is not None:
        _, flat = submission_of(rescued(choice.source, rescue), choice.arguments, "fifo")
    done = {node: DONE for node, job in enumerate(flat.jobs) if job is not None and job.rules.done}
    return flat, choice.planned(flat, done)
