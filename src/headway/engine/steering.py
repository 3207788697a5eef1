"""What follows when somebody steers a workflow: who is switched off, ended, called done, or done anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from headway.engine.nodes import close
from headway.engine.progress import Changes, Key, Node, Row, release, settle
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.record import field, mutable
from headway.model.states import Kind, State

ASSUMED = 4  # engine.arrangement: nobody waits for it
Arc = tuple[JobId, int]  # a child, and how weak it hangs on: 0 strong, 1 weak; 2 weak, 3 strong and counted already


@mutable
class Board:
    """A workflow, or as much of it as a rule looks at, as it is inside a transaction."""

    workflow: WorkflowId
    rows: dict[JobId, Row]
    nodes: Mapping[JobId, Node] = field(default_factory=dict)
    arcs: dict[JobId, list[Arc]] = field(default_factory=dict)
    doubts: Mapping[JobId, Sequence[JobId]] = field(default_factory=dict)  # a job that failed, who began on its group
    arrivals: int = 0  # the last number given to a job that became eligible
    _parts: dict[JobId, list[Row]] | None = None

    def leased(self, lease: LeaseId) -> Row | None:
        return next((row for row in self.rows.values() if row.lease == lease), None)

    def row(self, workflow: WorkflowId, job: JobId) -> Row:
        return self.rows[job]

    def node(self, row: Row) -> Node:
        return self.nodes[row.job]

    def parts(self, row: Row) -> Sequence[Row]:
        if self._parts is None:
            self._parts = {}
            for job, node in self.nodes.items():
                if node.owner is not None:
                    self._parts.setdefault(node.owner, []).append(self.rows[job])
        return self._parts.get(row.job, ())

    def children(self, row: Row) -> Sequence[tuple[Row, bool]]:
        return [(self.rows[child], weak == 1) for child, weak in self.arcs.get(row.job, ()) if weak < 2]

    def next_arrival(self, workflow: WorkflowId) -> int:
        self.arrivals += 1
        return self.arrivals


@mutable
class Steered(Changes):
    """What is to be written, and the jobs that users are told of."""

    changed: list[JobId] = field(default_factory=list)
    unspent: list[JobId] = field(default_factory=list)  # parents whose arcs count anew
    certain: list[tuple[JobId, JobId]] = field(default_factory=list)  # doubts that are settled: who, because of whom

    def note(self, row: Row) -> None:
        self.rows[row.key] = row
        if row.kind not in (Kind.MILESTONE, Kind.PART):
            self.changed.append(row.job)


class StillRunningError(Exception):
    """What was asked for cannot be while these run."""

    def __init__(self, jobs: Sequence[JobId]) -> None:
        self.jobs = jobs


def disable(board: Board, jobs: Iterable[JobId]) -> Steered:
    """They are not started any more, now or later; what runs goes on."""
    changes = Steered()
    for row in _steerable(board, jobs):
        if not row.off:
            _switch_off(row)
            changes.note(row)
    return changes


def stop(board: Board, jobs: Iterable[JobId]) -> Steered:
    """They are disabled, and what runs of them is to end. A node gives up all of its processes."""
    jobs = list(jobs)
    changes = disable(board, jobs)
    for row in _steerable(board, jobs):
        if row.state is not State.RUNNING:
            continue
        if row.job not in changes.changed:
            changes.note(row)
        if row.lease is not None:
            changes.stops.append(row.lease)
            continue
        parts = board.parts(row)
        for part in parts:
            _switch_off(part)
            changes.note(part)
            if part.lease is not None:
                changes.stops.append(part.lease)
        if not any(part.state is State.RUNNING for part in parts):
            close(row, changes.nodes.setdefault(row.key, board.node(row)), parts)
    return changes


def _switch_off(row: Row) -> None:
    row.off = True
    if row.state is State.ELIGIBLE:
        row.to(State.DISABLED)  # one that is put off stays so until its time has come


def enable(board: Board, jobs: Iterable[JobId]) -> Steered:
    """They may be started again, in the place that they had."""
    changes = Steered()
    for row in _steerable(board, jobs):
        for one in (row, *board.parts(row)):
            if one.off:
                one.off = False
                _switch_on(one)
                changes.note(one)
    return changes


def _switch_on(row: Row) -> None:
    if row.state is not State.DISABLED or row.apart:  # this run is not about it
        return
    if row.kind == Kind.FINAL:  # it is called when nothing else can run
        _call_back(row)
    else:
        row.ready()


def done(board: Board, jobs: Collection[JobId]) -> Steered:
    """They count as done though they were not run, and whoever waits for them is told."""
    _refuse_running(board, jobs)
    changes = Steered()
    new = [row for row in map(board.rows.__getitem__, jobs) if row.state is not State.DONE]
    for row in new:
        row.to(State.DONE)
        changes.note(row)
        if row.kind >= Kind.NODE and row.job in board.nodes:
            changes.nodes[row.key] = board.nodes[row.job]
            changes.nodes[row.key].not_before = None
    for row in new:
        if not row.apart & ASSUMED:
            settle(board, row, changes)
    asserted = {row.job for row in new}
    changes.certain = [pair for pair in _doubts(board) if pair[0] in asserted]
    return changes


def redo(board: Board, jobs: Collection[JobId], only: bool = False) -> Steered:
    """They are to be done anew, with all their tries, and so is everything that depends on them.

    With `only` the rest stays as it is; but what has not begun yet waits for them.
    """
    again = _following(board, jobs, only)
    final = [row.job for row in board.rows.values() if row.kind == Kind.FINAL]
    _refuse_running(board, sorted({*again, *final}))
    changes = Steered()
    before = {job: board.rows[job].state for job in again}
    _count_up(board, again, changes)
    for job in sorted(again):
        _begin_anew(board, board.rows[job], changes)
    _let_go(board, again, changes)
    for job in sorted(again):
        row, was = board.rows[job], before[job]
        changes.rows[row.key] = row
        if row.kind != Kind.MILESTONE and (row.state is not was or was in (State.LATER, State.FAILED, State.DONE)):
            changes.changed.append(job)
    for job in final if changes.changed else ():
        if job not in again:
            _begin_anew(board, board.rows[job], changes)
            changes.rows[board.rows[job].key] = board.rows[job]
    changes.certain = [pair for pair in _doubts(board) if pair[0] in again and pair[1] in again]
    return changes


def ready(board: Board, row: Row) -> Steered:
    """A provisioner says that the rest may start, before it has ended: which then counts no second time."""
    changes = Steered(counted=[row.key])
    release(board, row, changes)
    return changes


def _following(board: Board, jobs: Iterable[JobId], only: bool) -> set[JobId]:
    """Jobs and all that depends on them, or began on them too early; `only` follows no further than milestones."""
    found = set(jobs)
    stack = list(found)
    while stack:
        job = stack.pop()
        following = [child for child, _ in board.arcs.get(job, ())]
        if only:
            following = [child for child in following if board.rows[child].kind == Kind.MILESTONE]
        else:
            following += board.doubts.get(job, ())
        for child in following:
            if child not in found:
                found.add(child)
                stack.append(child)
    return found


def _count_up(board: Board, again: set[JobId], changes: Steered) -> None:
    """Whoever had been told of their ends waits for them once more."""
    for job in again:
        arcs = board.arcs.get(job, ())
        was_done = board.rows[job].state is State.DONE and not board.rows[job].apart & ASSUMED
        for child, weak in arcs:
            if was_done or weak > 1:
                row = board.rows[child]
                row.waiting_for += 1
                changes.rows[row.key] = row
                if child not in again and row.state in (State.ELIGIBLE, State.LATER, State.DISABLED):
                    row.to(State.WAITING)
        if any(weak > 1 for _, weak in arcs):
            changes.unspent.append(job)
            board.arcs[job] = [(child, {2: 1, 3: 0}.get(weak, weak)) for child, weak in arcs]


def _begin_anew(board: Board, row: Row, changes: Steered) -> None:
    """As if nothing had happened to it yet."""
    if row.kind == Kind.FINAL:
        _call_back(row)
    elif row.state is not State.WAITING:
        row.to(State.WAITING)
    row.tries = 0
    if row.kind < Kind.NODE:
        return
    node = changes.nodes[row.key] = board.node(row)
    node.step = node.rules.begins
    node.result = node.pre_result = node.not_before = None
    node.parts_left = node.parts_failed = 0
    for part in board.parts(row):
        if part.state is not State.WAITING:
            part.to(State.WAITING)
        changes.rows[part.key] = part


def _let_go(board: Board, again: set[JobId], changes: Steered) -> None:
    """Those that wait for nothing may run; milestones that do are done, and pass that on."""
    free = [row for job in sorted(again) if not (row := board.rows[job]).waiting_for and row.kind != Kind.FINAL]
    for row in free:
        if row.kind == Kind.MILESTONE:
            row.to(State.DONE)
        else:
            row.ready()
            row.arrival = board.next_arrival(row.workflow)
    for row in free:
        if row.kind == Kind.MILESTONE:
            release(board, row, changes)


def _call_back(final: Row) -> None:
    """The final job waits until it is called."""
    if final.state is not State.WAITING:
        final.to(State.WAITING)
    final.waiting_for = 1


def _steerable(board: Board, jobs: Iterable[JobId]) -> list[Row]:
    """Rows that can be switched: not milestones, and processes only with their nodes."""
    return [row for row in map(board.rows.__getitem__, jobs) if row.kind not in (Kind.MILESTONE, Kind.PART)]


def _refuse_running(board: Board, jobs: Iterable[JobId]) -> None:
    running = [job for job in jobs if board.rows[job].state is State.RUNNING]
    if running:
        raise StillRunningError(running)


def _doubts(board: Board) -> list[tuple[JobId, JobId]]:
    return [(job, because) for because, jobs in board.doubts.items() for job in jobs]


def waiting_counts(board: Board) -> dict[Key, int]:
    """How many ends each job waits for, counted anew: what the counters must always say."""
    counts = {row.key: 0 for row in board.rows.values()}
    for parent, arcs in board.arcs.items():
        for child, weak in arcs:
            if weak < 2 and board.rows[parent].state is not State.DONE and not board.rows[parent].apart & ASSUMED:
                counts[board.workflow, child] += 1
    return counts
