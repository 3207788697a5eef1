"""What is measured for the report: runs of both simulators, and what pure functions cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from headway.engine.peer import Peer
from headway.engine.peering.settings import Settings
from headway.model.dag import Dag
from headway.model.record import record, replace
from headway.policies.by_when.sequences import decomposition
from headway.sim.peer_answer import Measured, measured
from headway.sim.peer_scenario import MODELS, Scenario
from headway.sim.peers import Simulation
from headway.sim.ratios import mean

PRIORITIES = (1.1, 1.2, 1.3, 1.4)
MILLION = 1_000_000
FEW_SEEDS = 2  # of what takes minutes message by message
CURVE = 200  # points of one
UNBOUND = Settings(update=1)


@record
class Plan:
    """How much is simulated."""

    name: str
    few: int  # nodes message by message: beside an oracle
    few_hours: float
    seeds: int
    many: int  # nodes in the kernel: of Table II and what it costs
    hours: float
    figure: int  # nodes of Fig. 6
    figure_hours: float
    sizes: tuple[int, ...]  # of grids, for the claim of logarithmic time; of the last one all is measured
    size_hours: float
    overload_hours: float  # of the largest grid, with more than it can do
    steady_hours: float  # beside an oracle, at the paper's load
    middling: int  # nodes, message by message: beside an oracle as well
    middling_hours: float
    churned: int  # nodes, message by message, that come and go
    churned_hours: float


PLANS = {
    "quick": Plan(
        "quick", 80, 1.0, 4, 2_048, 1.0, 16_384, 0.1, (1_000, 10_000, 100_000), 0.25, 0.15, 0.5, 120, 0.25, 200, 0.1
    ),
    "full": Plan(
        "full",
        80,
        1.0,
        4,
        8_192,
        1.0,
        1_048_576,
        0.05,
        (1_000, 10_000, 100_000, 1_048_576),
        0.5,
        0.15,
        4.0,
        300,
        0.5,
        2_000,
        0.15,
    ),
}


class Runs:
    """Runs a plan's scenarios, and says how far that is. What was measured is kept, and not measured again."""

    def __init__(self, plan: Plan, done: Callable[[float], None], kept: Path) -> None:
        self.plan, self._done, self._kept = plan, done, kept
        self._known: dict[str, dict[str, Any]] = {}
        text = kept.read_text() if kept.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # without what was being written when a run was interrupted
        if whole != text:
            kept.write_text(whole)
        for line in whole.splitlines():
            one = json.loads(line)
            self._known[one["of"]] = one

    def beside_others(self, **changes: Any) -> list[dict[str, Any]]:
        """A small scenario with each seed, message by message."""
        base = Scenario(nodes=self.plan.few, hours=self.plan.few_hours)
        return self.by_messages(replace(base, **changes), self.plan.seeds)

    def by_messages(self, scenario: Scenario, seeds: int) -> list[dict[str, Any]]:
        """A scenario with each of some seeds, message by message."""
        found = []
        for seed in range(seeds):
            one = replace(scenario, seed=seed)
            found.append(self._once(f"messages {one}", partial(_by_messages, one))["answer"])
            self._done(cost(one, messages=True))
        return found

    def of_many(self, **changes: Any) -> list[dict[str, Any]]:
        """A large scenario with each seed, by the kernel."""
        base = Scenario(nodes=self.plan.many, hours=self.plan.hours)
        return [self.one(replace(base, **changes, seed=seed)).answer for seed in range(self.plan.seeds)]

    def one(self, scenario: Scenario, to_the_end: bool = True) -> Measured:
        """By the kernel; until all that was accepted has ended, or only while workflows arrive."""

        def measure() -> dict[str, Any]:
            it = measured(scenario, to_the_end=to_the_end)
            return {"answer": it.answer, "allocation": _thinned(it.allocation)}

        found = self._once(f"kernel {scenario} {to_the_end}", measure)
        self._done(cost(scenario))
        return Measured(found["answer"], found["allocation"])

    def _once(self, of: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What is known of a run, or is measured now and known from then on."""
        if of not in self._known:
            self._known[of] = {"of": of, **json.loads(json.dumps(measure()))}
            with self._kept.open("a") as file:
                file.write(json.dumps(self._known[of]) + "\n")
        return self._known[of]


def _by_messages(scenario: Scenario) -> dict[str, Any]:
    return {"answer": Simulation(scenario).run()}


def _thinned(values: Sequence[float]) -> list[float]:
    """A curve of some hundred points, its ends among them."""
    step = max(1, len(values) // CURVE)
    return [*values[::step], *values[-1:]]


def cost(scenario: Scenario, messages: bool = False) -> float:
    """About how long a run takes, in seconds."""
    return scenario.nodes * scenario.hours * (0.04 if messages else 0.0004)


def expected(plan: Plan) -> float:
    """About how long all of a plan takes."""
    few = cost(Scenario(nodes=plan.few, hours=plan.few_hours), messages=True) * plan.seeds * (7 + 3)
    steady = cost(Scenario(nodes=plan.few, hours=plan.steady_hours), messages=True) * plan.seeds * 6
    middling = cost(Scenario(nodes=plan.middling, hours=plan.middling_hours), messages=True) * FEW_SEEDS * 6
    churned = cost(Scenario(nodes=plan.churned, hours=plan.churned_hours), messages=True) * plan.seeds * 4
    many = cost(Scenario(nodes=plan.many, hours=plan.hours)) * plan.seeds * (8 + 3 + 2)
    figure = cost(Scenario(nodes=plan.figure, hours=plan.figure_hours)) * 6
    sizes = sum(cost(Scenario(nodes=nodes, hours=plan.size_hours)) for nodes in plan.sizes)
    overload = cost(Scenario(nodes=plan.sizes[-1], hours=plan.overload_hours))
    return few + steady + middling + churned + many + figure + sizes + overload


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """A mean over seeds, with its 95% interval."""
    return mean(np.array(values, np.float64))


def told(values: Sequence[float]) -> str:
    """The same in words."""
    here, low, high = interval(values)
    return f"{here:.2f} [{low:.2f}, {high:.2f}]"


def width(model: str, size: int) -> int:
    """Stages of a model's workflow with equal jobs."""
    jobs, arcs = MODELS[model][0](size)
    dag = Dag([str(job) for job in range(jobs)], [one for one, _ in arcs], [other for _, other in arcs])
    return decomposition(dag, [1] * jobs).width


def handling(scenario: Scenario) -> tuple[float, float]:
    """Milliseconds of CPU that a message takes in a run of the scenario: mean, and the 99th percentile."""
    simulation, taken = Simulation(scenario), list[float]()
    whole = Peer.handle

    def timed(self: Peer, letter: Any, now: int) -> Any:
        begun = time.thread_time_ns()
        found = whole(self, letter, now)
        taken.append((time.thread_time_ns() - begun) / 1e6)
        return found

    try:
        Peer.handle = timed  # type: ignore[method-assign]
        simulation.run()
    finally:
        Peer.handle = whole  # type: ignore[method-assign]
    return float(np.mean(taken)), float(np.quantile(taken, 0.99))
