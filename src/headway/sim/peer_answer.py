"""What the kernel has measured of a grid of peers, under the same names as what sim/peers.py measures."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.engine.peering.owner import NO_ROOM
from headway.model.record import record
from headway.sim.kernels import peer_state as at
from headway.sim.kernels.peer_pieces import BASE
from headway.sim.peer_grid import Grid
from headway.sim.peer_scenario import BEGIN, MINUTE, PARTS, TRAFFIC, Scenario, part

ACK, STATUS, STATUS_ACK = 45, 18, 3  # bytes of what is only counted, without its base; of a middling one
Longs = NDArray[np.int64]


@record
class Measured:
    """What was measured, and the allocation times of all accepted workflows, in order."""

    answer: dict[str, Any]
    allocation: list[float]


def run(
    grid: Grid, done: Callable[[float], None] = lambda seconds: None, to_the_end: bool = True
) -> dict[str, Any]:  # fmt: skip
    """Lets workflows arrive, then lets all that were accepted end, or be decided on only; the answer."""
    begun, s = time.perf_counter(), grid.state
    _until(grid, grid.end, done)
    s = grid.state
    found = _of_traffic(grid)
    events = int(s.g[at.G_ALL_EVENTS])
    peer, power = s.peer, np.array(grid.powers, np.int64)
    rest = np.where(peer[:, at.RUNNING] >= 0, np.maximum(peer[:, at.BUSY] - grid.end, 0), 0)
    used = int(((peer[:, at.WORKED] - rest) * power).sum())
    found["utilisation"] = used / (int(power.sum()) * (grid.end - BEGIN))
    found["events"] = events
    if not to_the_end:
        _until(grid, min(grid.end + MINUTE, grid.last), done)
    while to_the_end and int(grid.state.g[at.G_NOW]) < grid.last and grid.state.g[at.G_OPEN]:
        _until(grid, min(int(grid.state.g[at.G_NOW]) + 5 * MINUTE, grid.last), done)
    found = {**of_workflows(grid), **found}
    found["seconds"] = time.perf_counter() - begun
    found["peak_rss"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def _until(grid: Grid, when: int, done: Callable[[float], None]) -> None:
    while (now := int(grid.state.g[at.G_NOW])) < when:
        grid.until(min(now + MINUTE, when))
        done(MINUTE / 1000)


def of_workflows(grid: Grid) -> dict[str, Any]:
    """What became of the workflows."""
    s, jobs = grid.state, int(grid.state.setting[at.S_JOBS])
    count = len(s.arrival)
    told = s.outcome[:count]
    state, decided, ended = told[:, at.W_STATE], told[:, at.W_DECIDED], told[:, at.W_ENDED]
    is_done, when = state == at.DONE, s.arrival[:, 0]
    accepted = is_done | (state == at.ACCEPTED)
    late = is_done & (ended > s.arrival_deadline)
    late |= (state == at.ACCEPTED) & (int(s.g[at.G_NOW]) > s.arrival_deadline)
    power = np.array(grid.powers, np.int64)[s.arrival[:, 1]] if count else np.zeros(0, np.int64)
    alone = jobs * s.arrival_work / np.maximum(power, 1)
    speedups = alone[is_done] / (ended - when)[is_done]
    times = np.sort((decided - when)[accepted]) / 1000
    reasons = {
        NO_ROOM: int((state == at.REJECTED).sum()),
        "the longest path cannot be done by its deadline on the fastest node": int((state == at.TOO_LONG).sum()),
    }
    return {
        "submitted": count,
        "accepted": int(accepted.sum()),
        "rejected": sum(reasons.values()),
        "orphaned": 0,
        "failed": int(s.g[at.G_LOST]),
        "missed": int(late.sum()),
        "speedup": float(speedups.mean()) if len(speedups) else None,
        "allocation_seconds": {name: part(times.tolist(), share) for name, share in PARTS},
        "hops": {name: part(np.sort(told[accepted, at.W_HOPS]).tolist(), share) for name, share in PARTS},
        "splits": int(told[accepted, at.W_SPLITS].sum()),
        "reasons": {reason: number for reason, number in reasons.items() if number},
        "whole": True,
    }


def _of_traffic(grid: Grid) -> dict[str, Any]:
    """What peers handled and sent while workflows arrived."""
    s, scenario, peer = grid.state, grid.scenario, grid.state.peer
    seconds = (grid.end - BEGIN) / 1000
    g, node = s.g, s.node
    sending = node[node[:, at.FATHER] >= 0]
    refresh, status = scenario.settings.refresh, scenario.settings.status
    greetings = int(g[at.G_BEATS]) + int(((grid.end - sending[:, at.SENT_AT]) // refresh).sum())
    held = s.piece[(s.piece[:, at.C_HELD] == 1) & (s.piece[:, at.C_COMMITTED] == 1)]
    statuses = int(g[at.G_STATUSES]) + int(((grid.end - held[:, at.C_SINCE]) // status).sum())
    answers = int(g[at.G_ACKS]) + greetings
    greeting = float(sending[:, at.UPDATE_SIZE].mean()) + 3 if len(sending) else 0.0
    silent = greetings * greeting + answers * (BASE + ACK) + statuses * (2 * BASE + STATUS + STATUS_ACK)
    counted = int(peer[:, at.ALL_EVENTS].sum())
    more = greetings + answers + 2 * statuses
    names = [(name, number) for number, name in enumerate(at.NAMES) if g[at.G_COUNTS + number]]
    names.sort(key=lambda one: -g[at.G_COUNTS + one[1]])
    return {
        "events_per_node_second": {
            "mean": (counted + more) / max(scenario.nodes, 1) / seconds,
            "max": int(peer[:, at.PEAK_EVENTS].max()),
        },
        "bytes_out": {name: part(np.sort(peer[:, at.PEAK_OUT]).tolist(), share) for name, share in TRAFFIC},
        "bytes_in": {name: part(np.sort(peer[:, at.PEAK_IN]).tolist(), share) for name, share in TRAFFIC},
        "messages": {name: int(g[at.G_COUNTS + number]) for name, number in names},
        "bytes": {name: int(g[at.G_BYTES + number]) for name, number in names},
        "only_counted": {
            "greetings": greetings, "answers": answers, "statuses": 2 * statuses, "bytes": round(silent),
        },
        "levels": _levels(grid, seconds),
        "too_late": int(g[at.G_LATE]),
    }  # fmt: skip


def _levels(grid: Grid, seconds: float) -> list[dict[str, Any]]:
    """Events and bytes a second at peers with a branch of each level; 0: without one."""
    s = grid.state
    level = np.where(s.peer[:, at.BRANCH] >= 0, s.node[s.peer[:, at.BRANCH], at.LEVEL], 0)
    found = []
    for one in range(int(level.max()) + 1):
        rows = s.peer[level == one].astype(np.int64)
        if len(rows):
            told: dict[str, Any] = {"level": one, "peers": len(rows)}
            found.append(told)
            for name, column in (("events", at.ALL_EVENTS), ("out", at.ALL_OUT), ("in", at.ALL_IN)):
                told[name] = {
                    "mean": float(rows[:, column].mean()) / seconds,
                    "max": float(rows[:, column].max()) / seconds,
                }
    return found


def simulated(scenario: Scenario, done: Callable[[float], None] = lambda seconds: None) -> dict[str, Any]:
    """Runs a scenario in the kernel."""
    return run(Grid(scenario), done)


def measured(scenario: Scenario, to_the_end: bool = True) -> Measured:
    """The same with the time that each workflow took to be accepted."""
    grid = Grid(scenario)
    found = run(grid, to_the_end=to_the_end)
    told = grid.state.outcome[: len(grid.state.arrival)]
    accepted = np.isin(told[:, at.W_STATE], (at.DONE, at.ACCEPTED))
    times = np.sort((told[:, at.W_DECIDED] - grid.state.arrival[:, 0])[accepted]) / 1000
    return Measured(found, times.tolist())
