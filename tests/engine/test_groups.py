"""How a group stands."""

from __future__ import annotations

import pytest

from headway.engine.groups import group_state, shown_state, worded
from headway.model.states import State


@pytest.mark.parametrize(
    ("counts", "state"),
    [
        ({State.DONE: 3}, State.DONE),
        ({}, State.DONE),
        ({State.DONE: 1, State.WAITING: 1}, State.WAITING),
        ({State.DONE: 1, State.FAILED: 1, State.RUNNING: 1}, State.RUNNING),
        ({State.ELIGIBLE: 1, State.FAILED: 1}, State.FAILED),
        ({State.ELIGIBLE: 1, State.DISABLED: 1}, State.ELIGIBLE),
        ({State.WAITING: 1, State.DISABLED: 1}, State.DISABLED),
        ({State.WAITING: 1, State.LATER: 1}, State.LATER),
    ],
)
def test_one_word_says_how_a_group_stands(counts: dict[State, int], state: State) -> None:
    assert group_state(counts) is state


def test_what_is_switched_off_is_disabled_unless_it_has_begun() -> None:
    begun = (State.RUNNING, State.DONE, State.FAILED)
    assert all(shown_state(state, True) is (state if state in begun else State.DISABLED) for state in State)
    assert all(shown_state(state, False) is state for state in State)


def test_every_state_has_a_word() -> None:
    assert worded({State.DONE: 2}) == {
        "waiting": 0,
        "eligible": 0,
        "running": 0,
        "done": 2,
        "failed": 0,
        "disabled": 0,
        "later": 0,
    }
