"""Workflows that arrive at a grid of peers, and what becomes of them."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from headway.engine.peering.messages import Submit
from headway.model.record import replace
from headway.sim.churn import KEPT, LOOK, Churn
from headway.sim.links import Network
from headway.sim.overlay import SUBMISSIONS, Submitted, World
from headway.sim.peer_scenario import (
    BEGIN,
    MINUTE,
    MODELS,
    PARTS,
    TRAFFIC,
    Arrival,
    Scenario,
    arrivals,
    checked,
    part,
    powers,
)
from headway.sim.placers import at_random, oracle

PLACERS = {"tree": None, "oracle": oracle, "random": at_random}


class Simulation:
    """One run of a scenario."""

    def __init__(self, scenario: Scenario, network: Network | None = None) -> None:
        checked(scenario)
        self.scenario = scenario
        most = max(3, scenario.fan_out)
        self.world = World(replace(scenario.settings, most=most), network or Network(), scenario.seed, BEGIN)
        streams = self.world.streams
        self.powers = dict(enumerate(powers(scenario, streams.of("powers")), 1))
        self.world.planted(list(self.powers.values()), scenario.fan_out)
        placer = PLACERS[scenario.placer]
        if placer:
            self.world.places = placer(self.world)
        self.end = BEGIN + scenario.milliseconds
        self._serial = 0
        self._coming = arrivals(scenario, list(self.powers.values()), streams)
        self._awaited()
        self.churn = Churn(self.world, scenario, self.powers) if scenario.churn else None

    def _awaited(self) -> None:
        """Plans the next arrival."""
        if one := next(self._coming, None):
            self.world.heap.at(one.at, partial(self._arrival, one), SUBMISSIONS)

    def _arrival(self, one: Arrival) -> None:
        jobs, arcs = self.scenario.shape
        self._serial += 1
        owner, deadline = one.owner, one.deadline
        if owner not in self.world.peers:  # it has died, and somebody else has the same work
            owner = list(self.world.peers)[owner % len(self.world.peers)]
            deadline = one.at + int(jobs * one.work / self.powers[owner] / self.scenario.priority)
        self.world.submits(owner, Submit(self._serial, (one.work,) * jobs, arcs, deadline))
        self._awaited()

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
        if self.churn:
            self.churn.settle()
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
            self._run(at)
            done(MINUTE / 1000)

    def _run(self, when: int) -> None:
        """Lets time go by; when peers come and go no more, with looks at whether the tree is whole again."""
        world, churn = self.world, self.churn
        while churn and churn.is_open and world.now < when:
            world.run(min(max(world.now, self.end) + LOOK, when))
            churn.look()
        world.run(when)

    def _measured(self, shares: Sequence[float]) -> dict[str, Any]:
        world = self.world
        flows = list(world.workflows.values())
        accepted = [one for one in flows if one.state in KEPT]
        missed = [key for key, one in world.workflows.items() if one.state in KEPT and _missed(one, world.now)]
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
            "missed": len(missed),
            "speedup": sum(speedups) / len(speedups) if speedups else None,
            "allocation_seconds": {name: part(times, share) for name, share in PARTS},
            "hops": {name: part(sorted(one.hops for one in accepted), share) for name, share in PARTS},
            "splits": sum(one.splits for one in accepted),
            "reasons": dict(Counter(one.reason for one in flows if one.reason).most_common(5)),
            "events_per_node_second": {"mean": sum(shares) / max(len(shares), 1), "max": max(events, default=0)},
            "bytes_out": {name: part(sorted(out), share) for name, share in TRAFFIC},
            "bytes_in": {name: part(sorted(into), share) for name, share in TRAFFIC},
            "messages": dict(world.messages.most_common()),
            "bytes": dict(world.bytes.most_common()),
            "whole": world.is_whole(),
            **({"failures": self.churn.measured(missed)} if self.churn else {}),
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


def _missed(one: Submitted, now: int) -> bool:
    """Whether an accepted workflow was late, or never done though its deadline has passed."""
    return one.ended > one.deadline if one.state == "done" else one.state == "failed" or now > one.deadline


def answer(scenario: Scenario, found: dict[str, Any], simulator: str = "messages") -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "simulator": simulator,
        "nodes": scenario.nodes,
        "model": scenario.model,
        "size": scenario.size or MODELS[scenario.model][1],
        "priority": scenario.priority,
        "hours": scenario.hours,
        "load": scenario.load,
        "fan_out": scenario.fan_out,
        "update_period": scenario.settings.update / 1000,
        "churn": scenario.churn,
        "leaving": scenario.leaving,
        "returning": scenario.returning,
        "fit": scenario.settings.fit,
        "placer": scenario.placer,
        "seed": scenario.seed,
        **found,
    }


def simulated(scenario: Scenario, done: Callable[[float], None] = lambda seconds: None) -> dict[str, Any]:
    """Runs a scenario."""
    return Simulation(scenario).run(partial(done))
