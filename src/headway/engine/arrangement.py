"""What a plan makes of the rows of a store: who runs again, who is left out, and who then waits for whom."""

from __future__ import annotations

from collections.abc import Mapping, Set

from headway.engine.plan import Plan
from headway.model.flatten import Flat
from headway.model.record import field, record, replace
from headway.model.states import TRANSITIONS, Off, State


@record
class Place:
    """A row as far as a plan changes it."""

    state: State
    waiting_for: int
    off: int = 0  # bits of Off
    attempts: int = 0

    @property
    def settled(self) -> bool:
        """Whether nobody waits for it."""
        return self.state is State.DONE or bool(self.off & Off.ASSUMED)


@record
class Waits:
    """What of the arcs only a store knows."""

    counted: Set[tuple[int, int]] = frozenset()  # arcs on which a parent that is not done counts as ended
    beside: Mapping[int, int] = field(default_factory=dict)  # how many a node waits for that are outside the dag


def arranged(flat: Flat, places: Mapping[int, Place], waits: Waits, plan: Plan | None) -> dict[int, Place]:
    """The rows that change, whom they wait for recomputed; without a plan nothing is left out."""
    found: dict[int, Place] = {}
    settled = bytearray(len(flat.dag))
    anew: Set[int] = frozenset() if plan is None else plan.anew
    for node in flat.dag.order:
        waiting = waits.beside.get(node, 0)
        for parent in flat.dag.parents_of(node):
            if not settled[parent] and ((parent, node) not in waits.counted or parent in anew):
                waiting += 1
        new = _moved(flat, node, places[node], waiting, plan)
        settled[node] = new.settled
        if new != places[node]:
            found[node] = new
    return found


def arrives(old: Place, new: Place) -> bool:
    """Whether a row may run now and could not before: then it comes after those who could."""
    return old.state in (State.WAITING, State.DONE, State.FAILED) and new.state in (State.ELIGIBLE, State.DISABLED)


def _moved(flat: Flat, node: int, old: Place, waiting: int, plan: Plan | None) -> Place:
    if flat.jobs[node] is None:
        return replace(old, state=_checked(old.state, State.WAITING if waiting else State.DONE), waiting_for=waiting)
    off, state = old.off & Off.BY_USER, old.state
    if plan is not None and state is not State.RUNNING:
        off |= Off.LEFT_OUT * (node in plan.left_out) | Off.ASSUMED * (node in plan.assumed)
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
