"""The states of a job and the ways between them, as one table: the engine obeys it, the docs draw it."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """Stored as a number; the names are what people see."""

    WAITING = 0  # some parent is not done
    ELIGIBLE = 1  # may run now
    RUNNING = 2  # leased to a placeholder
    DONE = 3
    FAILED = 4


# From, to: what happened.
TRANSITIONS: dict[tuple[State, State], str] = {
    (State.WAITING, State.ELIGIBLE): "the last parent is done",
    (State.WAITING, State.DONE): "a milestone's last parent is done",
    (State.ELIGIBLE, State.RUNNING): "a placeholder takes it",
    (State.RUNNING, State.DONE): "it ended with exit code 0",
    (State.RUNNING, State.ELIGIBLE): "it failed and has retries left, was given back, or its placeholder is lost",
    (State.RUNNING, State.FAILED): "it failed for the last time",
    (State.FAILED, State.ELIGIBLE): "its user wants it retried",
}
