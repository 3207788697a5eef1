"""Verbs of users, at any moment, on any jobs: enable, disable, stop, done, redo, with --only or without."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from headway.engine import steering
from headway.model.messages import JobId
from headway.model.states import Kind, State
from tests.engine.machine import ONE, run_machine
from tests.engine.test_nodes_machine import Nodes

VERBS = {"enable": steering.enable, "disable": steering.disable, "stop": steering.stop, "done": steering.done}


class Steered(Nodes):
    """Nodes under way that their user steers."""

    @rule(
        verb=st.sampled_from([*VERBS, "redo", "redo"]),
        first=st.integers(0, 8),
        length=st.integers(0, 3),
        only=st.booleans(),
    )
    def steer(self, verb: str, first: int, length: int, only: bool) -> None:
        memory = self.memory
        rows = [row for row in self.rows if row.kind != Kind.PART and first <= row.job <= first + length]
        states = {row.key: row.state for row in self.rows}
        try:
            if verb == "redo":
                final = memory.traits(ONE).final
                last = None if final is None else memory.row(ONE, final)
                touched = {row.job for row in steering.following(memory, rows, only)}
                changes = steering.redo(memory, rows, last, only)
                self.look_back_at_redo(touched | ({final} if final is not None else set()))
            else:
                changes = VERBS[verb](memory, rows)
        except steering.StillRunningError as error:
            assert {key: row.state for key, row in memory.rows.items()} == states
            assert all(self.row(job).state is State.RUNNING for job in error.jobs)
            return
        memory.save(changes)
        memory.premature_starts = [pair for pair in memory.premature_starts if pair not in changes.certain]
        if verb in ("disable", "stop"):
            assert all(row.is_disabled for row in rows if row.kind != Kind.MILESTONE)
        elif verb == "done":
            assert all(row.state is State.DONE for row in rows)

    def look_back_at_redo(self, touched: set[JobId] | set[int]) -> None:
        """What is done anew has not ended; milestones that wait for nothing have, at once."""
        self.undone |= touched
        self.ended -= touched


def test_whatever_users_say_counters_are_right_and_what_is_disabled_does_not_start() -> None:
    run_machine(Steered)
