"""Fig. 2: "if the first placeholder job gets to run immediately and the later jobs' wait times do not exceed their
predecessor's run times, the queue wait time for the entire workflow application is eliminated"."""

from __future__ import annotations

import math

import pytest

from headway.engine.queue import AllocationId
from headway.policies.how_much import Advice, Ask, View, method
from headway.sim.queue import News
from headway.sim.submission import Case, Submission
from tests.policies.test_how_much import HOUR, chain, layers


class Waits:
    """A queue in which the n-th request waits for as long as it is told, and nobody else is served."""

    def __init__(self, waits: list[float]) -> None:
        self.now = 0.0
        self._waits, self._asked = waits, 0
        self._starts: dict[AllocationId, tuple[float, float]] = {}
        self._limits: dict[AllocationId, float] = {}

    def advance(self, until: float) -> list[News]:
        due = [(when, key, True) for key, (when, _) in self._starts.items()]
        due += [(when, key, False) for key, when in self._limits.items()]
        when, key, began = min(due, default=(math.inf, AllocationId(0), False))
        if when > until or when == math.inf:
            self.now = until if until < math.inf else self.now
            return []
        self.now = when
        if began:
            self._limits[key] = when + self._starts.pop(key)[1]
        else:
            del self._limits[key]
        return [News(key, began)]

    def settle(self) -> list[News]:
        return []

    def submit(self, width: int, seconds: float) -> AllocationId:
        wait = self._waits[min(self._asked, len(self._waits) - 1)]
        self._asked += 1
        key = AllocationId(self._asked)
        self._starts[key] = self.now + wait, seconds
        return key

    def cancel(self, wanted: AllocationId) -> None:
        del self._starts[wanted]

    def end(self, ended: AllocationId) -> None:
        del self._limits[ended]

    def showstart(self, width: int, seconds: float, used: float = 1.0) -> float:
        return self._waits[min(self._asked, len(self._waits) - 1)]


def level_by_level(view: View) -> Advice:
    return Advice((Ask(view.left.width(1), view.busy + view.left.run_time(1, 8), view.left.jobs(1)),))


@pytest.mark.parametrize("waits", [[0.0, HOUR, HOUR], [0.0, 0.25 * HOUR, 0.75 * HOUR], [0.0, 0.0, 0.0]])
def test_waits_that_hide_behind_the_predecessors_cost_nothing(waits: list[float]) -> None:
    queue = Waits(waits)
    found = Submission(queue, Case(layers([2, 4, 2])), level_by_level, 8, queue.showstart).outcome()
    assert found.wait == 0 and found.allocation_wait == sum(waits)


def test_a_wait_beyond_the_predecessors_run_is_seen_in_part() -> None:
    """The left side of the figure: of three hours of wait one hides behind the first level, two are seen."""
    queue = Waits([0.0, 3 * HOUR])
    found = Submission(queue, Case(layers([2, 4])), level_by_level, 8, queue.showstart).outcome()
    assert found.wait == 2 * HOUR


@pytest.mark.parametrize("later", [0.0, HOUR, 2 * HOUR])
def test_hybrid_hides_them_by_itself(later: float) -> None:
    """Levels of three hours each, of which no later request waits for longer than the one before runs."""
    queue = Waits([0.0, later])
    found = Submission(queue, Case(chain(3, 3, 3)), method("hybrid"), 8, queue.showstart).outcome()
    assert found.wait == 0 and found.cut == 0
