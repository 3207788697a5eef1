"""Mending a tree: silent fathers and children, several roots, leaves that are not where their address belongs."""

from __future__ import annotations

from headway.engine.peering.growth import balanced
from headway.engine.peering.messages import Message
from headway.engine.peering.tree import FEWEST, MOST_HOPS, Link, Tree
from headway.engine.peering.tree_messages import Orphan, RootIs, WhoIsRoot

Out = list[tuple[int, Message]]
PATIENCE = 3  # rounds without an answer, after which a branch is a root
ASKED = 3  # of those known at once, about other roots


def tick(tree: Tree, now: int) -> Out:
    """Mends what is broken: silent fathers, silent children, too many or too few of them, another root."""
    if tree.gone:
        return []
    out: Out = []
    for link in tree.links():
        if link.is_root:
            link.zone = None
        if link.father and link.father.peer != tree.peer and now >= link.heard + tree.dead:
            link.father = None
            link.tries = 0
        if link.father is None and not link.is_root and now >= link.asked + tree.settings.answer // 4:
            out += _searched(tree, link, now)
    branch = tree.branch
    if branch:
        for peer in list(branch.order):
            if peer != tree.peer and now >= branch.children[peer].heard + tree.dead:
                branch.remove(peer)
        out += balanced(tree, now)
        out += _misplaced(tree, now)
        out += _looks(tree, now)
    return out


def _looks(tree: Tree, now: int) -> Out:
    """The root, and branches just below it, ask peers they know which root those have."""
    link = tree.link
    root = tree.node(link) if link and link.is_root else link.root if link else None
    if link is None or root is None or not tree.is_near_root(link) or now < tree.next_look or not tree.known:
        return []
    tree.next_look = now + tree.settings.refresh
    asked, tree.known = tree.known[:ASKED], [*tree.known[ASKED:], *tree.known[:ASKED]]
    return [(peer, WhoIsRoot(root)) for peer in asked]


def _searched(tree: Tree, link: Link, now: int) -> Out:
    """Looks for a father: grandfather, root, siblings, then others it knows, one after the other.

    Where the father was the root there is none: the siblings before it are asked, and the first is the heir.
    """
    me, father_was_root = tree.node(link), link.acked and link.grandfather is None
    if not link.level:  # a father who looked for his own had none either
        father_was_root = father_was_root and link.root is not None and link.root.level == 1
    line = sorted(node.peer for node in link.siblings if node.peer < me.peer or not father_was_root)
    above = [node.peer for node in (link.grandfather, link.root) if node] if not father_was_root else []
    others = list(dict.fromkeys([*above, *line, *([] if father_was_root else tree.known)]))
    at = link.tries
    link.tries += 1
    if at < len(others):
        return tree.attach(link, others[at], now)
    if link.level and not father_was_root and at < len(others) + PATIENCE:
        link.asked = now
        return []
    link.tries = 0
    if not link.level:
        link.asked = now
        if father_was_root and tree.branch is None:
            tree.first(now)
        return []
    link.is_root, tree.next_look = True, now
    for node in (*link.siblings, link.grandfather, link.root):
        if node:
            tree.remember(node.peer)
    return []


def root_asked(tree: Tree, body: WhoIsRoot) -> Out:
    """Passes the question up; a root answers for itself."""
    link = tree.link or tree.leaf
    if body.asker == tree.node(link) or body.hops > MOST_HOPS:
        return []
    if link.father:
        return [(link.father.peer, WhoIsRoot(body.asker, body.hops + 1))]
    if tree.branch is None or not link.is_root:
        return []
    return [(body.asker.peer, RootIs(tree.node(link), tree.branch.leaves))]


def other_root(tree: Tree, sender: int, body: RootIs, now: int) -> Out:
    """There is another root: the lesser of the two attaches itself to the greater."""
    link, branch = tree.link, tree.branch
    if link is None or branch is None or not link.is_root or body.root.peer == tree.peer or sender != body.root.peer:
        return []
    tree.remember(sender)
    mine, theirs = (branch.level, branch.leaves, -tree.peer), (body.root.level, body.leaves, -body.root.peer)
    if mine < theirs:
        return tree.attach(link, body.root.peer, now)
    return [] if body.reply else [(sender, RootIs(tree.node(link), branch.leaves, True))]


def _misplaced(tree: Tree, now: int) -> Out:
    """A leaf whose address does not belong here is sent up, to be attached where it does: one at a time."""
    branch, link = tree.branch, tree.link
    if branch is None or link is None or branch.level > 1 or link.father is None or link.zone is None:
        return []
    if now < tree.next_move or len(branch.children) <= FEWEST:
        return []
    for peer in branch.order:
        if not link.zone[0] <= branch.children[peer].low < link.zone[1]:
            tree.next_move = now + 2 * tree.settings.refresh
            branch.remove(peer)
            return [(peer, Orphan(0, link.father))]
    return []
