"""The routing node: what its children have free, and where a request goes next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from headway.engine.peering.messages import Message, Nack, PieceId, Reject, Request
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import Key, Node, Update
from headway.model.record import field, mutable, replace
from headway.policies.by_when.cells import after
from headway.policies.by_when.reference_points import epoch, of_epoch
from headway.policies.by_when.routing import one_hole, several_holes
from headway.policies.by_when.summary import POWER_OF, Summary, problem, total

Out = list[tuple[int, Message]]
MOST_TURNS = 3  # holes that turned out not to be there, after which a request goes up
MOST_HOPS = 64
DISTRUST = 8  # of these answers, and more than half of all, a child is left out for a minute
MINUTE = 60_000
MOST_CORES = 1024  # of a leaf, as far as summaries are believed


@mutable
class Child:
    """What a branch knows of a child."""

    node: Node
    low: Key
    leaves: int
    heard: int
    number: int = -1  # of its last update
    free: tuple[int, ...] = ()
    fastest: int = 0
    summary: Summary | None = None
    acked: int = -(10**9)  # when it was told last that its father is alive
    routed: int = 0
    refused: int = 0
    left_out_until: int = 0


def _is_forged(summary: Summary, leaves: int, now: int) -> bool:
    """Whether a summary cannot be true of so many leaves, or is of another time."""
    is_of_another_time = abs(summary.epoch - epoch(now)) > 1
    return is_of_another_time or bool(problem(summary.counts, max(leaves, 1) * MOST_CORES))


@mutable
class Asked:
    """What a branch has done about a request."""

    back_to: int  # the father from whom it came; 0: it came from below
    expires: int
    turns: int = 0
    tried: list[int] = field(default_factory=list)
    last: int = 0  # to whom it went last
    up: int = 0  # of those above, the one to ask
    repeated: int | None = None


class Branch:
    """Children in the order of their first leaves, and the sum of what they have."""

    def __init__(self, level: int, settings: Settings) -> None:
        self.level, self.settings = level, settings
        self.children: dict[int, Child] = {}
        self.order: list[int] = []
        self.changed = True
        self.thin_since = -1  # since when it has too few children
        self.asked: dict[PieceId, Asked] = {}
        self._minute = 0

    def add(self, node: Node, low: Key, leaves: int, now: int) -> None:
        self.children[node.peer] = Child(node, low, leaves, now)
        self.sort()

    def remove(self, peer: int) -> None:
        if self.children.pop(peer, None):
            self.sort()

    def sort(self) -> None:
        self.order = sorted(self.children, key=lambda peer: (self.children[peer].low, peer))
        self.changed = True

    @property
    def low(self) -> Key:
        return self.children[self.order[0]].low if self.order else (0, 0)

    @property
    def leaves(self) -> int:
        return sum(child.leaves for child in self.children.values())

    @property
    def fastest(self) -> int:
        return max((child.fastest for child in self.children.values()), default=0)

    def place_for(self, low: Key) -> int:
        """The place of the child that a leaf belongs to by its address."""
        return max(0, bisect_right([self.children[peer].low for peer in self.order], low) - 1)

    def updated(self, sender: int, body: Update, now: int) -> str:
        """Takes in what a child says; why not, if it cannot be."""
        child = self.children[sender]
        if body.number <= child.number:
            return "old"
        if body.leaves < 0 or (self.level == 1 and body.leaves != 1):
            return "forged"
        if body.summary is not None and _is_forged(body.summary, body.leaves, now):
            return "forged"
        moved = body.low != child.low or body.leaves != child.leaves
        child.heard, child.number, child.low, child.leaves = now, body.number, body.low, body.leaves
        child.free, child.fastest = body.free, body.fastest
        if body.summary is not None:
            child.summary = body.summary
            self.changed = True
        if moved:
            self.sort()
        return ""

    def parts(self, now: int) -> list[dict[int, int]]:
        """What each child has, by the points of this epoch."""
        number, found = epoch(now), list[dict[int, int]]()
        for peer in self.order:
            child = self.children[peer]
            if child.summary is not None and child.summary.epoch < number:
                child.summary = child.summary.at(number)
            found.append(child.summary.counts if child.summary and child.left_out_until <= now else {})
        return found

    def summary(self, now: int) -> Summary:
        self.changed = False
        known = [child.summary for child in self.children.values() if child.summary]
        return total(known, epoch(now))

    def routed(self, request: Request, ways: Sequence[Node], came_from: int, now: int) -> Out:
        """Where a request goes: to a hole, in pieces to several, up, or back. `ways`: its father and those above it.

        A branch sends a request down three times at most, each time to another child. So it comes to an end. Whom it
        went to before it was repeated is passed by: he, or somebody beyond him, may be dead.
        """
        if now > request.expires or request.hops > MOST_HOPS:
            return []
        request = replace(request, hops=request.hops + 1)
        asked = self.asked.get(request.piece)
        if asked is None:
            back_to = came_from if request.down else 0
            asked = self.asked[request.piece] = Asked(back_to, request.expires, repeated=request.repeated)
            if not request.down and self.level > 1:
                asked.tried.append(came_from)  # it has just found nothing below itself
        elif request.repeated != asked.repeated:
            self._passes_by(asked, request, came_from)
        elif came_from in self.children:
            asked.tried.append(came_from)
        if asked.turns < MOST_TURNS:
            found = self._found(request, asked, now)
            if found:
                asked.turns += 1
                return found
        if asked.back_to:
            return [(asked.back_to, Nack(request, self.summary(now)))]
        if not ways:
            return [(request.piece[0], Reject(request.piece, request.hops))]
        way = ways[asked.up % len(ways)]
        asked.last = way.peer
        return [(way.peer, replace(request, level=way.level, down=False))]

    def _passes_by(self, asked: Asked, request: Request, came_from: int) -> None:
        """A request is repeated: the way that it took before is not taken again."""
        asked.repeated, asked.expires = request.repeated, request.expires
        asked.back_to = came_from if request.down else 0
        if asked.last in self.children:
            asked.tried.append(asked.last)
        elif asked.last:
            asked.up += 1

    def _found(self, request: Request, asked: Asked, now: int) -> Out:
        """One hole for all of a request, or one for each of its pieces."""
        settings, parts, number = self.settings, self.parts(now), epoch(now)
        out_of = [at for at, peer in enumerate(self.order) if peer in asked.tried]
        work = sum(job[1] for job in request.jobs)
        start = max(request.start, now)
        near = self.place_for(request.low)
        hole = one_hole(
            parts, number, work, start, request.deadline, request.needed, settings.fit, near, out_of
        )  # fmt: skip
        if hole:
            asked.last = self.order[hole[0]]
            return [self._sent(request, *hole, now)]
        if not settings.splitting or len(request.jobs) < 2:
            return []
        works, bounds = [job[1] for job in request.jobs], [job[2:] for job in request.jobs]
        pieces = several_holes(
            parts, number, works, bounds, start, request.deadline, settings.notice, request.needed, out_of
        )  # fmt: skip
        out: Out = []
        for one in pieces or ():
            part = replace(
                request,
                piece=(*request.piece[:3], request.jobs[one.first][0]),
                jobs=request.jobs[one.first : one.end],
                start=one.start if one.first else request.start,
                deadline=one.deadline,
            )
            if one.first:
                self.asked[part.piece] = Asked(asked.back_to, request.expires, 1, repeated=request.repeated)
            self.asked[part.piece].last = self.order[one.child]
            out.append(self._sent(part, one.child, one.cell, now))
        return out

    def _sent(self, request: Request, place: int, cell: int, now: int) -> tuple[int, Message]:
        """Sends a request down. Until its child tells of it again, a hole is gone, or begins later if it has no end."""
        child = self.children[self.order[place]]
        child.routed += 1
        if child.summary:
            counts = child.summary.counts
            if counts.get(cell, 0) > 1:
                counts[cell] -= 1
            else:
                counts.pop(cell, None)
            left = after(
                cell, sum(job[1] for job in request.jobs), max(request.start, now), of_epoch(epoch(now)), POWER_OF
            )  # fmt: skip
            if left >= 0:
                counts[left] = counts.get(left, 0) + 1
        return child.node.peer, replace(request, level=self.level - 1, down=True)

    def refused(self, sender: int, body: Nack, now: int) -> Request | None:
        """A child had not what it told of. The request, to be routed again; None: it was no child's."""
        child = self.children.get(sender)
        if child is None:
            return None
        self._forget(now)
        child.refused += 1
        if child.refused >= DISTRUST and 2 * child.refused > child.routed:
            child.left_out_until = now + MINUTE
        if not _is_forged(body.summary, child.leaves, now):
            child.summary = body.summary
            self.changed = True
        return replace(body.request, level=self.level, down=False)

    def _forget(self, now: int) -> None:
        """Once a minute, what is long past."""
        if now < self._minute:
            return
        self._minute = now + MINUTE
        self.asked = {piece: asked for piece, asked in self.asked.items() if asked.expires > now}
        for one in self.children.values():
            one.routed, one.refused = one.routed // 2, one.refused // 2
