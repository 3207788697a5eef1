"""What a plan makes of the rows of a store: who is done anew, who is left out, and who then waits for whom."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from headway.engine.plan import Plan
from headway.model.flatten import Flat
from headway.model.states import TRANSITIONS, State

DISABLED = 1  # by its user, until its user enables it
LEFT_OUT = 2  # of this run; the next one looks anew
ASSUMED = 4  # left out, and nobody waits for it


@dataclass(frozen=True, slots=True)
class Place:
    """A row as far as a plan changes it."""

    state: State
    waiting_for: int
    off: int = 0  # the bits above
    attempts: int = 0

    @property
    def settled(self) -> bool:
        """Whether nobody waits for it."""
        return self.state is State.DONE or bool(self.off & ASSUMED)


def arranged(
    flat: Flat, places: Mapping[int, Place], spent: Set[tuple[int, int]], plan: Plan | None
) -> dict[int, Place]:
    """The rows that change. `spent`: weak arcs on which a failed parent counts as ended; None: nothing is left out."""
    found: dict[int, Place] = {}
    more: dict[int, int] = {}  # by how much more others wait for a node than before
    for node in flat.dag.order:
        old = places[node]
        new = _moved(flat, node, old, old.waiting_for + _change(flat, node, more, spent, plan), plan)
        if new != old:
            found[node] = new
        if new.settled != old.settled:
            more[node] = int(old.settled) - int(new.settled)
    return found


def _change(flat: Flat, node: int, more: Mapping[int, int], spent: Set[tuple[int, int]], plan: Plan | None) -> int:
    """How many more parents a node waits for than it did. A spent arc counts again when its parent is done anew."""
    change = 0
    for parent in flat.dag.parents_of(node):
        if (parent, node) in spent:
            change += plan is not None and parent in plan.anew
        else:
            change += more.get(parent, 0)
    return change


def _moved(flat: Flat, node: int, old: Place, waiting: int, plan: Plan | None) -> Place:
    if flat.jobs[node] is None:
        return replace(old, state=_checked(old.state, State.WAITING if waiting else State.DONE), waiting_for=waiting)
    off, state = old.off & DISABLED, old.state
    if plan is not None and state is not State.RUNNING:
        off |= LEFT_OUT * (node in plan.left_out) | ASSUMED * (node in plan.assumed)
        if node in plan.done:
            state = State.DONE
        elif node in plan.anew:
            state = State.WAITING
    if state not in (State.RUNNING, State.DONE, State.FAILED):
        ready = State.DISABLED if off else State.LATER if state is State.LATER else State.ELIGIBLE
        state = State.WAITING if waiting else ready
    return replace(old, state=_checked(old.state, state), waiting_for=waiting, off=off)


def _checked(old: State, new: State) -> State:
    if old is not new and (old, new) not in TRANSITIONS:
        raise AssertionError(f"no way from {old.name} to {new.name}")
    return new
