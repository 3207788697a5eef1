"""What is measured for the report: runs of the message-level simulator, and what pure functions cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headway.engine.peer import Peer
from headway.engine.peering.settings import Settings
from headway.model.dag import Dag
from headway.model.record import record, replace
from headway.policies.by_when.sequences import decomposition
from headway.sim.peer_scenario import MODELS, Scenario
from headway.sim.peers import Simulation
from headway.sim.ratios import mean

PRIORITIES = (1.1, 1.2, 1.3, 1.4)


@record
class Plan:
    """How much is simulated."""

    name: str
    nodes: int  # of most runs
    hours: float
    seeds: int
    sizes: tuple[int, ...]  # of grids, for the claim of logarithmic time
    placer_hours: float = 1.5


PLANS = {
    "quick": Plan("quick", 80, 0.5, 4, (64, 256, 1024)),
    "full": Plan("full", 200, 1.0, 5, (64, 256, 1024, 4096)),
}


class Runs:
    """Runs a plan's scenarios, and says how far that is."""

    def __init__(self, plan: Plan, done: Callable[[float], None]) -> None:
        self.plan, self._done = plan, done

    def of(self, **changes: Any) -> list[dict[str, Any]]:
        """A scenario with each seed."""
        base = Scenario(nodes=self.plan.nodes, hours=self.plan.hours)
        return [self.one(replace(base, **changes, seed=seed))[0] for seed in range(self.plan.seeds)]

    def one(self, scenario: Scenario) -> tuple[dict[str, Any], Simulation]:
        simulation = Simulation(scenario)
        found = simulation.run()
        self._done(float(scenario.nodes))
        return found, simulation


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """A mean over seeds, with its 95% interval."""
    return mean(np.array(values, np.float64))


def width(model: str, size: int) -> int:
    """Stages of a model's workflow with equal jobs."""
    jobs, arcs = MODELS[model][0](size)
    dag = Dag([str(job) for job in range(jobs)], [one for one, _ in arcs], [other for _, other in arcs])
    return decomposition(dag, [1] * jobs).width


def handling(scenario: Scenario) -> tuple[float, float]:
    """Milliseconds that a message takes to be handled in a run of the scenario: mean, and the 99th percentile."""
    simulation, taken = Simulation(scenario), list[float]()
    whole = Peer.handle

    def timed(self: Peer, letter: Any, now: int) -> Any:
        begun = time.perf_counter()
        found = whole(self, letter, now)
        taken.append((time.perf_counter() - begun) * 1000)
        return found

    try:
        Peer.handle = timed  # type: ignore[method-assign]
        simulation.run()
    finally:
        Peer.handle = whole  # type: ignore[method-assign]
    return float(np.mean(taken)), float(np.quantile(taken, 0.99))


UNBOUND = Settings(update=1)
