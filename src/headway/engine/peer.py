"""One node of the peer-to-peer tree: leaf, branch and owner of workflows. `handle(letter)` gives what is to be sent.

No clock, no sockets: `now` is an argument, in milliseconds, and `wake` says when the peer wants a `Tick`. Letters to
itself that are for its own world (start a job, what became of a workflow) have the peer's own number as receiver.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from headway.engine.peering import growth, mending
from headway.engine.peering import owner as owning
from headway.engine.peering.guard import Guard
from headway.engine.peering.journal import restored
from headway.engine.peering.leaf import Leaf
from headway.engine.peering.messages import (
    OWN,
    Aborted,
    Commit,
    Committed,
    Ended,
    Finished,
    Letter,
    Message,
    Nack,
    Note,
    Offer,
    Reject,
    Renew,
    Request,
    Rollback,
    Start,
    Status,
    StatusAck,
    Submit,
    Withdraw,
)
from headway.engine.peering.owner import Owner
from headway.engine.peering.seals import Signing, problem
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree import Link, Tree
from headway.engine.peering.tree_messages import (
    Ack,
    Adopted,
    Attach,
    ClockOff,
    Enlist,
    Enlisted,
    Handover,
    Leave,
    Orphan,
    RootIs,
    Update,
    WhoIsRoot,
)
from headway.model.errors import UsageError
from headway.model.record import replace
from headway.policies.by_when.cells import MOST_POWER
from headway.policies.by_when.reference_points import EPOCH, epoch
from headway.policies.by_when.summary import Summary

Out = list[tuple[int, Message]]


class Peer:
    """A computer of the grid."""

    def __init__(
        self,
        number: int,
        address: int,
        power: int,
        settings: Settings,
        now: int = 0,
        cores: int = 1,
        rank: int = 0,
        withheld: Sequence[tuple[int, int]] = (),
        signing: Signing | None = None,
    ) -> None:
        if power < 1:
            raise UsageError(f"a peer of power {power} can hold no job.", "Give it a power of at least 1.")
        if cores < 1:
            raise UsageError("a peer without cores can hold no job.", "Give it at least one core.")
        self.number, self.low, self.settings, self.power = number, (address, number), settings, power
        self.leaf = Leaf(power, settings, cores, rank, withheld)
        self.signing = signing  # none: letters come over links that nobody else can write to, and all are believed
        self.owner = Owner(number, self.low, power, settings, signing)
        self.tree = Tree(number, self.low, settings, now)
        self.guard = Guard(settings)
        self.refused: Counter[str] = Counter()  # letters that were not believed, by why
        self.clock_off = 0
        self.wake = now

    # --- life --------------------------------------------------------------------------------------------------

    def join(self, through: Sequence[int], now: int) -> list[Letter]:
        """Joins the grid that some peers are of, one after the other if need be; none: begins one."""
        if not through:
            self.tree.first(now)
            return self._sent([], now)
        for peer in reversed(through):
            self.tree.remember(peer)
        return self._sent(self.tree.attach(self.tree.leaf, through[0], now), now)

    def recover(self, notes: Iterable[Note], now: int) -> list[Letter]:
        """After a crash: takes up the workflows that were written down.

        Until the tree has told how fast its fastest peer is, no deadline is given up as too close for that.
        """
        self.owner.fastest = self.tree.fastest or MOST_POWER
        return self._sent(restored(self.owner, notes, now), now)

    def handle(self, letter: Letter, now: int) -> list[Letter]:
        """What follows from a letter."""
        body, sender = letter.body, letter.sender
        own = isinstance(body, OWN)
        if own != (sender == self.number) and own:
            self.refused["forged"] += 1
            return []
        if sender != self.number:
            why = self.guard.wrong(letter, now)
            if why:
                self.refused[why] += 1
                off = letter.sent - now
                return self._sent([(sender, ClockOff(off))] if why == "clock" and isinstance(body, Update) else [], now)
        return self._sent(self._followed(sender, body, now), now)

    def _followed(self, sender: int, body: Message, now: int) -> Out:
        tree, leaf = self.tree, self.leaf
        if tree.gone:
            return []
        match body:
            case Request():
                return self._requested(sender, body, now)
            case Nack():
                branch = tree.branch
                request = branch.refused(sender, body, now) if branch else None
                return self._routed(request, sender, now) if request else []
            case Update():
                out, why = tree.updated(sender, body, now)
                if why:
                    self.refused[why] += 1
                return out
            case Commit() | Rollback() | Renew() | Start() | StatusAck():
                return leaf.said(sender, body, now)
            case Offer() | Reject() | Committed() | Aborted() | Finished() | Status():
                return self.owner.said(sender, body, now)
            case Ended():
                return leaf.ended(body, now)
            case Submit():
                self.owner.fastest = max(tree.fastest, self.power)
                return self.owner.submitted(body, now)
            case Withdraw():
                return self._withdrawn(now)
            case ClockOff():
                self.clock_off = body.by
                return []
        return self._tree_said(sender, body, now)

    def _tree_said(self, sender: int, body: Message, now: int) -> Out:
        tree = self.tree
        match body:
            case Attach():
                return growth.attached(tree, body, now)
            case Adopted():
                return tree.adopted(sender, body, now)
            case Ack():
                tree.acknowledged(sender, body, now)
                self.owner.fastest = max(tree.fastest, self.power)
                return []
            case Orphan():
                return tree.orphaned(sender, body, now)
            case Enlist():
                return growth.enlist(tree, sender, body, now)
            case Enlisted():
                return growth.agreed(tree, sender, body, now)
            case Handover():
                return growth.handed_over(tree, sender, body, now)
            case Leave():
                return growth.left(tree, sender, body, now)
            case WhoIsRoot():
                return mending.root_asked(tree, body)
            case RootIs():
                return mending.other_root(tree, sender, body, now)
        return []

    # --- requests ----------------------------------------------------------------------------------------------

    def _requested(self, sender: int, request: Request, now: int) -> Out:
        """A branch routes it. From a father who is one level above the leaf it is for the leaf."""
        father = self.tree.leaf.father
        if request.level:
            return self._routed(request, sender, now)
        if father is None or father.peer != sender:
            return []
        return self._asked_for(request, sender, now)

    def _routed(self, request: Request, sender: int, now: int) -> Out:
        branch, link = self.tree.branch, self.tree.link
        if branch is None or link is None or request.level != branch.level:
            return []
        why = "" if request.down else self._unsealed(request)
        if why:
            self.refused[why] += 1
            return []
        return branch.routed(request, link.ways, sender, now)

    def _asked_for(self, request: Request, sender: int, now: int) -> Out:
        """The leaf is asked for room."""
        leaf = self.leaf
        why = self.guard.replayed(request.piece, request.expires, now) or self._unsealed(request)
        if why:
            self.refused[why] += 1
            return []
        offer = leaf.offered(request, now)
        if offer is None:
            return [(sender, Nack(request, leaf.summary(now)))]
        self.guard.remember(request.piece, request.expires)
        return [(request.piece[0], offer)]

    def _unsealed(self, request: Request) -> str:
        """Why a request is not its owner's."""
        return problem(request, self.signing.verify) if self.signing else ""

    def _withdrawn(self, now: int) -> Out:
        out: Out = []
        for piece in list(self.leaf.pieces):
            out += self.leaf.given_up(piece, now)
        return out + growth.withdrawn(self.tree, now)

    # --- after everything --------------------------------------------------------------------------------------

    def _sent(self, out: Out, now: int) -> list[Letter]:
        """What follows of itself: jobs that may start, what is due, and news for fathers."""
        if not self.tree.gone:
            self.owner.linked = bool(self.tree.leaf.ways)
            out = [*out, *self.leaf.tick(now), *self.owner.tick(now), *mending.tick(self.tree, now), *self._news(now)]
        ways = self.tree.leaf.ways
        letters = []
        for to, body in out:
            if to <= owning.FATHER:
                if not ways:
                    continue
                way = ways[(owning.FATHER - to) % len(ways)]
                to, body = way.peer, replace(body, level=way.level)
            letters.append(Letter(to or self.number, self.number, now, body))
        self.wake = self._wake(now)
        return letters

    def _news(self, now: int) -> Out:
        """What fathers are told: at most once a period if something has changed, and now and then in any case."""
        out: Out = []
        leaf, branch, tree = self.leaf, self.tree.branch, self.tree
        number = epoch(now)
        for link in tree.links():
            if link.father is None:
                continue
            source = branch if link.level else leaf
            if source is None:
                continue
            stale = source.changed or link.told is None or link.told.epoch != number
            summary = None
            if stale and now >= link.next_summary:
                summary = source.summary(now)
                source.changed = False
                if link.told == summary:
                    summary = None
            if summary is None and now < link.next_beat:
                continue
            out.append((link.father.peer, self._update(link, summary)))
            if summary is not None:
                link.told = Summary(summary.epoch, dict(summary.counts))
                link.next_summary = now + self.settings.update
            link.next_beat = now + self.settings.refresh
        return out

    def _update(self, link: Link, summary: Summary | None) -> Update:
        tree, branch = self.tree, self.tree.branch
        link.number += 1
        if link.level and branch:
            free, low = tree.free_peers(), branch.low
            return Update(link.level, link.number, low, branch.leaves, free, branch.fastest, summary)
        free = () if branch else (self.number,)
        return Update(0, link.number, self.low, 1, free, self.power, summary)

    def _wake(self, now: int) -> int:
        if self.tree.gone:
            return -1
        times = [one for one in (self.leaf.wake(now), self.owner.wake(), self.tree.wake()) if one >= 0]
        for link in self.tree.links():
            if link.father:
                source = self.tree.branch if link.level else self.leaf
                times.append(min(link.next_beat, (epoch(now) + 1) * EPOCH))
                if source and (source.changed or link.told is None or link.told.epoch != epoch(now)):
                    times.append(link.next_summary)
        return max(min(times, default=now + self.settings.refresh), now + 1)
