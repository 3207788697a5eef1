"""What a run would do, without doing it: nothing is started, and no folder or store is made."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from headway.engine.edited import REFUSE
from headway.engine.plan import Known, Plan
from headway.live.home.store_location import is_store
from headway.live.runs.earlier import carried_over, disabled
from headway.live.runs.rescue import rescue_of, rescued
from headway.live.runs.selection import Choice
from headway.live.runs.submit import latest_of, submission_of
from headway.live.store import Store, looked_at
from headway.live.store.arrangement import Made, earlier, known, last_starts, made
from headway.live.store.submission import Submission
from headway.model.flatten import Flat
from headway.model.messages import WorkflowId
from headway.model.states import State

DONE = Known(State.DONE, True)


def dry_run(
    choice: Choice, place: Path | str, fresh: bool, edited: str = REFUSE, heard: list[str] | None = None
) -> tuple[Flat, Plan]:
    """The graph of a workflow, and what happens to each job if it is run from the store in a file or on a server.

    `heard` gets what a run would warn of.
    """
    submission, flat = submission_of(choice.source, choice.arguments, "fifo")
    if heard is not None:
        heard += submission.warnings
    if (fresh and not choice.is_judged) or (isinstance(place, Path) and not is_store(place)):
        return _anew(choice, flat, fresh)
    store = looked_at(place)
    try:
        latest = latest_of(store, submission.source, choice.source, choice.arguments)
        if latest is None:
            return _anew(choice, flat, fresh, choice.with_halves(store, None, flat, {}))
        number, digest = latest
        if digest == submission.digest and not fresh:
            owed = choice.owed(store, number, flat)
            return flat, choice.planned(flat, known(store.database, number), last_starts(store.database, number), owed)
        if fresh:
            return flat, choice.planned(flat, owed=_owed(choice, store, number, submission, flat))
        way = choice.way(edited)
        done = carried_over(store, number, choice.source, choice.arguments, submission, flat, way)
        off, before = disabled(store, number), store.submissions.definitions(number)
        return flat, choice.planned(
            flat,
            {
                node: DONE if name in done else Known(off=name in off, edited=before[name][0])
                for node, name in enumerate(flat.dag.names)
                if name in before
            },
            owed=_owed(choice, store, number, submission, flat, done),
        )
    finally:
        store.close()


def _owed(
    choice: Choice,
    store: Store,
    latest: WorkflowId,
    submission: Submission,
    flat: Flat,
    done: Container[str] = (),
) -> Mapping[str, str]:
    """What of a Makefile would have to be made, whatever its files look like, if it were submitted now."""
    if not choice.is_judged or choice.always:
        return {}
    from headway.live.runs.uptodate import owed

    named = zip(flat.dag.names, submission.definitions(), strict=True)
    now = {name: Made(definition, name in done) for name, definition in named if definition is not None}
    found = owed(flat, now, (made(store.database, one) for one in (latest, *earlier(store.database, latest))))
    return choice.with_halves(store, None, flat, found)


def _anew(choice: Choice, flat: Flat, fresh: bool, owed: Mapping[str, str] | None = None) -> tuple[Flat, Plan]:
    """What no run has begun yet; a rescue file, and DAGMan's DONE, say what is done all the same."""
    rescue = None if fresh else rescue_of(choice.source)
    if rescue is not None:
        _, flat = submission_of(rescued(choice.source, rescue), choice.arguments, "fifo")
    done = {node: DONE for node, job in enumerate(flat.jobs) if job is not None and job.rules.done}
    return flat, choice.planned(flat, done, owed=owed)
