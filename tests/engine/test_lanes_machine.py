"""Throttles, named resources, wide jobs, and equal ranks: who is given out, and who is passed over."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis.stateful import initialize

from headway.engine.intake import Intake
from tests.engine.flows import laned
from tests.engine.machine import Bench, run_machine


class Lanes(Bench):
    """Runs a workflow whose jobs share throttles and resources."""

    named: Mapping[str, int] = {"gpu": 2, "disk": 3}

    @initialize(intake=laned())
    def submit(self, intake: Intake) -> None:
        self.begin(intake)


def test_lanes_are_never_overfull_and_nobody_is_passed_over() -> None:
    run_machine(Lanes)
