"""Workflows that arrive at a grid of peers, and what becomes of them."""

from __future__ import annotations

import math
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

from headway.engine.peer import Peer
from headway.engine.peering.messages import Submit
from headway.engine.peering.settings import Settings
from headway.model.errors import UsageError, shown
from headway.model.record import record, replace
from headway.policies.by_when.routing import FITS
from headway.sim.overlay import Network, Submitted, World
from headway.sim.placers import at_random, oracle

MINUTE = 60_000
HOUR = 60 * MINUTE
BEGIN = 10 * HOUR  # of the first day
MOST_NODES = 50_000  # each is an object with queues: some 20 kB
PLACERS = {"tree": None, "oracle": oracle, "random": at_random}
Arcs = tuple[tuple[int, int], ...]


def fork_join(size: int) -> tuple[int, Arcs]:
    """A job, so many beside each other, and a job after all of them (Fig. 4)."""
    middle = range(1, size + 1)
    return size + 2, (*((0, job) for job in middle), *((job, size + 1) for job in middle))


def laplace(size: int) -> tuple[int, Arcs]:
    """A grid in which each job waits for those above it and to its left (Fig. 5)."""
    right = ((row * size + at, row * size + at + 1) for row in range(size) for at in range(size - 1))
    down = ((row * size + at, row * size + at + size) for row in range(size - 1) for at in range(size))
    return size * size, (*right, *down)


MODELS = {"fork-join": (fork_join, 8), "laplace": (laplace, 3)}  # and the sizes that give Table II's maxima


@record
class Scenario:
    """A grid, and what is asked of it."""

    nodes: int = 1000
    model: str = "fork-join"
    size: int = 0  # 0: the paper's
    priority: float = 1.3
    hours: float = 1.0
    load: float = 0.93  # share of all power that arrives as work
    fan_out: int = 4
    least_power: int = 1000
    most_power: int = 3000
    minutes: tuple[float, float] = (5.0, 20.0)  # of a job on a node of power 1000
    churn: float = 0.0  # share of the peers that die, and are replaced, in an hour
    placer: str = "tree"
    seed: int = 0
    settings: Settings = Settings()

    @property
    def shape(self) -> tuple[int, Arcs]:
        make, usual = MODELS[self.model]
        return make(self.size or usual)

    @property
    def longest(self) -> int:
        """Jobs on the longest path."""
        size = self.size or MODELS[self.model][1]
        return 3 if self.model == "fork-join" else 2 * size - 1


def checked(scenario: Scenario) -> None:
    """Refuses what cannot be, and says what could."""
    if scenario.nodes < 1:
        raise UsageError("a grid of no nodes can hold no workflow.", "Try --nodes 1000.")
    if scenario.nodes > MOST_NODES:
        raise UsageError(
            f"{scenario.nodes:,} nodes are more than can be simulated message by message.",
            f"Give at most --nodes {MOST_NODES}.",
        )
    if scenario.model not in MODELS:
        raise UsageError(f"there is no model {shown(scenario.model)}.", f"There are {', '.join(MODELS)}.")
    if scenario.least_power < 1 or scenario.most_power < scenario.least_power:
        raise UsageError("nodes of no power can hold no job.", "Powers are from 1 to 50000, the least one first.")
    if scenario.settings.fit not in FITS:
        raise UsageError(f"there is no fit {shown(scenario.settings.fit)}.", f"There are {', '.join(FITS)}.")
    if not (scenario.priority > 0 and scenario.hours > 0 and scenario.load > 0 and scenario.churn >= 0):
        raise UsageError("priority, hours and load are more than 0, and churn is not less.", "Try --priority 1.3.")
    jobs, _ = scenario.shape
    most = jobs / scenario.longest * scenario.most_power / scenario.least_power
    if scenario.priority >= most:
        raise UsageError(
            f"a priority of {scenario.priority:g} leaves even the fastest node less time than the longest path takes.",
            f"Give less than --priority {math.floor(most * 100) / 100:g}.",
        )


def powers(scenario: Scenario, rng: Random) -> list[int]:
    """Pareto powers with exponent 1, in steps of a fifth of the least (the successor system's authors use these)."""
    step = max(1, scenario.least_power // 5)
    found = []
    for _ in range(scenario.nodes):
        value = min(scenario.least_power / (1.0 - rng.random()), scenario.most_power)
        found.append(max(scenario.least_power, int(value) // step * step))
    return found


class Simulation:
    """One run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        checked(scenario)
        self.scenario = scenario
        most = max(3, scenario.fan_out)
        self.world = World(replace(scenario.settings, most=most), Network(), scenario.seed, BEGIN)
        streams = self.world.streams
        self.powers = dict(enumerate(powers(scenario, streams.of("powers")), 1))
        self.world.planted(list(self.powers.values()), scenario.fan_out)
        placer = PLACERS[scenario.placer]
        if placer:
            self.world.places = placer(self.world)
        self.end = BEGIN + round(scenario.hours * HOUR)
        self._serial = 0
        jobs, _ = scenario.shape
        mean = jobs * sum(scenario.minutes) / 2 * MINUTE * 1000
        self.rate = scenario.load * sum(self.powers.values()) / mean  # workflows a millisecond
        self.world.heap.at(self._next(), self._arrival)
        if scenario.churn:
            self.world.heap.at(BEGIN + self._between(), self._exchange)

    def _next(self) -> int:
        return int(self.world.heap.now + self.world.streams.of("arrivals").expovariate(self.rate)) + 1

    def _arrival(self) -> None:
        world, scenario = self.world, self.scenario
        rng = world.streams.of("workflows")
        low, high = scenario.minutes
        work = int(rng.uniform(low, high) * MINUTE) * 1000
        owner = rng.choice(list(world.peers)) if scenario.churn else rng.randint(1, scenario.nodes)
        jobs, arcs = scenario.shape
        deadline = world.now + int(jobs * work / self.powers[owner] / scenario.priority)
        self._serial += 1
        world.submits(owner, Submit(self._serial, (work,) * jobs, arcs, deadline))
        if (when := self._next()) < self.end:
            world.heap.at(when, self._arrival)

    def _between(self) -> int:
        rate = self.scenario.churn * self.scenario.nodes / HOUR
        return int(self.world.streams.of("churn").expovariate(rate)) + 1

    def _exchange(self) -> None:
        """A peer dies, and another one joins with an address of its own."""
        world, rng = self.world, self.world.streams.of("churn")
        if len(world.peers) > 2:
            world.dies(rng.choice(list(world.peers)))
        number = max(self.powers) + 1
        self.powers[number] = self.powers[rng.randint(1, self.scenario.nodes)]
        peer = Peer(number, rng.randint(1, self.scenario.nodes), self.powers[number], world.settings, world.now)
        world.joins(peer, rng.sample(list(world.peers), min(3, len(world.peers))))
        if world.now < self.end:
            world.heap.at(world.now + self._between(), self._exchange)

    def run(self, done: Callable[[float], None] = lambda seconds: None) -> dict[str, Any]:
        """Lets workflows arrive, then lets all that were accepted end; what was measured."""
        world, begun = self.world, time.perf_counter()
        self._until(self.end, done)
        events, counts = world.events, world.traffic.peers
        used = sum((min(one.ended, self.end) - one.begun) * self.powers[one.peer] for one in world.ran)
        shares = [one.all_events / (self.end - BEGIN) * 1000 for one in counts.values()]
        self.peaks = (
            [one.peak_out for one in counts.values()],
            [one.peak_in for one in counts.values()],
            [one.peak_events for one in counts.values()],
        )
        last = max((one.deadline for one in world.workflows.values()), default=self.end)
        limit = max(last, self.end) + 2 * MINUTE
        while world.now < limit and any(one.state in ("asking", "accepted") for one in world.workflows.values()):
            self._until(min(world.now + 5 * MINUTE, limit), done)
        found = self._measured(shares)
        found["utilisation"] = used / (sum(self.powers.values()) * (self.end - BEGIN))
        found["events"] = events
        found["seconds"] = time.perf_counter() - begun
        found["peak_rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return found

    def _until(self, when: int, done: Callable[[float], None]) -> None:
        world = self.world
        while world.now < when:
            at = min(world.now + MINUTE, when)
            world.run(at)
            done(MINUTE / 1000)

    def _measured(self, shares: Sequence[float]) -> dict[str, Any]:
        world = self.world
        flows = list(world.workflows.values())
        accepted = [one for one in flows if one.state in ("accepted", "done", "failed")]
        done = [one for one in flows if one.state == "done"]
        times = sorted((one.decided - one.at) / 1000 for one in accepted if one.decided >= 0)
        speedups = [self._sequential(one) / (one.ended - one.at) for one in done]
        out, into, events = self.peaks
        return {
            "submitted": len(flows),
            "accepted": len(accepted),
            "rejected": sum(one.state == "rejected" for one in flows),
            "orphaned": sum(one.state == "orphaned" for one in flows),
            "failed": sum(one.state == "failed" for one in flows),
            "missed": sum(_missed(one, world.now) for one in accepted),
            "speedup": sum(speedups) / len(speedups) if speedups else None,
            "allocation_seconds": {name: _part(times, share) for name, share in _PARTS},
            "reasons": dict(Counter(one.reason for one in flows if one.reason).most_common(5)),
            "events_per_node_second": {"mean": sum(shares) / max(len(shares), 1), "max": max(events, default=0)},
            "bytes_out": {name: _part(sorted(out), share) for name, share in _TRAFFIC},
            "bytes_in": {name: _part(sorted(into), share) for name, share in _TRAFFIC},
            "messages": dict(world.messages.most_common()),
            "bytes": dict(world.bytes.most_common()),
            "whole": world.is_whole(),
        }

    def _sequential(self, one: Submitted) -> float:
        return sum(one.works) / self.powers[one.owner]

    def load_by_level(self) -> dict[int, tuple[float, float]]:
        """Events and bytes sent a second at peers with a branch of each level; 0: without one."""
        found: dict[int, list[float]] = {}
        for number, peer in self.world.peers.items():
            count = self.world.traffic.peers.get(number)
            if count:
                level = peer.tree.branch.level if peer.tree.branch else 0
                found.setdefault(level, []).append(count.all_events / max(self.world.now - BEGIN, 1) * 1000)
        return {level: (sum(values) / len(values), max(values)) for level, values in sorted(found.items())}


_PARTS = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
_TRAFFIC = (("p75", 0.75), ("p99", 0.99), ("max", 1.0))


def _missed(one: Submitted, now: int) -> bool:
    """Whether an accepted workflow was late, or never done though its deadline has passed."""
    return one.ended > one.deadline if one.state == "done" else one.state == "failed" or now > one.deadline


def _part(values: Sequence[float], share: float) -> float | None:
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


def answer(scenario: Scenario, found: dict[str, Any]) -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "simulator": "messages",
        "nodes": scenario.nodes,
        "model": scenario.model,
        "size": scenario.size or MODELS[scenario.model][1],
        "priority": scenario.priority,
        "hours": scenario.hours,
        "load": scenario.load,
        "fan_out": scenario.fan_out,
        "update_period": scenario.settings.update / 1000,
        "churn": scenario.churn,
        "fit": scenario.settings.fit,
        "placer": scenario.placer,
        "seed": scenario.seed,
        **found,
    }


def simulated(scenario: Scenario, done: Callable[[float], None] = lambda seconds: None) -> dict[str, Any]:
    """Runs a scenario."""
    return Simulation(scenario).run(partial(done))
