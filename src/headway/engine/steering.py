"""What follows when somebody steers a workflow: who is switched off, ended, called done, or run again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from headway.engine.board import Board
from headway.engine.nodes import close, pause
from headway.engine.progress import Changes, Key, Row, release, settle
from headway.model.messages import JobId
from headway.model.record import field, mutable
from headway.model.states import UNMET, Kind, Needs, Off, State


@mutable
class Steered(Changes):
    """What is to be written, and the jobs that users are told of."""

    changed: list[JobId] = field(default_factory=list)
    unspent: list[JobId] = field(default_factory=list)  # parents whose arcs count again
    certain: list[tuple[JobId, JobId]] = field(default_factory=list)  # premature starts that are settled: who, by whom

    def note(self, row: Row) -> None:
        self.rows[row.key] = row
        if row.kind not in (Kind.MILESTONE, Kind.PART):
            self.changed.append(row.job)


class StillRunningError(Exception):
    """What was asked for cannot be while these run."""

    def __init__(self, jobs: Sequence[JobId]) -> None:
        self.jobs = jobs


def disable(board: Board, rows: Iterable[Row]) -> Steered:
    """They are not started any more, now or later; what runs goes on. A node starts no further process."""
    changes = Steered()
    for row in _steerable(rows):
        if row.is_disabled:
            continue
        _switch_off(row)
        changes.note(row)
        if _is_open(row):
            parts = board.parts(row)
            for part in parts:
                if part.state is State.ELIGIBLE:
                    part.to(State.DISABLED)
                    changes.note(part)
            pause(row, parts)
    return changes


def _is_open(row: Row) -> bool:
    """Whether it is a node in the hands of its processes."""
    return row.state is State.RUNNING and row.lease is None


def stop(board: Board, rows: Collection[Row]) -> Steered:
    """They are disabled, and what runs of them is to end. A node gives up all of its processes."""
    changes = disable(board, [row for row in rows if not _is_open(row)])
    disabled = set(changes.changed)
    for row in _steerable(rows):
        if row.state is not State.RUNNING:
            continue
        if row.job not in disabled:
            changes.note(row)
        if row.lease is not None:
            changes.stops.append(row.lease)
            continue
        row.off |= Off.BY_USER
        parts = board.parts(row)
        for part in parts:
            _switch_off(part)
            changes.note(part)
            if part.lease is not None:
                changes.stops.append(part.lease)
        if not any(part.state is State.RUNNING for part in parts):
            close(row, changes.nodes.setdefault(row.key, board.node(row)), parts)
    changes.changed.sort()
    return changes


def _switch_off(row: Row) -> None:
    row.off |= Off.BY_USER
    if row.state in (State.ELIGIBLE, State.LATER):
        row.to(State.DISABLED)


def enable(board: Board, rows: Iterable[Row]) -> Steered:
    """They may be started again, in the place that they had."""
    changes = Steered()
    for row in _steerable(rows):
        parts = board.parts(row)
        for one in (row, *parts):
            if one.is_disabled:
                one.off &= ~Off.BY_USER
                _switch_on(board, one)
                changes.note(one)
        for part in parts if row.state is State.RUNNING else ():
            if part.state is State.DISABLED:  # with its node
                part.ready()
                changes.note(part)
    return changes


def _switch_on(board: Board, row: Row) -> None:
    if row.state is not State.DISABLED or row.off & ~Off.BY_USER:  # this run is not about it
        return
    node = board.nodes.get(row.key)
    if row.kind == Kind.FINAL:  # it is called when nothing else can run
        row.call_back()
    elif node is not None and node.not_before is not None:
        row.to(State.LATER)
    else:
        row.ready()


def done(board: Board, rows: Collection[Row]) -> Steered:
    """They count as done though they were not run, and jobs that wait for them are told."""
    _refuse_running(rows)
    changes = Steered()
    new = [row for row in rows if row.state is not State.DONE]
    for row in new:
        row.to(State.DONE)
        changes.note(row)
        if row.kind == Kind.FINAL:
            row.tries = 0  # it has not run: it does not decide how its workflow has ended
        else:
            changes.renewed.add(row.workflow)
        if row.kind >= Kind.NODE and row.key in board.nodes:
            changes.nodes[row.key] = board.nodes[row.key]
            changes.nodes[row.key].not_before = None
    for row in new:
        if not row.off & Off.ASSUMED:
            settle(board, row, changes)
    asserted = {row.job for row in new}
    changes.certain = [pair for pair in board.premature_starts if pair[0] in asserted]
    return changes


def redo(board: Board, rows: Collection[Row], final: Row | None = None, only: bool = False) -> Steered:
    """They run again, with all their tries, and so is everything that depends on them.

    `final` is the last job of their workflow: it runs once more. With `only` the rest stays as it is, and a node that
    has begun goes on with its processes; but what has not begun yet waits for them.
    """
    again = {row.key: row for row in following(board, rows, only)}
    in_order = [again[key] for key in sorted(again)]
    _refuse_running([*in_order, *(() if final is None or final.key in again else (final,))])
    changes = Steered()
    before = {key: row.state for key, row in again.items()}
    _count_up(board, again, changes)
    for row in in_order:
        _begin_anew(board, row, changes)
    _let_go(board, in_order, changes)
    for row in in_order:
        was = before[row.key]
        changes.rows[row.key] = row
        if row.kind != Kind.MILESTONE and (row.state is not was or was in (State.LATER, State.FAILED, State.DONE)):
            changes.changed.append(row.job)
    if final is not None and final.key not in again and changes.changed:
        _begin_anew(board, final, changes)
        changes.rows[final.key] = final
    if changes.changed:
        changes.renewed.update(row.workflow for row in in_order)
    jobs = {row.job for row in in_order}
    changes.certain = [pair for pair in board.premature_starts if pair[0] in jobs and pair[1] in jobs]
    return changes


def ready(board: Board, row: Row) -> Steered:
    """A provisioner says that the rest may start, before it has ended: which then counts no second time."""
    changes = Steered(counted=[row.key])
    release(board, row, changes)
    return changes


def following(board: Board, rows: Iterable[Row], only: bool = False) -> list[Row]:
    """Jobs and all that depends on them, or began on them too early; `only` follows no further than milestones."""
    found = {row.key: row for row in rows}
    stack = list(found.values())
    began: dict[JobId, list[JobId]] = {}
    for job, because in () if only else board.premature_starts:
        began.setdefault(because, []).append(job)
    while stack:
        row = stack.pop()
        jobs = [*(child for child, _ in board.arcs.get(row.key, ())), *began.get(row.job, ())]
        for after in (board.row(row.workflow, job) for job in jobs):
            if after.key not in found and not (only and after.kind != Kind.MILESTONE):
                found[after.key] = after
                stack.append(after)
    return list(found.values())


def _count_up(board: Board, again: Mapping[Key, Row], changes: Steered) -> None:
    """Increments `waiting_for` in the children of jobs that are reset."""
    for key, row in again.items():
        arcs = board.arcs.get(key, ())
        was_done = row.state is State.DONE and not row.off & Off.ASSUMED
        for child, needs in arcs:
            if was_done or needs >= Needs.END_MET:
                waits = board.row(row.workflow, child)
                waits.waiting_for += 1
                changes.rows[waits.key] = waits
                if waits.key not in again and waits.state in (State.ELIGIBLE, State.LATER, State.DISABLED):
                    waits.to(State.WAITING)
        if any(needs >= Needs.END_MET for _, needs in arcs):
            changes.unspent.append(row.job)
            board.arcs[key] = [(child, UNMET.get(needs, needs)) for child, needs in arcs]


def _begin_anew(board: Board, row: Row, changes: Steered) -> None:
    """As if nothing had happened to it yet."""
    if row.kind == Kind.FINAL:
        row.call_back()
    elif row.state is not State.WAITING:
        row.to(State.WAITING)
    row.tries = 0
    if row.kind < Kind.NODE:
        return
    changes.nodes.setdefault(row.key, board.node(row)).begin_anew()
    for part in board.parts(row):
        if part.state is not State.WAITING:
            part.to(State.WAITING)
        changes.rows[part.key] = part


def _let_go(board: Board, again: Iterable[Row], changes: Steered) -> None:
    """Those that wait for nothing may run; milestones that do are done, and pass that on."""
    free = [row for row in again if not row.waiting_for and row.kind != Kind.FINAL]
    for row in free:
        if row.kind == Kind.MILESTONE:
            row.to(State.DONE)
        else:
            row.ready()
            row.arrival = board.next_arrival(row.workflow)
    for row in free:
        if row.kind == Kind.MILESTONE:
            release(board, row, changes)


def _steerable(rows: Iterable[Row]) -> list[Row]:
    """Rows that can be switched: not milestones, and processes only with their nodes."""
    return [row for row in rows if row.kind not in (Kind.MILESTONE, Kind.PART)]


def _refuse_running(rows: Iterable[Row]) -> None:
    running = [row.job for row in rows if row.state is State.RUNNING]
    if running:
        raise StillRunningError(sorted(running))


def waiting_counts(board: Board) -> dict[Key, int]:
    """How many ends each job waits for, recomputed: what the counters must always say."""
    counts = dict.fromkeys(board.rows, 0)
    for key, arcs in board.arcs.items():
        parent = board.rows[key]
        for child, needs in arcs:
            if needs < Needs.END_MET and parent.state is not State.DONE and not parent.off & Off.ASSUMED:
                counts[parent.workflow, child] += 1
    return counts
