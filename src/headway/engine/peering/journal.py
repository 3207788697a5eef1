"""What an owner writes down, and what it knows again from it after a crash.

A note comes before the letters that rest on it: the world writes it durably, then sends them. Everything that is sent
again after a crash changes nothing where it had come before. So an accepted workflow is neither forgotten nor done
twice: room is committed to only in an attempt that is written down, and no later attempt has its number.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.engine.peering.flow import Flow, Place
from headway.engine.peering.messages import Commit, Message, Note, Step, Submit
from headway.engine.peering.owner import DONE, GATHER, Owner

Out = list[tuple[int, Message]]


def restored(owner: Owner, notes: Iterable[Note], now: int) -> Out:
    """Gives an owner that knows nothing yet the workflows of its notes, and says what is to be sent."""
    open_attempts: dict[int, bool] = {}  # of workflows: whether what was reserved last is not known to be accepted
    for note in notes:
        if note.what is Step.SUBMITTED:
            works, arcs, deadline, needed = note.facts
            owner.flows[note.workflow] = Flow(Submit(note.workflow, works, arcs, deadline, needed), now, owner.power)
        elif note.what is Step.OVER:
            owner.flows.pop(note.workflow, None)
        elif note.workflow in owner.flows:
            _noted(owner.flows[note.workflow], note, open_attempts, now)
    out: Out = []
    for flow in list(owner.flows.values()):
        out += _resumed(owner, flow, open_attempts.get(flow.id, False), now)
    return out


def _noted(flow: Flow, note: Note, open_attempts: dict[int, bool], now: int) -> None:
    """Takes in what was noted of a workflow."""
    if note.what is Step.TRIED:
        if open_attempts.pop(flow.id, False):
            _forgotten(flow, flow.serial)
        (flow.serial,) = note.facts
    elif note.what is Step.RESERVED:
        open_attempts[flow.id] = True
        for piece, leaf, rows in note.facts:
            flow.pieces[piece] = Place(leaf, [job for job, _ in rows], heard=now)
            for job, end in rows:
                flow.where[job], flow.ends[job] = piece, end
    elif note.what is Step.ACCEPTED:
        open_attempts[flow.id], flow.accepted, flow.to_plan = False, True, set()
        for place in flow.pieces.values():
            place.committed = True
    elif note.what is Step.ENDED:
        (job,) = note.facts
        flow.done[job] = now
        _left(flow, job)
    else:
        if open_attempts.pop(flow.id, False):
            _forgotten(flow, flow.serial)
        for job in note.facts:
            _left(flow, job)
        flow.to_plan = set(note.facts)


def _left(flow: Flow, job: int) -> None:
    """A job is where it was no more."""
    piece = flow.where.pop(job, None)
    place = flow.pieces.get(piece) if piece else None
    if piece and place:
        place.jobs.remove(job)
        if not place.jobs:
            del flow.pieces[piece]


def _forgotten(flow: Flow, attempt: int) -> None:
    """What was reserved in an attempt that another followed was given back."""
    for piece in [one for one in flow.pieces if one[2] == attempt]:
        for job in list(flow.pieces[piece].jobs):
            _left(flow, job)


def _resumed(owner: Owner, flow: Flow, is_open: bool, now: int) -> Out:
    """Goes on with a workflow where it was: plans, commits again, or tells leaves of inputs again."""
    if len(flow.done) == len(flow.works):
        return owner.over(flow, DONE)
    if is_open:
        plan = flow.planned(now, owner.stage, owner.settings.notice, flow.serial)
        plan.left = [0] * len(plan.left)
        plan.pieces = {piece: place for piece, place in flow.pieces.items() if not place.committed}
        plan.asked, plan.renew_at, flow.plan = now, now + owner.settings.renew, plan
        return [(place.leaf, Commit(piece, flow.ready(place))) for piece, place in plan.pieces.items()]
    for place in flow.pieces.values():  # who has died meanwhile does not answer, and is not waited for as long as usual
        place.heard = now + owner.settings.answer - owner.silent
    out: Out = [(place.leaf, Commit(piece, flow.ready(place))) for piece, place in flow.pieces.items()]
    if flow.to_plan:
        flow.retry_at = now + GATHER
    return out
