"""Nodes with scripts, processes and rules, and nodes outside the order, whatever way their attempts end."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from headway.engine import again
from headway.engine.intake import Intake
from headway.engine.steering import ready
from headway.model.states import Kind, State
from tests.engine.flows import workflows
from tests.engine.machine import ONE, Bench, run_machine

GOING_ON = (State.ELIGIBLE, State.RUNNING, State.LATER)
OUTSIDE = (Kind.SERVICE, Kind.FINAL, Kind.PROVISIONER)


class Nodes(Bench):
    """Runs a workflow, and runs it again."""

    @initialize(intake=workflows())
    def submit(self, intake: Intake) -> None:
        self.begin(intake)

    @rule(retry=st.booleans())
    def run_again(self, retry: bool) -> None:
        """As `headway run` does, with `--retry` or without."""
        if retry:
            failed = [row for row in self.rows if row.state is State.FAILED and row.kind != Kind.PART]
            self.memory.save(again.retry(self.memory, failed))
        outside = [row for row in self.rows if row.kind in OUTSIDE]
        going_on = {row.kind for row in self.rows if row.state in GOING_ON}
        goes_on = bool(going_on & {Kind.JOB, Kind.NODE})
        is_provided = goes_on or Kind.PROVISIONER in going_on
        if is_provided:
            self.memory.returned.pop(ONE, None)
        self.undone |= {row.job for row in outside}
        self.memory.save(again.resume(self.memory, outside, goes_on, is_provided))

    @precondition(lambda self: any(lease.kind == Kind.PROVISIONER for lease in self.held.values()))
    @rule()
    def make_ready(self) -> None:
        """A provisioner says that the rest may start."""
        row = next(self.row(lease.job) for lease in self.held.values() if lease.kind == Kind.PROVISIONER)
        if self.memory.children(row):
            self.ended.add(row.job)
            self.memory.save(ready(self.memory, row))


def test_whatever_way_attempts_end_nodes_keep_their_rules() -> None:
    run_machine(Nodes)
