"""What comes in is worked out for all rows at once. It must be what the rules of progress say of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headway.engine.board import Board
from headway.engine.intake import Intake, Outside
from headway.engine.progress import Changes, Row, release
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Rules
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind, State
from tests.sim.dags import small_dags

ONE = WorkflowId(1)


def one_by_one(flat: Flat, weak: frozenset[tuple[int, int]]) -> Board:
    """Every row waits for all its parents; then those that wait for nothing, and those that are done, are let go."""
    dag = flat.dag
    board = Board(
        Row(ONE, JobId(node), State.WAITING, len(dag.parents_of(node)), 0, 0, int(dag.milestones[node]))
        for node in range(len(dag))
    )
    for parent, child in dag.arcs():
        board.arcs.setdefault((ONE, JobId(parent)), []).append((JobId(child), int((parent, child) in weak)))
    for node in dag.order:
        row, job = board.row(ONE, JobId(node)), flat.jobs[node]
        if row.state is State.DONE:  # a milestone that one before it has let go
            continue
        if job is not None and job.rules.done:
            if row.state is State.ELIGIBLE:
                row.to(State.WAITING)
            row.to(State.DONE)
            release(board, row, Changes())
        elif not row.waiting_for and row.state is State.WAITING:
            if row.kind == Kind.MILESTONE:
                row.to(State.DONE)
                release(board, row, Changes())
            else:
                row.ready()
    return board


@given(st.data(), small_dags())
def test_at_once_as_one_by_one(data: st.DataObject, dag: Dag) -> None:
    done = st.sampled_from([False, False, True])
    jobs = [None if one else Job("true", rules=Rules(done=data.draw(done))) for one in dag.milestones]
    weak = frozenset(arc for arc in dag.arcs() if data.draw(st.integers(0, 3)) == 0)
    flat = Flat(dag, jobs, weak)
    intake = Intake(flat, [0] * len(dag))
    board = one_by_one(flat, weak)
    found = {job: (State(state), waiting) for job, _, state, _, _, waiting, *_ in intake.rows()}
    assert found == {row.job: (row.state, row.waiting_for) for row in board.rows.values()}
    arrivals = [arrival for _, _, state, _, arrival, *_ in intake.rows() if state == State.ELIGIBLE]
    assert arrivals == list(range(1, intake.arrivals + 1))


def test_what_has_no_parents_waits_for_a_provisioner() -> None:
    dag = Dag(["a", "b"], [0], [1])
    outside = Outside([(Kind.PROVISIONER, "p", Job("true")), (Kind.FINAL, "f", Job("true"))])
    intake = Intake(Flat(dag, [Job("true"), Job("true")], frozenset()), [0, 0], outside)
    rows = [(Kind(kind), State(state), waiting) for _, kind, state, _, _, waiting, *_ in intake.rows()]
    assert rows == [
        (Kind.JOB, State.WAITING, 1),
        (Kind.JOB, State.WAITING, 1),
        (Kind.PROVISIONER, State.ELIGIBLE, 0),
        (Kind.FINAL, State.WAITING, 1),
    ]
    assert intake.final == 3 and intake.special and list(intake.arcs()) == [(0, 1, False), (2, 0, False)]
