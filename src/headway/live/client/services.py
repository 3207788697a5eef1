"""What can be asked of a store and done to it; every door leads here."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from headway.engine.explain import because
from headway.engine.groups import WORDS, shown_state
from headway.live.client.asking import is_served, prefetched
from headway.live.client.line import Line
from headway.live.client.messages import Look
from headway.live.store.views import Span, Submitted
from headway.model.errors import HeadwayError, NotFoundError, shown, unquoted
from headway.model.messages import LeaseId
from headway.model.record import record
from headway.model.states import State

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store

VERBS = ("enable", "disable", "stop", "done", "redo")
PATIENCE = 10.0  # seconds that jobs have to end when they are stopped: they are asked first, and made to after five
_ALL = (0, 1 << 62)  # places of all jobs
_HEARD = 2.0  # seconds for the runner to answer


# --- names ----------------------------------------------------------------------------------------------------------


def found_groups(store: Store, workflow: Submitted, words: Iterable[str]) -> list[Span]:
    """The groups that words mean: paths, names of jobs, or patterns with * ? [ of them."""
    return [span for word in words for span in _found(store, workflow, word)]


def _found(store: Store, workflow: Submitted, word: str) -> list[Span]:
    exact = store.places.group(workflow.id, word)
    if exact is not None:
        return [exact]
    jobs = store.places.seen(workflow.id, *_ALL)
    spans = [*store.places.groups(workflow.id), *(Span(one.name, one.job, one.job) for one in jobs)]
    if any(sign in word for sign in "*?["):
        matching = [span for span in spans if fnmatchcase(span.path, word)]
        if matching:
            return matching
    raise _missing("group or job", word, [span.path for span in spans])


def _missing(what: str, word: str, names: Sequence[str]) -> NotFoundError:
    from difflib import get_close_matches

    if len(names) > 5000:  # comparing all would take seconds
        names = [name for name in names if name[:2] == word[:2] or word in name][:5000]
    close = get_close_matches(word, names, 3, 0.5)
    hint = f"Did you mean {' or '.join(map(shown, close))}?" if close else "headway status lists the groups."
    return NotFoundError(f"there is no {what} {shown(word)}.", hint)


# --- watching -------------------------------------------------------------------------------------------------------


def explained(store: Store, home: Home | None, workflow: Submitted, name: str) -> tuple[str, list[str]]:
    """A job's state, and why it does not run."""
    place = store.places.place(workflow.id, name)
    if place is None:
        if store.places.group(workflow.id, name) is not None:
            raise NotFoundError(f"{shown(name)} is a group, not a job.", f"headway status {name} shows its jobs.")
        raise _missing("job", name, [one.name for one in store.places.seen(workflow.id, *_ALL)])
    now = store.clock()
    facts, last = (
        store.watching.facts(workflow.id, place, is_served(home, store, now)),
        store.history.last_attempt(workflow.id, place),
    )
    if (
        facts.state is State.RUNNING
        and last is not None
        and home is not None
        and last.lease in prefetched([home], store.is_shared)
    ):
        return WORDS[State.ELIGIBLE], ["It is next, and waits for a slot: the runner has it already."]
    why = because(facts, now)
    if facts.state is State.ELIGIBLE and not facts.running and store.is_shared:
        why += _queued(store)
    return WORDS[shown_state(facts.state, facts.off)], why


def _queued(store: Store) -> list[str]:
    """What was asked of batch queues and waits there."""
    from headway.live.store import allocations

    waiting = (allocations.State.ASKED, allocations.State.QUEUED)
    count = Counter(one.site for one in store.allocations.all() if one.state in waiting)
    return [
        f"{'1 allocation waits' if number == 1 else f'{number:,} allocations wait'} in the queue of {unquoted(site)}."
        for site, number in count.items()
    ]


# --- steering -------------------------------------------------------------------------------------------------------


@record
class Outcome:
    """What steering has changed."""

    changed: Sequence[str]
    stopping: int = 0  # attempts that were told to end and have not


def steer(
    store: Store, home: Home | None, workflow: Submitted, verb: str, words: Sequence[str], only: bool = False
) -> Outcome:
    """Carries a verb out on groups, tells the runner, and waits for what is to end."""
    return steer_spans(store, home, workflow, verb, found_groups(store, workflow, words), only)


def steer_spans(
    store: Store,
    home: Home | None,
    workflow: Submitted,
    verb: str,
    spans: Sequence[Span],
    only: bool = False,
    patience: float = PATIENCE,
) -> Outcome:
    """The same on groups that were found already."""
    changed, stops = store.steering.steer(verb, workflow.id, [(span.first, span.last) for span in spans], only)
    told = changed and tell_runner(home)
    if not stops:
        return Outcome(changed)
    return Outcome(changed, _still_running(store, set(stops), patience if told else 0.0))


def _still_running(store: Store, leases: set[LeaseId], patience: float) -> int:
    deadline = time.monotonic() + patience
    while left := leases.intersection(store.leases.open_leases()):
        if time.monotonic() >= deadline:
            return len(left)
        time.sleep(0.02)
    return 0


def tell_runner(home: Home | None) -> bool:
    """Lets the local runner know that the store was changed; whether there is one. Others look by themselves."""
    if home is None:
        return False
    with contextlib.suppress(HeadwayError):  # one that hangs looks by itself when it goes on
        line = Line.to(home, _HEARD)
        if line is not None:
            with line:
                line.say(Look())
                return True
    return False
