"""A workflow on a board, one placeholder at it, and what must hold after whatever happens to them: no database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from headway.engine.intake import Intake
from headway.engine.memory import Memory, Wants
from headway.engine.progress import Row
from headway.engine.ready import Room
from headway.engine.steering import waiting_counts
from headway.model.messages import Answer, Finish, JobId, Lease, LeaseId, WorkflowId
from headway.model.states import TRANSITIONS, Kind, Off, State

ONE = WorkflowId(1)
SLOTS = 4
UNFINISHED = (State.RUNNING, State.ELIGIBLE, State.LATER, State.DISABLED)


class Bench(RuleBasedStateMachine):
    """Takes jobs and ends them; machines add how a workflow comes in, and what else is done to it."""

    named: Mapping[str, int] = {}  # what there is of each named resource

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()
        self.intake: Intake | None = None
        self.now = 0.0
        self.held: dict[LeaseId, Lease] = {}
        self.ended: set[int] = set()  # jobs that have ended since they were last begun anew; provisioners only if well
        self.undone: set[int] = set()  # jobs that may have been done, and need not be any more
        self.moved: list[tuple[Row, State, State]] = []  # since the invariants were last looked at
        self.arrived = 0

    def begin(self, intake: Intake) -> None:
        self.memory, self.intake = Memory(), intake
        self.held, self.ended, self.arrived = {}, set(), intake.arrivals
        self.memory.add(intake)
        self.ended = {row.job for row in self.rows if row.state is State.DONE}
        self.arcs = list(intake.arcs())
        self.moved.clear()

    @property
    def rows(self) -> list[Row]:
        return list(self.memory.rows.values())

    def row(self, job: int) -> Row:
        return self.memory.rows[ONE, JobId(job)]

    # --- what a placeholder does -----------------------------------------------------------------------------------

    def exchange(self, finished: Iterable[tuple[LeaseId, int | None]], free: int) -> Answer:
        """One exchange; whom it passed over, and whether it says rightly that the workflow is over, is looked at."""
        ends = [Finish(lease, code) for lease, code in finished]
        for end in ends:
            self.held.pop(end.lease)
        busy = sum(lease.cores for lease in self.held.values())
        room = Room(min(free, SLOTS - busy), SLOTS, named=self.left_of_named(), is_whole=not self.held)
        offered = room.free
        answer = self.memory.exchange(ends, room, [ONE], self.now, () if self.held else [ONE])
        was_idle = not self.held
        self.note_ends()
        for lease in answer.leases:
            self.check_start(lease)
            self.held[lease.id] = lease
        if offered > 0:
            self.check_order(answer.leases, offered)
        if was_idle and not answer.leases:
            assert (ONE in answer.over) == self.is_over()
            if offered == SLOTS and not answer.over:
                assert answer.wake is not None, "nothing runs, nothing is given, nothing is to come, and it is not over"
        return answer

    def left_of_named(self) -> dict[str, int]:
        left = dict(self.named)
        for lease in self.held.values():
            for name, count in lease.named:
                left[name] -= count
        return left

    @rule(free=st.integers(1, SLOTS))
    def take(self, free: int) -> None:
        self.exchange([], free)

    @rule(
        picks=st.lists(
            st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 7, -9, None])), min_size=1, max_size=3
        ),
        free=st.integers(0, SLOTS),
    )
    def end(self, picks: list[tuple[int, int | None]], free: int) -> None:
        """Attempts end, or are given back (None)."""
        leases = sorted(self.held)
        self.exchange({leases[at % len(leases)]: code for at, code in picks if leases}.items(), free)

    @rule(free=st.integers(0, SLOTS))
    def obey(self, free: int) -> None:
        """What is to end is ended."""
        self.exchange([(lease, None) for lease in sorted(self.memory.stops) if lease in self.held], free)

    @rule(seconds=st.sampled_from([1.0, 5.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    # --- what must hold when jobs are given out --------------------------------------------------------------------

    def check_start(self, lease: Lease) -> None:
        """A node that has begun goes on with its processes, though `redo --only` has a parent run again meanwhile."""
        row = self.row(lease.job)
        owner = self.memory.nodes[row.key].owner if row.kind == Kind.PART else None
        begun = {one.job for one, _, new in self.moved if new is State.RUNNING}
        for one in (row,) if owner is None else (row, self.row(owner)):
            assert not one.off, f"{lease.name} is disabled"
            if one.kind != Kind.FINAL and one.job in begun:
                assert not self.waits(one.job), f"{lease.name} runs before its parents are done"

    def check_order(self, leases: list[Lease], free: int) -> None:
        """Whoever is left either waits for its lane, or there was no room for the first such; nobody overtook it."""
        if self.memory.is_halted(ONE):
            return
        left = [row for row in self.rows if row.state is State.ELIGIBLE and row.kind != Kind.FINAL]
        could = sorted(self.place(row) for row in left if not self.is_lane_full(row))
        if not could:
            return
        first = self.row(could[0][2])
        free -= sum(lease.cores for lease in leases)
        name = self.memory.name(ONE, first.job)
        assert max(1, min(self.wants(first).cores, SLOTS)) > free, f"there was room for {name}"
        for lease in leases:
            assert self.place(self.row(lease.job)) < could[0], f"{lease.name} overtook {name}"

    def place(self, row: Row) -> tuple[int, int, int]:
        return self.wants(row).rank, row.arrival, row.job

    def wants(self, row: Row) -> Wants:
        return self.memory._wants[row.key]

    def is_lane_full(self, row: Row) -> bool:
        lane = self.memory.traits(ONE).lanes.get(self.wants(row).lane)
        if lane is None:
            return False
        left = self.left_of_named()
        if any(left[name] < count for name, count in lane.named):
            return True
        return lane.most is not None and self.running().get(lane.category, 0) >= lane.most

    def running(self) -> dict[str | None, int]:
        """How many jobs of each category run."""
        found: dict[str | None, int] = {}
        for row in self.rows:
            lane = self.memory.traits(ONE).lanes.get(self.wants(row).lane)
            if row.state is State.RUNNING and lane is not None:
                found[lane.category] = found.get(lane.category, 0) + 1
        return found

    def is_over(self) -> bool:
        """Nothing of it runs, and nothing will: as one would find out by looking at every row."""
        awaited = {parent for parent, child, _ in self.arcs if self.waits_for(parent, child)}
        halted = self.memory.is_halted(ONE)
        for row in self.rows:
            if row.kind == Kind.SERVICE:
                continue
            if row.state is State.RUNNING and row.lease is not None:
                if row.kind != Kind.PROVISIONER or row.job in awaited:
                    return False
            elif row.kind == Kind.FINAL:
                if row.state in (State.WAITING, State.ELIGIBLE):
                    return False
            elif row.state in (State.ELIGIBLE, State.LATER) and not halted:
                return False
        return True

    # --- what must always hold -------------------------------------------------------------------------------------

    def waits_for(self, parent: int, child: int) -> bool:
        """Whether a child still waits for a parent: until it is done, or over a weak arc until it has ended."""
        row = self.row(parent)
        if row.state is State.DONE or row.off & Off.ASSUMED:
            return False
        is_weak = (parent, child, True) in self.weak_arcs or row.kind == Kind.PROVISIONER  # which counts once
        return not (is_weak and parent in self.ended)

    def waits(self, job: int) -> int:
        return sum(self.waits_for(parent, child) for parent, child, _ in self.arcs if child == job)

    @property
    def weak_arcs(self) -> set[tuple[int, int, bool]]:
        return {arc for arc in self.arcs if arc[2]}

    @invariant()
    def holds(self) -> None:
        if self.intake is None:
            return
        self.look_back()
        counts = waiting_counts(self.memory)
        held = {lease.job for lease in self.held.values()}
        for row in self.rows:
            if row.kind not in (Kind.FINAL, Kind.PART):
                assert row.waiting_for == counts[row.key] == self.waits(row.job), f"{row} is miscounted"
                assert row.state is not State.ELIGIBLE or not row.waiting_for  # others look when their time has come
            if row.state in (State.ELIGIBLE, State.LATER):
                assert not row.off, f"{row} is disabled"
            assert (row.job in held) == (row.state is State.RUNNING and row.lease is not None)
            if row.key in self.memory.nodes and self.memory.nodes[row.key].parts:
                self.check_processes(row)
        for category, count in self.running().items():
            mosts = {lane.most for lane in self.memory.traits(ONE).lanes.values() if lane.category == category}
            assert all(most is None or count <= most for most in mosts), f"too many of {category} run"

    def look_back(self) -> None:
        """Which states jobs were in since the last look: what was done stays so, and who arrives comes last."""
        for row, old, new in self.moved:
            assert (old, new) in TRANSITIONS, f"no way from {old.name} to {new.name}"
            if old is State.DONE and row.kind not in (Kind.PART, Kind.MILESTONE):
                assert row.job in self.undone, f"{row} was done"
            is_new = old in (State.WAITING, State.FAILED) and new is State.ELIGIBLE
            if is_new and row.kind not in (Kind.PART, Kind.FINAL):
                assert row.arrival > self.arrived, f"{row} comes before those who were eligible earlier"
        self.note_ends()
        self.moved.clear()
        self.undone.clear()
        self.arrived = max(self.arrived, self.memory.arrivals)

    def note_ends(self) -> None:
        for row, _, new in self.moved:
            if new is State.DONE or (new is State.FAILED and row.kind != Kind.PROVISIONER):
                self.ended.add(row.job)

    def check_processes(self, row: Row) -> None:
        """A node that is in the hands of its processes knows how many are left, and some of them can go on."""
        node, parts = self.memory.nodes[row.key], self.memory.parts(row)
        if row.state is State.RUNNING and row.lease is None:
            assert any(part.state in (State.RUNNING, State.ELIGIBLE, State.LATER) for part in parts), f"{row} hangs"
        if node.parts_left:
            assert node.parts_left == sum(part.state in UNFINISHED for part in parts), f"{row}: {node} {parts}"


def run_machine(machine: type[Bench], examples: int = 100, steps: int = 40) -> None:
    """Runs it while every change of a row's state is noted, however it comes about."""
    found: list[Bench] = []

    class Watched(machine):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            found[:] = [self]

    plain: Callable[[Row, str, object], None] = Row.__setattr__

    def noted(self: Row, name: str, value: object) -> None:
        if name == "state":
            old = getattr(self, "state", None)
            if old is not None and old is not value and found:
                assert isinstance(value, State)
                found[0].moved.append((self, old, value))
        plain(self, name, value)

    setattr(Row, "__setattr__", noted)  # noqa: B010 - a class that mypy knows
    try:
        run_state_machine_as_test(
            Watched, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None, print_blob=True)
        )
    finally:
        delattr(Row, "__setattr__")
