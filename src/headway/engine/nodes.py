"""The rules of a node: PRE script, main step (one command or many processes), POST script; what is tried again, when.

The words are DAGMan's. Steps are transitions of one job, not jobs of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.progress import Changes, Node, Row, Rows, settle
from headway.model.job import Rules, Script
from headway.model.messages import Seconds
from headway.model.states import Halt, Kind, State, Step


def script_of(node: Node) -> Script | None:
    """The script that a node is at, if it is at one."""
    if node.step is Step.PRE:
        return node.rules.pre
    return node.rules.post if node.step is Step.POST else None


def tolerated(rules: Rules, parts: int) -> int:
    """How many of a node's processes may fail."""
    if rules.tolerance is None:
        return 0
    return rules.tolerance.failures * parts // 100 if rules.tolerance.percent else rules.tolerance.failures


def attempt_ended(rows: Rows, row: Row, code: int | None, now: Seconds, changes: Changes) -> None:
    """An attempt at a node, or at one of its processes, ended; None: it did not count."""
    node = changes.nodes[row.key] = rows.node(row)
    if row.kind == Kind.PART:
        _part_ended(rows, row, node, code, now, changes)
        return
    if code is None:
        row.ready()
        return
    script = script_of(node)
    if script is not None and script.defer is not None and code == script.defer[0]:
        _later(row, node, now + script.defer[1])
    elif node.step is Step.PRE:
        _pre_ended(rows, row, node, code, now, changes)
    elif node.step is Step.MAIN:
        if node.rules.success:
            code = 0 if code == node.rules.success else code or 1
        failures = 1 if code else 0
        _main_ended(rows, row, node, 0 if failures <= tolerated(node.rules, 1) else code, now, changes)
    else:
        _over(rows, row, node, code, now, changes)


def _pre_ended(rows: Rows, row: Row, node: Node, code: int, now: Seconds, changes: Changes) -> None:
    node.pre_result = code
    if code == 0:  # whatever PRE_SKIP says: DAGMan looks at that only after a failure
        node.step = Step.MAIN
        row.ready()
    elif code == node.rules.pre_skip:
        _over(rows, row, node, 0, now, changes, skipped=True)
    else:
        _over(rows, row, node, code, now, changes)


def _main_ended(rows: Rows, row: Row, node: Node, code: int, now: Seconds, changes: Changes) -> None:
    """A POST script, if there is one, decides how the node has ended."""
    node.result = code
    if node.rules.post is None:
        _over(rows, row, node, code, now, changes)
    else:
        node.step = Step.POST
        row.ready()


def _part_ended(rows: Rows, part: Row, own: Node, code: int | None, now: Seconds, changes: Changes) -> None:
    """One of a node's processes ended. Too many failures end the others, at once unless the node is to wait."""
    assert own.owner is not None
    row = changes.rows.setdefault((part.workflow, own.owner), rows.row(part.workflow, own.owner))
    node = changes.nodes[row.key] = rows.node(row)
    allowed = tolerated(node.rules, node.parts)
    at_once = node.rules.tolerance is None or node.rules.tolerance.fail_fast
    called_off = at_once and node.parts_failed > allowed
    if not called_off and (code is None or (part.tries < part.retries and not _settles(own.rules, code))):
        part.tries += code is not None
        part.ready()
        if row.is_disabled and part.state is State.ELIGIBLE:
            part.to(State.DISABLED)
        _see_to_stop(rows, part, row, node, changes)
        return
    node.parts_left -= 1
    if code is None:
        part.to(State.WAITING)
    elif code == 0:
        part.to(State.DONE)
    else:
        part.to(State.FAILED)
        node.parts_failed += 1
        node.result = code  # of several that fail, the last one counts
        if at_once and node.parts_failed == allowed + 1:
            _call_off(rows, row, node, changes)
    if node.parts_left == 0:
        failed = node.parts_failed > allowed and node.result is not None
        _main_ended(rows, row, node, node.result or 1 if failed else 0, now, changes)
    else:
        _see_to_stop(rows, part, row, node, changes)


def _settles(rules: Rules, code: int) -> bool:
    """Whether a process that ended so is not to be tried again by what its own submit description says."""
    return code in (rules.success, rules.unless_exit)


def _see_to_stop(rows: Rows, part: Row, row: Row, node: Node, changes: Changes) -> None:
    """The user has stopped or disabled the node, which waits for those of its processes that run.

    Processes are switched off only where it is stopped: then it is over with the last of them.
    """
    if not (part.is_disabled or row.is_disabled):
        return
    parts = [changes.rows.setdefault(sibling.key, sibling) for sibling in rows.parts(row)]
    if not part.is_disabled:
        pause(row, parts)
    elif not any(sibling.state is State.RUNNING for sibling in parts):
        close(row, node, parts)


def pause(row: Row, parts: Sequence[Row]) -> None:
    """A disabled node of which nothing runs: when it is enabled, it goes on with the processes that are left."""
    if not any(part.state is State.RUNNING for part in parts):
        row.to(State.DISABLED)


def close(row: Row, node: Node, parts: Sequence[Row]) -> None:
    """A node whose processes were stopped is one that has not begun: all of them run when it is enabled."""
    node.parts_left = node.parts_failed = 0
    node.result = None
    for part in parts:
        if part.state is not State.WAITING:
            part.to(State.WAITING)
    row.ready()


def _call_off(rows: Rows, row: Row, node: Node, changes: Changes) -> None:
    """The node has failed: processes that run are to end, those that do not yet are not begun."""
    node.parts_left = 0
    for sibling in rows.parts(row):
        sibling = changes.rows.setdefault(sibling.key, sibling)
        if sibling.state is State.RUNNING and sibling.lease is not None:
            changes.stops.append(sibling.lease)
            node.parts_left += 1
        elif sibling.state in (State.ELIGIBLE, State.LATER, State.DISABLED):
            if sibling.state is State.DISABLED:
                sibling.to(State.ELIGIBLE)
            sibling.to(State.WAITING)


def _over(rows: Rows, row: Row, node: Node, code: int, now: Seconds, changes: Changes, skipped: bool = False) -> None:
    """One try at a node is over: it is done, is tried again from its first step, or has failed."""
    rules = node.rules
    row.tries += 1
    aborts = rules.abort_on is not None and code == rules.abort_on[0] and not skipped
    if rules.abort_on is not None and aborts:
        returns = rules.abort_on[1]
        how = Halt.ENDED if returns == 0 else Halt.ABORTED
        changes.aborts[row.workflow] = how, code & 0xFF if returns is None else returns
    if code != 0 and not aborts and code != rules.unless_exit and row.tries <= row.retries:
        _try_again(rows, row, node, now)
        if rules.more_memory != 1.0:
            changes.grown.append((row.key, rules.more_memory))
        return
    row.to(State.DONE if code == 0 else State.FAILED)
    settle(rows, row, changes)
    if row.state is State.FAILED:
        _note_premature_starts(rows, row, node, changes)


def _try_again(rows: Rows, row: Row, node: Node, now: Seconds) -> None:
    node.begin_anew()
    row.arrival = rows.next_arrival(row.workflow)
    if node.rules.back_off:
        _later(row, node, now + node.rules.back_off * 2 ** min(row.tries - 1, 30))
    else:
        row.ready()


def _later(row: Row, node: Node, when: Seconds) -> None:
    node.not_before = when
    row.to(State.DISABLED if row.off else State.LATER)


def _note_premature_starts(rows: Rows, row: Row, node: Node, changes: Changes) -> None:
    """A job failed after its group was released early: those that hang on the release began on what is not whole."""
    if node.late is None:
        return
    release = node.late
    stack, seen = [rows.row(row.workflow, release)], {release}
    while stack:
        for child, _ in rows.children(stack.pop()):
            if child.job in seen:
                continue
            seen.add(child.job)
            if child.kind == Kind.MILESTONE:
                stack.append(child)
            elif child.kind == Kind.JOB or rows.node(child).late != release:
                changes.premature_starts.append((child.key, row.job))
