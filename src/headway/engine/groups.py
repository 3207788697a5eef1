"""How a group stands, from how its jobs do."""

from __future__ import annotations

from collections.abc import Mapping

from headway.model.states import State

# What users are told, in this order; the keys of every count.
WORDS = {
    State.WAITING: "waiting",
    State.ELIGIBLE: "eligible",
    State.RUNNING: "running",
    State.DONE: "done",
    State.FAILED: "failed",
    State.DISABLED: "disabled",
    State.LATER: "later",
}


def shown_state(state: State, off: bool) -> State:
    """A job's state as users see it: one that they have switched off is disabled, even while it has to wait."""
    return State.DISABLED if off and state in (State.WAITING, State.ELIGIBLE, State.LATER) else state


def group_state(counts: Mapping[State, int]) -> State:
    """One word for all jobs of a group: what happens there, what went wrong, or what it waits for."""
    if not any(count for state, count in counts.items() if state is not State.DONE):
        return State.DONE
    for state in (State.RUNNING, State.FAILED, State.ELIGIBLE, State.LATER, State.DISABLED):
        if counts.get(state):
            return state
    return State.WAITING


def worded(counts: Mapping[State, int]) -> dict[str, int]:
    """Counts by the words that users know, those of nothing too."""
    return {word: counts.get(state, 0) for state, word in WORDS.items()}
