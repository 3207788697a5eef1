"""The same workflow, run for real and simulated, starts the same jobs in the same order on the same slots."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.live.reading.read import read
from headway.model.flatten import flatten
from headway.model.record import record
from headway.policies.what_next import order
from headway.sim.heap import Heap
from headway.sim.world import End, World
from tests.shell import answer, headway

SLOTS = 2
UNIT = 0.4  # seconds; all ends are at least one apart, so that their order is certain
# A job, how long it takes in units, and what it waits for.
FORK = [("a", 2, ""), ("b", 6, ""), ("c", 1, ""), ("d", 1, "c"), ("e", 1, "c"), ("f", 1, "b")]
LADDER = [
    *(("a", 2, ""), ("b", 4, ""), ("c", 1, ""), ("d", 2, "a"), ("e", 2, "b"), ("f", 2, "c")),
    *(("g", 2, "c d"), ("h", 2, "e f")),
]
Jobs = list[tuple[str, int, str]]


@record
class Start:
    """A job that starts, on which slot, and those that run then."""

    job: str
    slot: int
    beside: frozenset[str]


def starts(attempts: list[tuple[str, float, float]]) -> list[Start]:
    """Attempts in order, with their begin and end, as starts."""
    found, busy_until = [], [0.0] * SLOTS
    for at, (job, began, end) in enumerate(attempts):
        slot = next(slot for slot, until in enumerate(busy_until) if until <= began)  # the first that is free
        busy_until[slot] = end
        found.append(Start(job, slot, frozenset(other for other, _, until in attempts[:at] if until > began)))
    return found


def live(folder: Path, name: str) -> list[Start]:
    done = headway("run", "w.sh", "--slots", str(SLOTS), "--order", name, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = answer("history", cwd=folder)["attempts"]
    return starts([(one["job"], one["started"], one["ended"]) for one in found])


def simulated(folder: Path, name: str, seconds: dict[str, float]) -> list[Start]:
    flat = flatten(read(folder / "w.sh"))
    memory = Memory()
    workflow = memory.add(Intake(flat, order(name)(flat.dag)))
    world = World(memory, Heap(), lambda lease: End(seconds[lease.name]))
    world.join("here", SLOTS, [workflow])
    world.heap.run()
    attempts = [(one.job, one.at, one.at + seconds[one.job]) for one in world.started]
    ends = sorted(end for _, _, end in attempts)
    assert all(later - earlier > 0.9 * UNIT for earlier, later in pairwise(ends)), f"ends too close: {ends}"
    found = starts(attempts)
    assert [start.slot for start in found] == [one.slot for one in world.started]
    return found


def written(folder: Path, jobs: Jobs) -> dict[str, float]:
    """Writes a workflow that sleeps; how long each job does."""
    seconds = {job: units * UNIT for job, units, _ in jobs}
    lines = [f'mqsub -deps "{after}" -l {job} -c "sleep {seconds[job]:.1f}"\n' for job, _, after in jobs]
    (folder / "w.sh").write_text("".join(lines))
    return seconds


@pytest.mark.parametrize("name", ["fifo", "prio"])
@pytest.mark.parametrize("jobs", [FORK, LADDER], ids=["fork", "ladder"])
def test_a_run_starts_what_the_simulation_says(jobs: Jobs, name: str, tmp_path: Path) -> None:
    expected = simulated(tmp_path, name, written(tmp_path, jobs))
    assert {len(start.beside) for start in expected} == {0, SLOTS - 1}
    assert live(tmp_path, name) == expected


@pytest.mark.parametrize("jobs", [FORK, LADDER], ids=["fork", "ladder"])
def test_the_orders_differ_so_that_agreement_says_something(jobs: Jobs, tmp_path: Path) -> None:
    seconds = written(tmp_path, jobs)
    assert simulated(tmp_path, "fifo", seconds) != simulated(tmp_path, "prio", seconds)
