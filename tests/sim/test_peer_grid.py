"""A million peers: the kernel decides as the code of real peers does, message by message, on the same seeds.

Both worlds get the same powers, arrivals and delays. Greetings and statuses, which the kernel only counts, are put off
beyond the end. Then everything is compared: what became of each workflow and when, where and when each job ran, the
hops of requests, messages and bytes of each kind, and what each peer sent, received and handled in its busiest second.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from headway.engine.peering.settings import Settings
from headway.model.record import replace
from headway.sim.kernels import peer_state as at
from headway.sim.links import Network
from headway.sim.peer_answer import simulated
from headway.sim.peer_grid import Grid
from headway.sim.peer_scenario import Scenario
from headway.sim.peers import Simulation

STATES = {
    at.ACCEPTED: "accepted",
    at.REJECTED: "rejected",
    at.TOO_LONG: "rejected",
    at.DONE: "done",
    at.ASKING: "asking",
}
NEVER = 10**9
SILENT = Settings(refresh=NEVER, status=NEVER)


def slowly(scenario: Scenario, network: Network) -> dict[str, Any]:
    """By the message-level simulator."""
    simulation = Simulation(scenario, network)
    world = simulation.world
    simulation.run()
    flows = sorted(world.workflows.items(), key=lambda one: one[0][1])
    return {
        "workflows": [
            (key[0], one.state, one.decided, one.ended, *((one.hops, one.splits) if one.state == "done" else (0, 0)))
            for key, one in flows
        ],
        "jobs": sorted((one.workflow, one.job, one.peer, one.begun) for one in world.ran),
        "messages": dict(world.messages),
        "bytes": dict(world.bytes),
        "peers": {
            number: (one.all_events, one.peak_events, one.peak_out, one.peak_in)
            for number, one in sorted(world.traffic.peers.items())
        },
        "now": world.now,
    }


def quickly(scenario: Scenario, network: Network, until: int) -> dict[str, Any]:
    """By the kernel."""
    grid = Grid(scenario, network, record=True)
    grid.until(until)
    s = grid.state
    jobs = int(s.setting[at.S_JOBS])
    count = len(s.arrival)
    told = s.outcome[:count].tolist()
    assert s.g[at.G_LOST] == 0
    return {
        "workflows": [
            (
                int(owner) + 1,
                STATES[row[at.W_STATE]],
                row[at.W_DECIDED],
                row[at.W_ENDED],
                *(row[at.W_HOPS : at.W_SPLITS + 1] if row[at.W_STATE] == at.DONE else (0, 0)),
            )
            for (_, owner), row in zip(s.arrival, told, strict=True)
        ],
        "jobs": [
            (place // jobs + 1, place % jobs, int(peer) + 1, int(begun))
            for place, (peer, begun) in enumerate(s.placed)
            if peer >= 0
        ],
        "messages": {
            name: int(s.g[at.G_COUNTS + kind]) for kind, name in enumerate(at.NAMES) if s.g[at.G_COUNTS + kind]
        },
        "bytes": {name: int(s.g[at.G_BYTES + kind]) for kind, name in enumerate(at.NAMES) if s.g[at.G_BYTES + kind]},
        "peers": {
            number: (int(one[at.ALL_EVENTS]), int(one[at.PEAK_EVENTS]), int(one[at.PEAK_OUT]), int(one[at.PEAK_IN]))
            for number, one in enumerate(s.peer, 1)
        },
        "now": int(s.g[at.G_NOW]),
    }


def any_scenario(seed: int) -> Scenario:
    """Grids of all shapes, calm and overloaded."""
    rng = Random(seed)
    fan_out = rng.choice([2, 2, 3, 4, 4, 5, 16])
    model = rng.choice(["fork-join", "laplace"])
    own = replace(
        SILENT,
        update=rng.choice([1, 100, 1000, 1000, 10_000]),
        fit=rng.choice(["best", "best", "earliest", "worst"]),
        splitting=rng.random() < 0.8,
        early=rng.random() < 0.8,
        holds=rng.choice([1, 8]),
    )
    found = Scenario(
        nodes=rng.choice([1, 2, 3, 7, 20, 33, 64, 100]),
        model=model,
        size=rng.choice([1, 2, 5, 8, 12] if model == "fork-join" else [2, 3, 4, 5]),
        priority=rng.choice([0.3, 0.8, 1.1, 1.3, 1.4]),
        hours=rng.choice([0.1, 0.3, 0.6]),
        load=rng.choice([0.3, 0.93, 2.0, 5.0]),
        fan_out=fan_out,
        most_power=rng.choice([1000, 3000, 20_000]),
        seed=seed,
        settings=own,
    )
    jobs, _ = found.shape
    most = jobs / found.longest * found.most_power / found.least_power
    return found if found.priority < most else replace(found, priority=0.7 * most)


def any_network(seed: int) -> Network:
    """One of the paper's, or one so slow that holds are renewed, given up and asked for again."""
    rng = Random(-seed - 1)
    if rng.random() < 0.5:
        return Network()
    return rng.choice([Network(2000, 100, 20_000), Network(50, 25, 300, 20_000), Network(6000, 4000, 25_000)])


@pytest.mark.parametrize("seed", range(60))
def test_the_kernel_does_what_the_peers_do(seed: int) -> None:
    scenario = any_scenario(seed)
    network = any_network(seed)
    slow = slowly(scenario, network)
    quick = quickly(scenario, network, slow["now"])
    for what in ("workflows", "jobs", "messages", "bytes", "peers"):
        assert quick[what] == slow[what], f"{what} of {scenario} with {network}"


@pytest.mark.parametrize("model", ["fork-join", "laplace"])
def test_without_failures_no_accepted_deadline_is_missed_in_a_grid_of_thousands(model: str) -> None:
    """More work than it can do, so that much is refused; nothing is lost, and everything ends."""
    found = simulated(Scenario(nodes=3000, model=model, hours=1.0, load=1.6, seed=5))
    assert found["accepted"] > 1000 and found["rejected"] > 100
    assert (found["missed"], found["failed"], found["too_late"]) == (0, 0, 0)
    assert found["submitted"] == found["accepted"] + found["rejected"]


def test_a_job_that_ends_at_the_last_moment_is_heard_of_in_time() -> None:
    """One workflow of 8,054 ended twelve milliseconds before its deadline, and its owner heard of it fifteen after."""
    found = simulated(Scenario(nodes=8192, model="laplace", priority=1.1, hours=1.0, seed=2))
    assert found["submitted"] == 8054 and found["missed"] == 0
