"""Peers that die, leave or come back while workflows run, and what became of what was accepted.

Who comes back has what it had written down: it joins again, and goes on with its workflows. Whoever does not is
replaced by another peer, with an address of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from headway.engine.peer import Peer
from headway.engine.peering.messages import Note, Step
from headway.sim.overlay import Submitted, World
from headway.sim.peer_scenario import BEGIN, HOUR, MINUTE, Scenario

AWAY = (10_000, 3 * MINUTE)  # milliseconds until somebody is back
LOOK = 5_000  # between two looks at whether the tree is whole
KEPT = ("accepted", "done", "failed")  # states of workflows that were accepted, and whose owner is there
LONGEST = 20 * MINUTE  # after the last change, in which it should become whole


class Churn:
    """What happens to the peers of a world. `powers`: of all that there have ever been, by number."""

    def __init__(self, world: World, scenario: Scenario, powers: dict[int, int]) -> None:
        self.world, self.scenario, self.powers = world, scenario, powers
        self.end = BEGIN + scenario.milliseconds
        self.died = self.left = self.returned = 0
        self.changed_at = world.now  # when somebody came or went last
        self.whole_at = -1  # when the tree was whole after that
        self._notes: dict[int, dict[int, list[Note]]] = defaultdict(dict)  # by owner and workflow
        self._done: dict[tuple[int, int], set[int]] = defaultdict(set)  # jobs whose end their owner knows
        self._hopeless: set[tuple[int, int]] = set()
        self._replanned: set[tuple[int, int]] = set()
        world.on_note = self._noted
        world.heap.at(world.now + self._between(), self._exchange)

    def _between(self) -> int:
        rate = self.scenario.churn * self.scenario.nodes / HOUR
        return int(self.world.streams.of("churn").expovariate(rate)) + 1

    # --- who comes and goes ------------------------------------------------------------------------------------

    def _exchange(self) -> None:
        """A peer dies or leaves, and another one joins, or the same later."""
        world, scenario, rng = self.world, self.scenario, self.world.streams.of("churn")
        comes_back = False
        if len(world.peers) > 2:
            number = rng.choice(list(world.peers))
            says_so = scenario.leaving > 0 and rng.random() < scenario.leaving
            comes_back = scenario.returning > 0 and rng.random() < scenario.returning
            address, _ = world.peers[number].low
            self._goes(number, says_so)
            if comes_back:
                world.heap.at(world.now + rng.randint(*AWAY), partial(self._returns, number, address))
            else:
                self._notes.pop(number, None)
        if not comes_back:
            number = max(self.powers) + 1
            self.powers[number] = self.powers[rng.randint(1, scenario.nodes)]
            self._joins(Peer(number, rng.randint(1, scenario.nodes), self.powers[number], world.settings, world.now))
        self.changed_at = world.now
        if world.now < self.end:
            world.heap.at(world.now + self._between(), self._exchange)

    def _goes(self, number: int, says_so: bool) -> None:
        if says_so:
            self.left += 1
            self.world.withdraws(number)
        else:
            self.died += 1
            self.world.dies(number)

    def _joins(self, peer: Peer) -> None:
        world = self.world
        others = world.streams.of("churn").sample(list(world.peers), min(3, len(world.peers)))
        world.joins(peer, others)

    def _returns(self, number: int, address: int) -> None:
        """A peer is back, as a leaf without work, and its workflows go on from what it wrote down."""
        world = self.world
        self.returned += 1
        self.changed_at = world.now
        self._joins(Peer(number, address, self.powers[number], world.settings, world.now))
        begun = {(one.workflow, one.job) for one in world.ran if one.owner == number}
        begun |= {(piece[1], job) for _, piece, job in world.running if piece[0] == number}
        for workflow in self._notes[number]:
            one = world.workflows[number, workflow]
            waits = [job for job in range(len(one.works)) if (workflow, job) not in begun]
            self._judged((number, workflow), one, waits)
        world.recovers(number, [note for notes in self._notes[number].values() for note in notes])

    # --- what can still be done --------------------------------------------------------------------------------

    def _noted(self, peer: int, note: Note) -> None:
        """Keeps what an owner writes down, as long as it would need it."""
        key = peer, note.workflow
        self._notes[peer].setdefault(note.workflow, []).append(note)
        if note.what is Step.ENDED:
            self._done[key].add(note.facts[0])
        elif note.what is Step.LOST:
            self._replanned.add(key)
            self._judged(key, self.world.workflows[key], note.facts)
        elif note.what is Step.OVER:
            del self._notes[peer][note.workflow]
            self._done.pop(key, None)

    def _judged(self, key: tuple[int, int], one: Submitted, waits: Collection[int]) -> None:
        """Whether jobs that must still run from their beginning could be in time, each on the fastest peer."""
        if self.world.now + self._longest(one, waits) > one.deadline:
            self._hopeless.add(key)

    def _longest(self, one: Submitted, waits: Collection[int]) -> float:
        """Milliseconds that the longest path through these jobs takes on the fastest peer; arcs go to later jobs."""
        _, arcs = self.scenario.shape
        parents: dict[int, list[int]] = defaultdict(list)
        for parent, child in arcs:
            parents[child].append(parent)
        ends: dict[int, int] = {}
        for job in sorted(waits):
            ends[job] = one.works[job] + max((ends.get(parent, 0) for parent in parents[job]), default=0)
        return max(ends.values(), default=0) / max(self.powers.values())

    # --- what became of it -------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Lets time go by until the tree is whole, if nobody comes or goes any more."""
        world = self.world
        while self.is_open and world.now < self.changed_at + LONGEST:
            world.run(world.now + LOOK)
            self.look()

    @property
    def is_open(self) -> bool:
        """Whether the tree is not known to be whole since the last change."""
        return self.whole_at < self.changed_at

    def look(self) -> None:
        """Notes when the tree is whole after the last change."""
        if self.is_open and self.world.now >= self.end and self.world.is_whole():
            self.whole_at = self.world.now

    def measured(self, missed: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """What became of accepted workflows; `missed`: those that were late or failed."""
        flows = self.world.workflows
        orphaned = sum(one.state == "orphaned" and one.decided >= 0 for one in flows.values())
        kept = sum(one.state in KEPT for one in flows.values())
        hopeless = sum(key in self._hopeless for key in missed)
        is_whole = self.whole_at >= self.changed_at
        return {
            "died": self.died,
            "left": self.left,
            "returned": self.returned,
            "accepted": kept + orphaned,
            "replanned": len(self._replanned),
            "met": kept - len(missed),
            "not_possible": hopeless,
            "late": len(missed) - hopeless,
            "orphaned": orphaned,
            "whole_after": (self.whole_at - self.changed_at) / 1000 if is_whole else None,
        }
