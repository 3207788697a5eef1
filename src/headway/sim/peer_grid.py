"""Workflows that arrive at a grid of up to a million peers: a scenario of sim/peers.py, run by the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.engine.peering.flow import waiting
from headway.model.dag import Dag
from headway.model.errors import HeadwayError
from headway.policies.by_when.reference_points import EPOCH, of_epoch
from headway.policies.by_when.routing import FITS
from headway.policies.by_when.sequences import decomposition
from headway.policies.by_when.summary import POWER_OF
from headway.sim.heap import Streams
from headway.sim.kernels import peer_state as at
from headway.sim.kernels.peer_plant import plant
from headway.sim.kernels.peer_split import FIELDS
from headway.sim.kernels.peer_state import Cut, State
from headway.sim.kernels.peers import run
from headway.sim.links import Network
from headway.sim.peer_scenario import BEGIN, MINUTE, Arrival, Scenario, arrivals, powers
from headway.sim.rng import key

WHEEL = 1 << 22  # milliseconds that events can lie ahead
Integers = NDArray[np.int32]


def cut_of(scenario: Scenario) -> tuple[Cut, dict[str, int]]:
    """The sequences of a scenario's workflows, which are equal but for a factor, and what follows for their windows."""
    jobs, arcs = scenario.shape
    dag = Dag([str(job) for job in range(jobs)], [one for one, _ in arcs], [other for _, other in arcs])
    found = decomposition(dag, [1] * jobs)
    waits, then = waiting(dag, found)
    place, position = [0] * jobs, [0] * jobs
    for number, job in enumerate(dag.order):
        place[job] = number
    for sequence in found.sequences:
        for number, job in enumerate(sequence):
            position[job] = number
    parents, children = [list[int]() for _ in range(jobs)], [list[int]() for _ in range(jobs)]
    for one, other in arcs:
        parents[other].append(one)
        children[one].append(other)
    apart = [[found.sequence_of[one] != found.sequence_of[job] for one in parents[job]] for job in range(jobs)]
    hops, path, bound = [0] * jobs, [1] * jobs, [0] * jobs
    for job in dag.order:
        for one, is_apart in zip(parents[job], apart[job], strict=True):
            path[job] = max(path[job], path[one] + 1)
            hops[job] = max(hops[job], hops[one] + is_apart)
            bound[job] |= is_apart
            bound[one] |= 2 * is_apart
    cut = Cut(
        *_lists(found.sequences),
        _row(found.sequence_of),
        _row(position),
        *_lists(parents),
        *_lists(children),
        _row(dag.order),
        _row(place),
        _row(waits),
        *_lists(then),
        _row(bound),
    )
    longest = max(map(len, found.sequences))
    return cut, {
        "jobs": jobs, "sequences": len(found.sequences), "width": found.width, "path": max(path), "hops": max(hops),
        "longest": longest,
    }  # fmt: skip


def _row(values: Sequence[int]) -> Integers:
    return np.array(list(values), np.int32)


def _lists(values: Sequence[Sequence[int]]) -> tuple[Integers, Integers]:
    """Where each list begins, and all of them."""
    return _row([0, *accumulate(map(len, values))]), _row([one for some in values for one in some])


class Grid:
    """A scenario in the kernel. `record`: keeps where each job ran, and from when on."""

    def __init__(self, scenario: Scenario, network: Network | None = None, record: bool = False) -> None:
        self.scenario, network = scenario, network or Network()
        streams = Streams(scenario.seed)
        self.powers = powers(scenario, streams.of("powers"))
        coming = list(arrivals(scenario, self.powers, streams))
        self.end = BEGIN + scenario.milliseconds
        self.last = max([self.end, *(one.deadline for one in coming)]) + 2 * MINUTE
        self.state = self._made(network, coming, record)

    def _made(self, network: Network, coming: Sequence[Arrival], record: bool) -> State:
        scenario, nodes = self.scenario, self.scenario.nodes
        cut, facts = cut_of(scenario)
        jobs, sequences, longest = facts["jobs"], facts["sequences"], facts["longest"]
        first = BEGIN // EPOCH
        epochs = (self.last - BEGIN) // EPOCH + 2
        g = np.zeros(at.GLOBALS, np.int64)
        g[at.G_NOW], g[at.G_EPOCH], g[at.G_PAST], g[at.G_PEER] = BEGIN, first, 1, -1
        for pool in range(6):
            g[at.G_POOLS + 3 * pool] = -1
        g[at.G_CLASSES : at.G_CLASSES + 40] = -1
        peer = np.zeros((nodes, at.PEER_COLUMNS), np.int32)
        peer[:, [at.STAMP, at.SECOND_AT, at.RUNNING, at.FLOWS, at.BRANCH, at.TICK_AT]] = -1
        peer[:, [at.HOLD_DUE, at.LATE_DUE, at.OWNER_DUE]] = at.NEVER
        peer[:, at.POWER] = self.powers
        peer[:, at.STAGE] = scenario.settings.stage
        node = np.zeros((2 * nodes + 8, at.NODE_COLUMNS), np.int32)
        node[:, [at.FATHER, at.TOLD, at.VIEW, at.SENT_AT]] = -1
        node[:, at.CHANGED], node[:, at.ACKED] = 1, BEGIN
        state = State(
            peer=peer,
            link=np.zeros(nodes, np.int64),
            node=node,
            event=np.zeros((4 * nodes + 4096, at.EVENT_COLUMNS), np.int32),
            wheel=np.full(WHEEL, -1, np.int32),
            flow=np.zeros((nodes // 8 + 64, at.WHERE + jobs), np.int32),
            work=np.zeros(nodes // 8 + 64, np.int64),
            plan=np.zeros((256, at.PLAN + 2 * sequences + 4 * jobs), np.int32),
            piece=np.zeros((nodes // 2 + 4096, at.DUES + longest), np.int32),
            request=np.zeros((4096, at.BOUNDS + 2 * longest), np.int32),
            asked=np.zeros((16384, at.ASKED_COLUMNS), np.int32),
            rows=np.zeros((4 * nodes + 8192, at.ENTRY_COLUMNS), np.int32),
            cells=np.zeros(32 * nodes + (1 << 18), np.int64),
            g=g,
            setting=self._settings(facts, network, first),
            points=np.array([of_epoch(first + number) for number in range(epochs + 1)], np.int64),
            powers=np.array(POWER_OF, np.int64),
            delays=np.array(network.delays(), np.int64),
            local=np.zeros((at.LOCAL, 4), np.int32),
            arrival=np.array([(one.at, one.owner - 1) for one in coming], np.int32).reshape(-1, 2),
            arrival_work=np.array([one.work for one in coming], np.int64),
            arrival_deadline=np.array([one.deadline for one in coming], np.int32),
            outcome=np.full((max(len(coming), 1), at.OUTCOME_COLUMNS), 0, np.int32),
            placed=np.full((len(coming) * jobs if record else 0, 2), -1, np.int32),
            counts=np.zeros(8192, np.int32),
            touched=np.zeros(8192, np.int32),
            scratch=np.zeros((8, 1024), np.int64),
            marks=np.zeros(jobs + 1, np.int32),
            order=np.zeros((2, 4 * nodes + 65536), np.int64),
            split=np.zeros((2 * longest + 4) * (longest * FIELDS + 1) + FIELDS, np.int64),
            cut=cut,
        )
        plant(state, scenario.fan_out, np.zeros((2 * nodes + 8, 4), np.int32))
        state.outcome[:, at.W_DECIDED] = state.outcome[:, at.W_ENDED] = -1
        return state

    def _settings(self, facts: dict[str, int], network: Network, first: int) -> NDArray[np.int64]:
        scenario, own = self.scenario, self.scenario.settings
        found = np.zeros(32, np.uint64)
        for column, value in {
            at.S_UPDATE: own.update, at.S_REFRESH: own.refresh, at.S_HOLD: own.hold, at.S_LONGEST: own.longest_hold,
            at.S_HOLDS: own.holds, at.S_RENEW: own.renew, at.S_ANSWER: own.answer, at.S_NOTICE: own.notice,
            at.S_TRIES: own.attempts, at.S_PAUSE: own.pause, at.S_FIT: FITS.index(own.fit), at.S_SPLIT: own.splitting,
            at.S_EARLY: own.early, at.S_BANDWIDTH: int(network.bandwidth), at.S_KEY: key(scenario.seed, "links"),
            at.S_FASTEST: max(self.powers), at.S_JOBS: facts["jobs"], at.S_SEQUENCES: facts["sequences"],
            at.S_WIDTH: max(facts["width"], 1), at.S_PATH: facts["path"], at.S_HOPS: facts["hops"],
            at.S_LONGEST_SEQUENCE: facts["longest"], at.S_PEERS: scenario.nodes, at.S_BEGIN: BEGIN,
            at.S_FIRST_EPOCH: first, at.S_MASK: WHEEL - 1, at.S_SKEW: own.skew, at.S_STATUS: own.status,
        }.items():  # fmt: skip
            found[column] = value
        return found.view(np.int64)

    def until(self, when: int) -> None:
        """Lets time go by."""
        while True:
            code = run(self.state, when)
            if code == 0:
                return
            if code == 2:
                raise HeadwayError("the simulated grid cannot go on: an event lies too far ahead.", "Try fewer hours.")
            self._grow()

    def _grow(self) -> None:
        """More room where there is little."""
        s, g = self.state, self.state.g
        pools = ("event", "flow", "plan", "piece", "request", "asked")
        changes: dict[str, Any] = {}
        for number, name in enumerate(pools):
            rows = getattr(s, name)
            used, free = g[at.G_POOLS + 3 * number + 1], g[at.G_POOLS + 3 * number + 2]
            if len(rows) - used + free < max(len(rows) // 8, 8192):
                changes[name] = _longer(rows)
                if name == "flow":
                    changes["work"] = _longer(s.work)
        for name, used in (("cells", g[at.G_CELLS]), ("rows", g[at.G_ROWS])):
            one = getattr(s, name)
            if len(one) - used < max(len(one) // 8, 1 << 18):
                changes[name] = _longer(one)
        self.state = s._replace(**changes)


def _longer(rows: NDArray[Any]) -> NDArray[Any]:
    """Half as long again, and at least by so much that it is not short at once."""
    found = np.zeros((len(rows) + max(len(rows) // 2, 1 << 16), *rows.shape[1:]), rows.dtype)
    found[: len(rows)] = rows
    return found
