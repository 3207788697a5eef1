"""A grid of peers, and what is asked of it: the scenario that both simulators of peers run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random

from headway.engine.peering.settings import Settings
from headway.model.errors import UsageError, shown
from headway.model.record import record
from headway.policies.by_when.cells import MOST_POWER
from headway.policies.by_when.routing import FITS
from headway.sim.heap import Streams

PARTS = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
TRAFFIC = (("p75", 0.75), ("p99", 0.99), ("max", 1.0))
MINUTE = 60_000
HOUR = 60 * MINUTE
BEGIN = 10 * HOUR  # of the first day
MOST_NODES = 50_000  # message by message: each is an object with queues, some 20 kB
KERNEL_FROM = 2000  # nodes that the kernel is worth compiling for
MOST_IN_KERNEL, MOST_IN_SEQUENCE, MOST_JOBS = 1 << 22, 128, 1002
MOST_MILLISECONDS = 20 * 24 * HOUR
MOST_HOURS, MILLISECOND = 10 * 365 * 24, 1 / HOUR
MOST_LOAD, MOST_CHURN = 100, 100
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
    churn: float = 0.0  # share of the peers that die or leave, and are replaced, in an hour
    leaving: float = 0.0  # share of those that say so
    returning: float = 0.0  # share of those that come back, with what they wrote down
    placer: str = "tree"
    seed: int = 0
    settings: Settings = Settings()

    @property
    def shape(self) -> tuple[int, Arcs]:
        make, usual = MODELS[self.model]
        return make(self.size or usual)

    @property
    def milliseconds(self) -> int:
        """How long workflows arrive."""
        return round(self.hours * HOUR)

    @property
    def longest(self) -> int:
        """Jobs on the longest path."""
        size = self.size or MODELS[self.model][1]
        return 3 if self.model == "fork-join" else 2 * size - 1


def checked(scenario: Scenario) -> None:
    """Refuses what cannot be, and says what could."""
    if scenario.nodes < 1:
        raise UsageError("a grid of no nodes can hold no workflow.", "Try --nodes 1000.")
    if scenario.model not in MODELS:
        raise UsageError(f"there is no model {shown(scenario.model)}.", f"There are {', '.join(MODELS)}.")
    powers = f"Powers are from 1 to {MOST_POWER}, the least one first."
    if scenario.least_power < 1 or scenario.most_power < scenario.least_power:
        raise UsageError("nodes of no power can hold no job.", powers)
    if scenario.most_power > MOST_POWER:
        raise UsageError(f"a power of {scenario.most_power} is more than a summary can tell.", powers)
    if scenario.settings.fit not in FITS:
        raise UsageError(f"there is no fit {shown(scenario.settings.fit)}.", f"There are {', '.join(FITS)}.")
    if not (scenario.priority > 0 and scenario.hours > 0 and scenario.load > 0 and scenario.churn >= 0):
        raise UsageError("priority, hours and load are more than 0, and churn is not less.", "Try --priority 1.3.")
    if not (0 <= scenario.leaving <= 1 and 0 <= scenario.returning <= 1):
        raise UsageError("those who say that they leave, and those who come back, are shares.", "Give 0 to 1.")
    if scenario.load > MOST_LOAD or scenario.churn > MOST_CHURN:
        raise UsageError(
            f"a load of {scenario.load:g} and a churn of {scenario.churn:g} are more than can be simulated.",
            f"Give at most --load {MOST_LOAD}, so many times all power, and --churn {MOST_CHURN}, so many deaths of"
            " each peer in an hour.",
        )
    if not MILLISECOND <= scenario.hours <= MOST_HOURS:
        raise UsageError(f"{scenario.hours:g} hours are not between a millisecond and ten years.", "Try --hours 0.5.")
    jobs, _ = scenario.shape
    most = jobs / scenario.longest * scenario.most_power / scenario.least_power
    if scenario.priority >= most:
        raise UsageError(
            f"a priority of {scenario.priority:g} leaves even the fastest node less time than the longest path takes.",
            f"Give less than --priority {math.floor(most * 100) / 100:g}.",
        )


def by_kernel(scenario: Scenario, simulator: str = "auto") -> bool:
    """Whether the kernel is to simulate it; refuses what the simulator asked for cannot do."""
    checked(scenario)
    only_messages = "with churn" if scenario.churn else "with --placer" if scenario.placer != "tree" else ""
    if simulator == "messages" or (simulator == "auto" and (only_messages or scenario.nodes < KERNEL_FROM)):
        if scenario.nodes > MOST_NODES:
            why = f"; {only_messages} there is no other way" if only_messages else ""
            raise UsageError(
                f"{scenario.nodes:,} nodes are more than can be simulated message by message{why}.",
                f"Give at most --nodes {MOST_NODES}" + (", or --simulator kernel." if not why else "."),
            )
        return False
    if only_messages:
        raise UsageError(f"the kernel cannot simulate a grid {only_messages}.", "Try --simulator messages.")
    jobs, _ = scenario.shape
    slowest = jobs * scenario.minutes[1] * MINUTE * 1000 / scenario.least_power / scenario.priority
    if scenario.nodes > MOST_IN_KERNEL or scenario.longest > MOST_IN_SEQUENCE or jobs > MOST_JOBS:
        raise UsageError(
            f"{scenario.nodes:,} nodes and workflows of {jobs:,} jobs are more than the kernel can hold.",
            f"Give at most --nodes {MOST_IN_KERNEL}, and workflows of up to {MOST_JOBS:,} jobs,"
            f" {MOST_IN_SEQUENCE} of them in a row.",
        )
    if scenario.hours * HOUR + slowest > MOST_MILLISECONDS:
        raise UsageError(
            "the kernel's clock ends after twenty days, and this would take longer.",
            "Give fewer --hours, smaller workflows, or a greater --least-power.",
        )
    return True


def powers(scenario: Scenario, rng: Random) -> list[int]:
    """Pareto powers with exponent 1, in steps of a fifth of the least (the successor system's authors use these)."""
    step = max(1, scenario.least_power // 5)
    found = []
    for _ in range(scenario.nodes):
        value = min(scenario.least_power / (1.0 - rng.random()), scenario.most_power)
        found.append(max(scenario.least_power, int(value) // step * step))
    return found


@record
class Arrival:
    """A workflow that arrives: when, whose, the work of each of its jobs, and its deadline."""

    at: int
    owner: int
    work: int
    deadline: int


def arrivals(scenario: Scenario, powers: Sequence[int], streams: Streams) -> Iterator[Arrival]:
    """All that arrive; each owner is as likely as any other."""
    low, high = scenario.minutes
    jobs, _ = scenario.shape
    rate = scenario.load * sum(powers) / (jobs * (low + high) / 2 * MINUTE * 1000)  # workflows a millisecond
    waits, rng, when, end = streams.of("arrivals"), streams.of("workflows"), BEGIN, BEGIN + scenario.milliseconds
    while (when := int(when + waits.expovariate(rate)) + 1) < end:
        work = int(rng.uniform(low, high) * MINUTE) * 1000
        owner = rng.randint(1, len(powers))
        yield Arrival(when, owner, work, when + int(jobs * work / powers[owner - 1] / scenario.priority))


def part(values: Sequence[float], share: float) -> float | None:
    return values[min(len(values) - 1, int(share * len(values)))] if values else None
