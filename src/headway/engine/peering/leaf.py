"""The execution node: a queue for each core, in which room is held, committed to, and used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from headway.engine.peering.cores import Core, Entry, Hold
from headway.engine.peering.messages import (
    Aborted,
    Commit,
    Committed,
    Ended,
    Finished,
    Kill,
    Launch,
    Message,
    Offer,
    PieceId,
    Renew,
    Request,
    Rollback,
    Start,
    Status,
    StatusAck,
)
from headway.engine.peering.settings import Settings
from headway.policies.by_when.edf import done_by, holes, keeps, latest_starts, next_job
from headway.policies.by_when.reference_points import DAY, POINTS, epoch, of_epoch
from headway.policies.by_when.summary import Summary, suffices, summary

Out = list[tuple[int, Message]]  # to whom; 0: the peer's own world
WORLD = 0
MOST_QUEUED = 500
KEPT = 2 * 3_600_000  # milliseconds that an owner can take to acknowledge that a job has ended
MOST_ENDS = 100  # that are told at once
DAYS = 5  # from today on, whose withheld hours are known
SILENCES = 4  # of an owner, after which jobs that have not begun are dropped


class Leaf:
    """A peer's cores. Withheld hours are (from, to) in milliseconds of the day, in order."""

    def __init__(
        self, power: int, settings: Settings, cores: int = 1, rank: int = 0, withheld: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.power, self.settings, self.rank, self.withheld = power, settings, rank, tuple(withheld)
        self.cores = [Core([], []) for _ in range(cores)]
        self.pieces: dict[PieceId, Hold] = {}
        self.ends: dict[tuple[PieceId, int], tuple[bool, int]] = {}  # not acknowledged: how it ended, kept until when
        self.next_status = 0
        self.changed = True
        self._offs: tuple[int, list[int], list[int]] = (-1, [], [])

    # --- asking for room ---------------------------------------------------------------------------------------

    def offered(self, request: Request, now: int) -> Offer | None:
        """Holds room for a request, if there is some."""
        if not suffices(self.rank, request.needed):
            return None
        mine = sum(1 for piece, hold in self.pieces.items() if piece[0] == request.piece[0] and not hold.committed)
        if mine >= self.settings.holds * len(self.cores) or request.start > now + 2 * DAY:
            return None
        wanted = self._entries(request, now)
        for at, core in enumerate(self.cores) if wanted else ():
            if len(core.queue) + len(wanted) > MOST_QUEUED:
                continue
            queue = sorted([*core.queue, *wanted], key=lambda one: one.due)
            starts = self._starts(queue, now)
            busy = max(core.busy_until if core.running else now, now)
            if keeps([0 if one.arrived else one.release for one in queue], starts, len(queue), busy):
                core.queue, core.starts = queue, starts
                self.pieces[request.piece] = Hold(at, now, now + self.settings.hold, len(wanted))
                self.changed = True
                return Offer(request.piece, tuple((one.job, one.due) for one in wanted), at, request.hops)
        return None

    def _entries(self, request: Request, now: int) -> list[Entry]:
        """The jobs with their deadlines, from the last one back; none if they cannot be in time whatever waits here.

        Beyond the days whose withheld hours are cut out nothing is due: it would be promised hours that are withheld.
        """
        found: list[Entry] = []
        due = min(request.deadline, (now // DAY + DAYS) * DAY) if self.withheld else request.deadline
        for job, work, start, end in reversed(request.jobs):
            if end:
                due = min(due, end)
            cost = max(1, -(-int(work * self.settings.margin) // self.power))
            found.append(Entry(request.piece, job, due, cost, max(start, request.start), not start))
            due -= cost
        found.reverse()
        for one, other in pairwise(found):
            other.after = one.job
        found[0].arrived = False
        return found if found and due >= request.start else []

    def _starts(self, queue: Sequence[Entry], now: int) -> list[int]:
        starts = [0] * len(queue)
        froms, tos = self._off(now)
        due, cost = [one.due for one in queue], [one.cost for one in queue]
        latest_starts(due, cost, len(queue), froms, tos, len(froms), starts)
        return starts

    def _off(self, now: int) -> tuple[list[int], list[int]]:
        """The withheld hours of the next days."""
        today = now // DAY
        if self.withheld and self._offs[0] != today:
            days = range(today, today + DAYS)
            spans = [(day * DAY + begin, day * DAY + end) for day in days for begin, end in self.withheld]
            self._offs = today, [one for one, _ in spans], [one for _, one in spans]
        return self._offs[1], self._offs[2]

    # --- what owners say ---------------------------------------------------------------------------------------

    def said(self, sender: int, body: Message, now: int) -> Out:
        """An owner commits to a piece, gives it up, renews its hold, or starts a job of it."""
        if isinstance(body, StatusAck):
            return self._acknowledged(sender, body, now)
        if not isinstance(body, Commit | Rollback | Renew | Start) or body.piece[0] != sender:
            return []
        hold = self.pieces.get(body.piece)
        if hold is None:
            if isinstance(body, Rollback):
                return []
            ended = tuple((job, ok) for (piece, job), (ok, _) in self.ends.items() if piece == body.piece)
            return [(sender, Aborted(body.piece, (), ended or None))]
        if isinstance(body, Renew):
            hold.until = min(now + self.settings.hold, hold.since + self.settings.longest_hold)
            return []
        if isinstance(body, Rollback):
            return self._removed(body.piece, hold, body.jobs, now)
        ready = body.ready if isinstance(body, Commit) else (body.job,)
        for one in self.cores[hold.core].queue:
            if one.piece == body.piece and one.job in ready:
                one.arrived = True
        if isinstance(body, Commit):
            hold.committed = True
            return [(sender, Committed(body.piece))]
        return []

    def _acknowledged(self, sender: int, body: StatusAck, now: int) -> Out:
        out: Out = []
        for piece, hold in list(self.pieces.items()):
            if piece[0] == sender:
                hold.unheard = 0
                if piece in body.unknown:
                    out += self._removed(piece, hold, (), now)
        for piece, job, _ in body.ended:
            if piece[0] == sender:
                self.ends.pop((piece, job), None)
        return out

    def _removed(self, piece: PieceId, hold: Hold, jobs: Sequence[int], now: int) -> Out:
        """Takes jobs of a piece out of their queue; a running one is ended."""
        core, out = self.cores[hold.core], list[tuple[int, Message]]()

        def goes(one: Entry) -> bool:
            return one.piece == piece and (not jobs or one.job in jobs)

        hold.left -= sum(map(goes, core.queue))
        core.queue = [one for one in core.queue if not goes(one)]
        if core.running and goes(core.running):
            out.append((WORLD, Kill(piece, core.running.job)))
            core.running, core.busy_until = None, 0
            hold.left -= 1
        if not jobs or hold.left <= 0:
            self.pieces.pop(piece, None)
        self.changed = True
        core.starts = self._starts(core.queue, now)
        return out

    # --- running -----------------------------------------------------------------------------------------------

    def ended(self, body: Ended, now: int) -> Out:
        """A job that ran has ended."""
        for core in self.cores:
            one = core.running
            if one and (one.piece, one.job) == (body.piece, body.job):
                core.running, core.busy_until = None, 0
                hold = self.pieces[body.piece]
                hold.left -= 1
                if hold.left <= 0:
                    del self.pieces[body.piece]
                for other in core.queue:  # the next job of the piece finds its inputs here
                    if other.piece == one.piece and other.after == one.job:
                        other.after = -1
                self.changed = True
                self.ends[body.piece, body.job] = body.ok, now + KEPT
                return [(body.piece[0], Finished(body.piece, body.job, body.ok))]
        return []

    def tick(self, now: int) -> Out:
        """Gives up what is too late, tells owners what is here, and starts what may run."""
        out: Out = []
        for piece, hold in list(self.pieces.items()):
            if not hold.committed and hold.until <= now:
                out += self._removed(piece, hold, (), now)
        for core in self.cores:
            late = dict.fromkeys(one.piece for one, at in zip(core.queue, core.starts, strict=True) if at < now)
            for piece in late:
                out += self.given_up(piece, now)
            if core.running is None and core.queue:
                out += self._launched(core, now)
        if (self.pieces or self.ends) and now >= self.next_status:
            out += self._statuses(now)
        return out

    def given_up(self, piece: PieceId, now: int) -> Out:
        """Tells an owner that a piece will not be done here."""
        hold = self.pieces[piece]
        core = self.cores[hold.core]
        jobs = tuple(one.job for one in (*core.queue, core.running) if one and one.piece == piece)
        return [*self._removed(piece, hold, (), now), (piece[0], Aborted(piece, jobs))]

    def _launched(self, core: Core, now: int) -> Out:
        queue = core.queue
        froms, tos = self._off(now)
        ready = [one.arrived and one.after < 0 and self.pieces[one.piece].committed for one in queue]
        cost = [one.cost for one in queue]
        chosen = next_job(ready, cost, core.starts, len(queue), now, froms, tos, len(froms))
        if chosen < 0:
            return []
        one = queue.pop(chosen)
        core.starts = self._starts(queue, now)
        core.running, core.busy_until = one, now + one.cost
        self.changed = True
        return [(WORLD, Launch(one.piece, one.job, self.cores.index(core), one.cost))]

    def _statuses(self, now: int) -> Out:
        """What owners are told of their jobs; who has not answered for long loses those that have not begun."""
        self.next_status = now + self.settings.status
        out, by_owner = list[tuple[int, Message]](), dict[int, list[PieceId]]()
        self.ends = {key: one for key, one in self.ends.items() if one[1] > now}
        ended = dict[int, list[tuple[PieceId, int, bool]]]()
        for (piece, job), (ok, _) in self.ends.items():
            ended.setdefault(piece[0], []).append((piece, job, ok))
        running = {core.running.piece for core in self.cores if core.running}
        for piece, hold in list(self.pieces.items()):
            if not hold.committed:
                continue
            hold.unheard += 1
            if hold.unheard > SILENCES and piece not in running:
                out += self._removed(piece, hold, (), now)
            else:
                by_owner.setdefault(piece[0], []).append(piece)
        for owner in dict.fromkeys([*by_owner, *ended]):
            out.append((owner, Status(tuple(by_owner.get(owner, ())), tuple(ended.get(owner, ())[:MOST_ENDS]))))
        return out

    # --- what is free ------------------------------------------------------------------------------------------

    def holes(self, now: int) -> Iterator[tuple[int, int, int, int]]:
        """From, to, power and class of all that is free."""
        horizon = of_epoch(epoch(now))[POINTS]
        froms, tos = self._off(now)
        for core in self.cores:
            room = len(core.queue) + len(froms) + 2
            begins, ends = [0] * (2 * room), [0] * (2 * room)
            due = [one.due for one in core.queue]
            busy = max(core.busy_until if core.running else now, now)
            count = holes(due, core.starts, len(due), busy, horizon, froms, tos, len(froms), begins, ends)
            if self.settings.early and count and ends[0] == horizon and not froms:
                release = [0 if one.arrived else one.release for one in core.queue]
                begins[0] = min(begins[0], done_by(release, [one.cost for one in core.queue], len(due), busy))
            for at in range(count):
                yield begins[at], ends[at], self.power, self.rank

    def summary(self, now: int) -> Summary:
        return summary(epoch(now), self.holes(now))

    def wake(self, now: int) -> int:
        """When there is something to do, if nothing is said until then; -1: never."""
        times = [hold.until for hold in self.pieces.values() if not hold.committed]
        times += [max(core.starts[0], now + 1) for core in self.cores if core.queue]
        times += [end for end in self._off(now)[1] if now < end][:1] if any(core.queue for core in self.cores) else []
        if self.pieces or self.ends:
            times.append(self.next_status)
        return min(times, default=-1)
