"""The rules of progress, on rows in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.progress import Changes, Node, Row
from headway.engine.step import step
from headway.model.messages import Finish, JobId, LeaseId, WorkflowId
from headway.model.states import State

ONE = WorkflowId(1)


class Table:
    """A few jobs by letter; capitals are milestones. An arc is two letters, weak with a ~ behind."""

    def __init__(self, jobs: str, *arcs: str, retries: int = 0) -> None:
        self.letters = jobs
        self.arcs = [(jobs.index(arc[0]), jobs.index(arc[1]), arc.endswith("~")) for arc in arcs]
        self.spent: set[int] = set()
        self.arrivals = 0
        waiting = [sum(child == at for _, child, _ in self.arcs) for at in range(len(jobs))]
        self.rows = [
            Row(
                ONE,
                JobId(at),
                State.WAITING if waiting[at] else State.ELIGIBLE,
                waiting[at],
                0,
                retries,
                int(letter.isupper()),
            )
            for at, letter in enumerate(jobs)
        ]

    def leased(self, lease: LeaseId) -> Row | None:
        return next((row for row in self.rows if row.lease == lease), None)

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        return [
            (self.rows[child], weak)
            for parent, child, weak in self.arcs
            if parent == row.job and not (weak and parent in self.spent)
        ]

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return self.rows[job]

    def node(self, row: Row) -> Node:
        raise AssertionError("there are none here")

    def parts(self, row: Row) -> Sequence[Row]:
        return []

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.arrivals += 1
        return self.arrivals

    def take(self, letter: str) -> LeaseId:
        row = self.rows[self.letters.index(letter)]
        row.to(State.RUNNING)
        row.lease = LeaseId(100 + row.job)
        return row.lease

    def end(self, letter: str, exit_code: int | None = 0) -> Changes:
        changes = step(self, [Finish(self.take(letter), exit_code)], 0.0)
        self.spent |= {job for _, job in changes.spent}
        return changes

    def states(self) -> str:
        return " ".join(
            f"{letter}:{row.state.name.lower()}" for letter, row in zip(self.letters, self.rows, strict=True)
        )


def test_a_child_becomes_eligible_with_its_last_parent() -> None:
    table = Table("abc", "ac", "bc")
    table.end("a")
    assert table.states() == "a:done b:eligible c:waiting"
    table.end("b")
    assert table.states() == "a:done b:done c:eligible"


def test_who_becomes_eligible_first_has_the_smaller_arrival() -> None:
    table = Table("abcd", "ac", "bd")
    table.end("b")
    table.end("a")
    assert table.rows[3].arrival < table.rows[2].arrival


def test_milestones_end_at_once_and_pass_on() -> None:
    table = Table("aMNb", "aM", "MN", "Nb")
    table.end("a")
    assert table.states() == "a:done M:done N:done b:eligible"


def test_a_failed_job_blocks_only_what_depends_on_it() -> None:
    table = Table("abcd", "ac", "bd")
    table.end("a", 1)
    table.end("b")
    assert table.states() == "a:failed b:done c:waiting d:eligible"


def test_retries_are_counted() -> None:
    table = Table("a", retries=2)
    for expected in ("eligible", "eligible", "failed"):
        table.end("a", -9)
        assert table.states() == f"a:{expected}"


def test_what_is_given_back_counts_as_no_try() -> None:
    table = Table("a")
    table.end("a", None)
    assert table.states() == "a:eligible" and table.rows[0].tries == 0


def test_a_weak_arc_needs_the_end_only_and_counts_once() -> None:
    table = Table("abc", "ac~", "bc")
    table.end("a", 1)
    assert table.rows[2].waiting_for == 1
    table.rows[0].to(State.ELIGIBLE)  # its user wants it retried
    table.end("a", 0)
    assert table.rows[2].waiting_for == 1
    table.end("b")
    assert table.states() == "a:done b:done c:eligible"


def test_a_stale_lease_is_refused() -> None:
    table = Table("ab", "ab")
    lease = table.take("a")
    assert not step(table, [Finish(lease, 0)], 0.0).refused
    changes = step(table, [Finish(lease, 1), Finish(LeaseId(7), 0)], 0.0)
    assert [finish.lease for finish in changes.refused] == [lease, 7] and not changes.rows
    assert table.states() == "a:done b:eligible"


def thought_lost(table: Table, letter: str) -> LeaseId:
    """A job that became eligible because its placeholder was silent; the lease is good while nobody takes the job."""
    lease = table.take(letter)
    step(table, [Finish(lease, None)], 0.0)
    table.rows[table.letters.index(letter)].lease = lease
    return lease


def test_an_end_that_comes_late_counts_like_any_other() -> None:
    table = Table("ab", "ab")
    changes = step(table, [Finish(thought_lost(table, "a"), 0)], 0.0)
    assert table.states() == "a:done b:eligible" and not changes.refused


def test_a_late_end_that_is_told_twice_in_one_step_counts_once() -> None:
    table = Table("a", retries=5)
    late = Finish(thought_lost(table, "a"), 1)
    assert step(table, [late, late], 0.0).refused == [late]
    assert table.states() == "a:eligible" and table.rows[0].tries == 1


def test_who_still_has_a_job_that_was_thought_lost_has_it_again() -> None:
    table = Table("ab")
    a, b = thought_lost(table, "a"), table.take("b")
    changes = step(table, [], 0.0, holds=[a, b, LeaseId(7)])
    assert changes.retaken == [a] and changes.lost == [7]
    assert table.states() == "a:running b:running"


def test_several_ends_in_one_step_see_each_other() -> None:
    table = Table("abMc", "aM", "bM", "Mc")
    leases = [table.take("a"), table.take("b")]
    step(table, [Finish(lease, 0) for lease in leases], 0.0)
    assert table.states() == "a:done b:done M:done c:eligible"
