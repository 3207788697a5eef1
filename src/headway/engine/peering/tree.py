"""A peer's place in the tree: joining, splitting, leaving, and mending it where a neighbour has died.

One operation does nearly all of it: a leaf, or a branch with everything below it, is attached to a father exactly one
level higher. So no loop can come about, and all leaves stay at the same depth. A node whose father is silent or gone
attaches itself again: at its grandfather, the root, its siblings, peers it has known. The first sibling is the heir of
a root: it attaches to nobody and is the root. Two roots that hear of each other become one tree.
"""

from __future__ import annotations

from headway.engine.peering.branch import Branch
from headway.engine.peering.messages import Message
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import (
    ALL,
    Ack,
    Adopted,
    Attach,
    Key,
    Leave,
    Node,
    Orphan,
    Update,
)
from headway.model.record import mutable
from headway.policies.by_when.summary import Summary

Out = list[tuple[int, Message]]
MOST_HOPS = 64
KNOWN = 16  # peers remembered, to find the tree again
TOP = 2  # levels below the root whose branches look for other roots
FREE = 4  # peers without a branch that a child names
FEWEST = 2  # children, with fewer a branch dissolves


@mutable
class Link:
    """From a leaf, or a branch, to its father."""

    level: int
    father: Node | None = None
    grandfather: Node | None = None
    siblings: tuple[Node, ...] = ()
    root: Node | None = None
    zone: tuple[Key, Key] | None = None  # the addresses that belong below; None: it was not told yet
    acked: bool = False  # by a father
    is_root: bool = False
    heard: int = 0
    number: int = 0  # of the last update
    next_beat: int = 0
    next_summary: int = 0
    told: Summary | None = None  # what the father knows
    asked: int = -(10**9)  # when it last looked for a father
    tries: int = 0

    @property
    def ways(self) -> list[Node]:
        """Who requests can go up to: the father first, and those further up for when he is silent."""
        known = () if self.is_root else (self.father, self.grandfather, self.root)
        return list(dict.fromkeys(node for node in known if node))


@mutable
class Recruit:
    """A peer that was asked to become a branch, and for what."""

    ticket: int
    peer: int
    until: int
    as_root: bool


class Tree:
    """The links of a peer, and its branch if it has one."""

    def __init__(self, peer: int, low: Key, settings: Settings, now: int) -> None:
        self.peer, self.low, self.settings = peer, low, settings
        self.leaf = Link(0, heard=now)
        self.link: Link | None = None  # of the branch
        self.branch: Branch | None = None
        self.recruit: Recruit | None = None
        self.enlisted: tuple[int, int, int] | None = None  # by whom, under which ticket, until when
        self.known: list[int] = []
        self.tickets = 0
        self.fastest = 0
        self.next_look = self.next_move = 0
        self.gone = False

    # --- what is known -----------------------------------------------------------------------------------------

    @property
    def dead(self) -> int:
        return self.settings.refresh * self.settings.misses

    def remember(self, peer: int) -> None:
        if peer != self.peer and peer not in self.known:
            self.known = [peer, *self.known[: KNOWN - 1]]

    def links(self) -> list[Link]:
        return [self.leaf, self.link] if self.link else [self.leaf]

    def link_at(self, level: int) -> Link | None:
        return next((link for link in self.links() if link.level == level), None)

    def is_near_root(self, link: Link) -> bool:
        """Whether a branch is the root, or just below it: those look for other roots."""
        return link.level > 0 and (link.is_root or (link.root is not None and link.level >= link.root.level - TOP))

    def node(self, link: Link) -> Node:
        return Node(self.peer, link.level)

    def free_peers(self) -> tuple[int, ...]:
        """Peers below the branch that have none."""
        found = list[int]()
        if self.branch:
            for at in range(FREE):
                for peer in self.branch.order:
                    names = self.branch.children[peer].free
                    if at < len(names) and names[at] != self.peer and names[at] not in found:
                        found.append(names[at])
        return tuple(found[:FREE])

    # --- joining -----------------------------------------------------------------------------------------------

    def attach(self, link: Link, to: int, now: int) -> Out:
        """Looks for a father."""
        link.asked = now
        low, leaves = (self.low, 1) if not link.level or not self.branch else (self.branch.low, self.branch.leaves)
        return [(to, Attach(self.node(link), low, leaves))]

    def first(self, now: int, alone: bool = True) -> None:
        """The first peer of a grid is a leaf and the root above it."""
        self.begin(1, None, now)
        if self.branch and alone:
            self.branch.add(Node(self.peer, 0), self.low, 1, now)
            self.leaf.father, self.leaf.heard = Node(self.peer, 1), now

    def begin(self, level: int, father: Node | None, now: int) -> Branch:
        """Becomes a branch."""
        self.branch = Branch(level, self.settings)
        self.link = Link(level, father, is_root=father is None, heard=now)
        return self.branch

    # --- staying in touch --------------------------------------------------------------------------------------

    def adopted(self, sender: int, body: Adopted, now: int) -> Out:
        """A father; one who had been the father is told."""
        link = self.link_at(body.level)
        if link is None or body.father.level != body.level + 1 or body.father.peer != sender:
            return []
        out: Out = []
        if link.father and link.father != body.father:
            out.append((link.father.peer, Leave(link.level)))
        link.father, link.is_root, link.heard, link.tries = body.father, False, now, 0
        link.told, link.zone, link.acked, link.next_beat, link.next_summary = None, None, False, now, now
        return out

    def orphaned(self, sender: int, body: Orphan, now: int) -> Out:
        """The father is none any more."""
        link = self.link_at(body.level)
        if link is None or link.father is None or link.father.peer != sender:
            return []
        link.father = None
        if body.root and link.level:
            link.is_root = True
            return []
        link.tries = 0
        return self.attach(link, body.hint.peer if body.hint else sender, now)

    def acknowledged(self, sender: int, body: Ack, now: int) -> None:
        link = self.link_at(body.level)
        if link and link.father and link.father.peer == sender:
            link.heard, link.grandfather, link.siblings, link.root = now, body.grandfather, body.siblings, body.root
            link.zone, link.acked = body.zone, True
            self.fastest = max(body.fastest, 0)
            for node in body.siblings:
                self.remember(node.peer)

    def updated(self, sender: int, body: Update, now: int) -> tuple[Out, str]:
        """A child is alive; it is told so too, now and then."""
        branch, link = self.branch, self.link
        if branch is None or link is None or branch.level != body.level + 1 or sender not in branch.children:
            return [(sender, Orphan(body.level))], "stranger"
        wrong = branch.updated(sender, body, now)
        if wrong:
            return [], wrong
        child = branch.children[sender]
        if now < child.acked + self.settings.refresh:
            return [], ""
        child.acked = now
        siblings = tuple(branch.children[peer].node for peer in branch.order if peer != sender)
        fastest = self.fastest if link.father else branch.fastest
        root = self.node(link) if link.is_root else link.root
        zone = self.zone_of(branch.order.index(sender))
        return [(sender, Ack(body.level, link.father, siblings, root, zone, fastest))], ""

    def zone_of(self, at: int) -> tuple[Key, Key] | None:
        """The addresses that belong below a child; None: this branch does not know its own."""
        branch, link = self.branch, self.link
        mine = ALL if link and link.is_root else link.zone if link else None
        if branch is None or mine is None:
            return None
        lows = [branch.children[peer].low for peer in branch.order]
        return lows[at] if at else mine[0], lows[at + 1] if at + 1 < len(lows) else mine[1]

    def wake(self) -> int:
        if self.gone:
            return -1
        times = []
        for link in self.links():
            if link.is_root:
                link.zone = None
            if link.father and link.father.peer != self.peer:
                times.append(link.heard + self.dead)
            elif link.father is None and not link.is_root:
                times.append(link.asked + self.settings.answer // 4)
            if self.known and self.is_near_root(link):
                times.append(self.next_look)
        if self.branch:
            times += [child.heard + self.dead for peer, child in self.branch.children.items() if peer != self.peer]
            if self.branch.thin_since >= 0:
                times.append(self.branch.thin_since + self.settings.answer)
            if self.recruit:
                times.append(self.recruit.until)
        return min(times, default=-1)
