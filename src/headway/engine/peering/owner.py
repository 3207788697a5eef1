"""The submission node: asks for room by sequences, commits when all is held, and sees workflows to their end."""

from __future__ import annotations

from headway.engine.peering.flow import Flow, Place, Plan, asked, is_asked_for, offered, repeated
from headway.engine.peering.messages import (
    Aborted,
    Commit,
    Committed,
    Finished,
    Message,
    Note,
    Offer,
    Outcome,
    PieceId,
    Reject,
    Renew,
    Request,
    Rollback,
    Start,
    Status,
    StatusAck,
    Step,
    Submit,
)
from headway.engine.peering.seals import Signing, sealed
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import Key

Out = list[tuple[int, Message]]
WORLD, FATHER = 0, -1  # to whom: the peer's own world, the father of the owner's leaf (less: another one above it)
GATHER = 300  # milliseconds in which others tell of losses, too, before a plan is made
NO_ROOM = "no peer has room for it by its deadline; a later one, or fewer jobs side by side, may do"
ACCEPTED, REJECTED, DONE, FAILED = "accepted", "rejected", "done", "failed"


class Owner:
    """The workflows that a peer's user has submitted."""

    def __init__(self, peer: int, low: Key, power: int, settings: Settings, signing: Signing | None = None) -> None:
        self.peer, self.low, self.power, self.settings, self.signing = peer, low, power, settings, signing
        self.flows: dict[int, Flow] = {}
        self.fastest = power  # of the grid, as far as it is known
        self.stage = settings.stage  # what a stage is expected to take
        self.linked = True  # there is somebody above to ask

    @property
    def silent(self) -> int:
        """After which a leaf that has jobs of this owner counts as dead."""
        return self.settings.status * 5 // 2

    # --- coming in ---------------------------------------------------------------------------------------------

    def submitted(self, body: Submit, now: int) -> Out:
        """Takes a workflow in, or says at once that its deadline cannot be met."""
        flow = Flow(body, now, self.power)
        self.flows[body.workflow] = flow
        note = Note(flow.id, Step.SUBMITTED, (body.works, body.arcs, body.deadline, body.needed))
        if body.deadline <= now:
            return [(WORLD, note), *self.over(flow, REJECTED, "its deadline is in the past")]
        return [(WORLD, note), *self.planned(flow, now)]

    def planned(self, flow: Flow, now: int) -> Out:
        """Begins a try at reserving what is not reserved."""
        plan = flow.planned(now, self.stage, self.settings.notice)
        needed = max(self.fastest, self.power) / self.power
        if plan.windows.share * needed < 1:
            shortest = int((flow.deadline - plan.windows.start) / max(plan.windows.share * needed, 1e-9))
            why = "the longest path cannot be done by its deadline on the fastest node"
            if plan.windows.share > 0:
                why += f"; {shortest / 1000:.0f} s would be enough"
            return self._gave_up(flow, why)
        flow.plan, flow.retry_at, plan.renew_at = plan, -1, now + self.settings.renew
        flow.attempts += 1
        out: Out = [(WORLD, Note(flow.id, Step.TRIED, (plan.attempt,)))]
        for number, waits in enumerate(plan.waits):
            if not waits:
                out += self._asked(flow, plan, number, now)
        return out

    def _asked(self, flow: Flow, plan: Plan, number: int, now: int) -> Out:
        """Sends a sequence up; to whom is for the tree to say."""
        request = asked(flow, plan, number, self.peer, self.low, now, self.settings)
        return [(FATHER, self._sealed(request))]

    def _sealed(self, request: Request) -> Request:
        return sealed(request, self.signing.sign) if self.signing else request

    # --- reserving ---------------------------------------------------------------------------------------------

    def said(self, sender: int, body: Message, now: int) -> Out:
        """What leaves and branches answer."""
        if isinstance(body, Status):
            return self._status(sender, body, now)
        if not isinstance(body, Offer | Reject | Committed | Aborted | Finished):
            return []
        flow = self.flows.get(body.piece[1]) if body.piece[0] == self.peer else None
        if isinstance(body, Offer):
            plan = flow.plan if flow else None
            if flow is None or plan is None or body.piece[2] != plan.attempt or body.piece in plan.pieces:
                known = plan is not None and body.piece in plan.pieces
                return [] if known else [(sender, Rollback(body.piece))]
            return self._offered(flow, plan, sender, body, now)
        if flow is None:
            return []
        if isinstance(body, Reject):
            return self._refused(flow, body.piece, now)
        place = flow.pieces.get(body.piece) or (flow.plan.pieces.get(body.piece) if flow.plan else None)
        if place is None or place.leaf != sender:
            return []
        if isinstance(body, Committed):
            return self._committed(flow, place, now)
        if isinstance(body, Finished):
            return self._finished(flow, body, now)
        return self._aborted(flow, place, body, now)

    def _offered(self, flow: Flow, plan: Plan, sender: int, body: Offer, now: int) -> Out:
        if not is_asked_for(plan, body.jobs):
            return [(sender, Rollback(body.piece))]
        plan.pieces[body.piece] = Place(sender, [job for job, _ in body.jobs], heard=now)
        plan.hops = max(plan.hops, body.hops)
        plan.asked = now
        out: Out = []
        for number in offered(plan, body.jobs):
            for other in plan.then[number]:
                plan.waits[other] -= 1
                if not plan.waits[other]:
                    out += self._asked(flow, plan, other, now)
        return out + self._all_held(flow, plan, now) if plan.reserved else out

    def _all_held(self, flow: Flow, plan: Plan, now: int) -> Out:
        """Commits to everything: the second phase."""
        self.stage += ((now - plan.begun) // max(plan.cut.width, 1) - self.stage) // 8
        self.stage = max(self.stage, 200)
        plan.splits = len(plan.pieces) - len(plan.cut.sequences)
        number = {job: at for at, job in enumerate(plan.jobs)}
        for piece, place in plan.pieces.items():
            flow.pieces[piece] = place
            for job in place.jobs:
                flow.where[job] = piece
                flow.ends[job] = plan.windows.pinned[number[job]].end
        places = plan.pieces.items()
        facts = tuple((piece, at.leaf, tuple((job, flow.ends[job]) for job in at.jobs)) for piece, at in places)
        out: Out = [(WORLD, Note(flow.id, Step.RESERVED, facts))]
        out += [(place.leaf, Commit(piece, flow.ready(place))) for piece, place in places]
        plan.asked = now
        return out

    def _committed(self, flow: Flow, place: Place, now: int) -> Out:
        place.committed, place.heard = True, now
        plan = flow.plan
        if plan is None or not plan.reserved or not all(one.committed for one in plan.pieces.values()):
            return []
        flow.plan, flow.attempts, flow.to_plan = None, 0, set()
        note = (WORLD, Note(flow.id, Step.ACCEPTED, (plan.attempt,)))
        if flow.accepted:
            return [note, *self._started(flow)]
        flow.accepted = True
        return [note, (WORLD, Outcome(flow.id, ACCEPTED, "", plan.hops, plan.splits)), *self._started(flow)]

    def _started(self, flow: Flow) -> Out:
        """Inputs that came while a plan was made; a second start changes nothing."""
        return [
            (flow.pieces[piece].leaf, Start(piece, job))
            for job, piece in flow.where.items()
            if flow.parents[job] and flow.has_inputs(job)
        ]

    # --- what goes wrong ---------------------------------------------------------------------------------------

    def _refused(self, flow: Flow, piece: PieceId, now: int) -> Out:
        """No room: gives all of this try back, and tries again a few times."""
        plan = flow.plan
        if plan is None or piece[2] != plan.attempt:
            return []
        out = self._rolled_back(flow, plan)
        return out + self._again(flow, now)

    def _rolled_back(self, flow: Flow, plan: Plan) -> Out:
        out: Out = []
        for piece, place in plan.pieces.items():
            out.append((place.leaf, Rollback(piece)))
            if flow.pieces.pop(piece, None):
                for job in place.jobs:
                    flow.where.pop(job, None)
                    flow.ends.pop(job, None)
        flow.plan = None
        return out

    def _again(self, flow: Flow, now: int) -> Out:
        if flow.attempts >= self.settings.attempts and not flow.accepted:
            return self._gave_up(flow, NO_ROOM)
        spread = (self.peer * 7919 + flow.id * 104729 + flow.attempts * 31) % self.settings.pause
        flow.retry_at = now + self.settings.pause + spread
        return []

    def _gave_up(self, flow: Flow, why: str) -> Out:
        if not flow.accepted:
            return self.over(flow, REJECTED, why)
        out: Out = [(place.leaf, Rollback(piece)) for piece, place in flow.pieces.items()]
        return out + self.over(flow, FAILED, why)

    def over(self, flow: Flow, state: str, why: str = "") -> Out:
        del self.flows[flow.id]
        return [(WORLD, Note(flow.id, Step.OVER, (state, why))), (WORLD, Outcome(flow.id, state, why))]

    def _aborted(self, flow: Flow, place: Place, body: Aborted, now: int) -> Out:
        """A leaf gives up jobs, or has none of a piece any more, but for what has ended."""
        out: Out = []
        for job, ok in body.ended or ():
            out += self._finished(flow, Finished(body.piece, job, ok), now)
        lost = body.jobs or tuple(place.jobs)
        return [*out, *self._lost(flow, body.piece, lost, now)] if lost and flow.id in self.flows else out

    def _lost(self, flow: Flow, piece: PieceId, jobs: tuple[int, ...], now: int) -> Out:
        """Jobs of a piece will not be done where they were to be: they, and all after them, are planned again."""
        plan = flow.plan
        if not flow.accepted:
            return self._refused(flow, piece, now)
        out = self._rolled_back(flow, plan) if plan else []
        lost = flow.missing(jobs) | {job for job in flow.to_plan if job not in flow.done}
        for job in lost:
            at = flow.where.pop(job, None)
            flow.ends.pop(job, None)
            place = flow.pieces.get(at) if at else None
            if at is None or place is None:
                continue
            place.jobs = [one for one in place.jobs if one != job]
            out.append((place.leaf, Rollback(at, (job,))))
            if not place.jobs:
                del flow.pieces[at]
        flow.to_plan = lost
        if not lost:
            return out
        out.insert(0, (WORLD, Note(flow.id, Step.LOST, tuple(sorted(lost)))))
        if flow.attempts >= self.settings.attempts:
            return out + self._again(flow, now)
        flow.retry_at = now + GATHER
        return out

    # --- running -----------------------------------------------------------------------------------------------

    def _finished(self, flow: Flow, body: Finished, now: int) -> Out:
        place = flow.pieces.get(body.piece)
        if place is None or flow.where.get(body.job) != body.piece:
            return []
        place.heard = now
        if not body.ok:
            return self._lost(flow, body.piece, (body.job,), now)
        flow.done[body.job] = now
        del flow.where[body.job]
        place.jobs.remove(body.job)
        if not place.jobs:
            del flow.pieces[body.piece]
        out: Out = [(WORLD, Note(flow.id, Step.ENDED, (body.job,)))]
        for child in flow.children[body.job]:
            piece = flow.where.get(child)
            if piece is not None and piece != body.piece and flow.has_inputs(child):
                out.append((flow.pieces[piece].leaf, Start(piece, child)))
        if len(flow.done) == len(flow.works):
            out += self.over(flow, DONE)
        return out

    def _status(self, sender: int, body: Status, now: int) -> Out:
        unknown, out = [], Out()
        for piece, job, ok in body.ended:
            if piece[0] == self.peer:
                out += self.said(sender, Finished(piece, job, ok), now)
        for piece in body.pieces:
            flow = self.flows.get(piece[1]) if piece[0] == self.peer else None
            place = flow.pieces.get(piece) if flow else None
            if place is None or place.leaf != sender:
                unknown.append(piece)
            else:
                place.heard = now
        return [*out, (sender, StatusAck(tuple(unknown), body.ended))]

    def tick(self, now: int) -> Out:
        """Repeats what was refused, renews what is held, and gives up on who is silent."""
        out: Out = []
        settings = self.settings
        for flow in list(self.flows.values()):
            plan = flow.plan
            if plan is None and 0 <= flow.retry_at <= now and self.linked:
                out += self.planned(flow, now)
                continue
            if plan is not None and now >= plan.asked + settings.answer:
                out += self._rolled_back(flow, plan) + self._again(flow, now)
                continue
            if plan is not None and flow.accepted:
                for request in repeated(plan, now, settings):
                    out.append((FATHER - (request.repeated or 0), self._sealed(request)))
            if plan is not None and now >= plan.renew_at:
                plan.renew_at = now + settings.renew
                out += [(place.leaf, Renew(piece)) for piece, place in plan.pieces.items() if not place.committed]
            for piece, place in list(flow.pieces.items()):
                if place.committed and now >= place.heard + self.silent and piece in flow.pieces:
                    out += self._lost(flow, piece, tuple(place.jobs), now)
                    if flow.id not in self.flows:
                        break
        return out

    def wake(self) -> int:
        """When there is something to do, if nothing is said until then; -1: never."""
        times = []
        for flow in self.flows.values():
            if flow.plan is not None:
                times += [flow.plan.asked + self.settings.answer, flow.plan.renew_at]
                if flow.accepted:
                    times += [at + self.settings.repeat for _, at in flow.plan.open.values()]
            elif flow.retry_at >= 0 and self.linked:
                times.append(flow.retry_at)
            times += [place.heard + self.silent for place in flow.pieces.values() if place.committed]
        return min(times, default=-1)
