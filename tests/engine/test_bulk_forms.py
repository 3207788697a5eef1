"""Forms of "a parent has ended" that are worked out for all rows at once must say what the rule says of each."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.arrangement import Place, Waits, arranged
from headway.engine.board import Board
from headway.engine.intake import Intake
from headway.engine.memory import Memory
from headway.engine.plan import Known, plan
from headway.engine.progress import Changes, Row, release
from headway.engine.ready import Room
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import Finish, JobId, WorkflowId
from headway.model.part import part
from headway.model.states import Needs, Off, State
from headway.policies.what_next.eligible import eligible, schedule
from tests.sim.dags import small_dags

ONE = WorkflowId(1)


@given(st.data(), small_dags())
def test_a_schedule_is_the_order_in_which_a_store_gives_jobs_to_one_worker(data: st.DataObject, dag: Dag) -> None:
    ranks = data.draw(st.lists(st.integers(0, 2), min_size=len(dag), max_size=len(dag)))
    jobs = [None if milestone else Job("true") for milestone in dag.milestones]
    memory = Memory()
    workflow = memory.add(Intake(Flat(dag, jobs, frozenset()), ranks))
    order, counts = list[int](), list[int]()
    ended: list[Finish] = []
    while True:
        memory.exchange(ended, Room(0, 1), [workflow], 0.0)
        counts.append(sum(row.state is State.ELIGIBLE for row in memory.rows.values()))
        leases = memory.exchange([], Room(1, 1), [workflow], 0.0).leases
        if not leases:
            break
        order.append(leases[0].job)
        ended = [Finish(leases[0].id, 0)]
    assert schedule(dag, ranks) == order
    assert eligible(dag, order) == counts


@st.composite
def flats(draw: st.DrawFn) -> Flat:
    dag = draw(small_dags(9))
    weak = frozenset(arc for arc in dag.arcs() if not dag.milestones[arc[0]] and draw(st.booleans()))
    return Flat(dag, [None if milestone else Job("true") for milestone in dag.milestones], weak)


def some_way_through(draw: st.DrawFn, flat: Flat) -> Memory:
    """A store that an earlier run has left: jobs that ended well or badly, run, or were disabled."""
    memory = Memory()
    workflow = memory.add(Intake(flat, [0] * len(flat.dag)))
    for _ in range(draw(st.integers(0, 6))):
        leases = memory.exchange([], Room(2, 2), [workflow], 0.0).leases
        for lease in leases:
            if draw(st.integers(0, 3)):  # else it goes on
                memory.exchange([Finish(lease.id, draw(st.sampled_from([0, 0, 1])))], Room(0, 2), (), 0.0)
    for row in memory.rows.values():
        if draw(st.integers(0, 5)) == 0 and flat.jobs[row.job] is not None:
            row.off = int(Off.BY_USER)
            if row.state is State.ELIGIBLE:
                row.to(State.DISABLED)
    return memory


def by_the_rule(flat: Flat, memory: Memory, found: dict[int, Place], anew: frozenset[int]) -> dict[int, Row]:
    """Every row waits for all its parents; then those that have ended, or count as if, are let go one by one."""
    dag = flat.dag
    board = Board(
        Row(ONE, JobId(node), State.WAITING, len(dag.parents_of(node)), 0, 0, int(dag.milestones[node]))
        for node in range(len(dag))
    )
    for parent, child in sorted(dag.arcs()):
        board.arcs.setdefault((ONE, JobId(parent)), []).append((JobId(child), int((parent, child) in flat.weak)))
    for node in dag.order:
        row, old = board.row(ONE, JobId(node)), memory.rows[ONE, JobId(node)]
        place = found.get(node)
        if flat.jobs[node] is None:
            if not row.waiting_for and row.state is State.WAITING:
                row.state = State.DONE
                release(board, row, Changes())
            continue
        settled = place.settled if place is not None else old.state is State.DONE
        spent = any(weak == 2 for _, weak in memory.arcs.get(old.key, ())) and node not in anew
        if settled or spent:
            before, row.state = row.state, State.DONE if settled else State.FAILED
            release(board, row, Changes())
            row.state = before
    return {row.job: row for row in board.rows.values()}


@st.composite
def further_runs(draw: st.DrawFn) -> tuple[Flat, Memory, list[str], list[str]]:
    flat = draw(flats())
    names = [flat.dag.names[node] for node in flat.dag.jobs()]
    some = st.lists(st.sampled_from(names), max_size=2) if names else st.just([])
    return flat, some_way_through(draw, flat), draw(some), draw(some)


@settings(max_examples=250)
@given(further_runs(), st.booleans())
def test_an_arrangement_leaves_every_job_as_the_rule_of_progress_does(
    case: tuple[Flat, Memory, list[str], list[str]], retry: bool
) -> None:
    flat, memory, until, since = case
    rows = {int(row.job): row for row in memory.rows.values()}
    known = {
        job: Known(row.state, row.tries > 0, row.is_disabled) for job, row in rows.items() if flat.jobs[job] is not None
    }
    chosen = part(flat, until, since)
    planned = plan(flat, known, chosen, retry=retry)
    places = {job: Place(row.state, row.waiting_for, row.off) for job, row in rows.items()}
    spent = {
        (int(key[1]), int(child))
        for key, arcs in memory.arcs.items()
        for child, needs in arcs
        if needs is Needs.END_MET
    }
    found = arranged(flat, places, Waits(spent), planned)
    expected = by_the_rule(flat, memory, found, planned.anew)
    for job, old in places.items():
        new = found.get(job, old)
        assert new.waiting_for == expected[job].waiting_for
        if flat.jobs[job] is None:
            assert new.state is expected[job].state
            continue
        assert bool(new.off & Off.LEFT_OUT) == (job in planned.left_out and old.state is not State.RUNNING)
        assert bool(new.off & Off.ASSUMED) == (job in planned.assumed and old.state is not State.RUNNING)
        if job in planned.anew or old.state not in (State.RUNNING, State.DONE, State.FAILED):
            may_run = Row(ONE, JobId(job), State.WAITING, new.waiting_for, 0, 0, 0, off=new.off)
            if not new.waiting_for:
                may_run.ready()
            assert new.state is may_run.state
        else:
            assert new.state is old.state
