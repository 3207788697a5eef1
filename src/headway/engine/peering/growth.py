"""A branch with too many children splits, one with too few dissolves, a root grows a root above it; a peer withdraws.

Who becomes a branch is asked first and given children then; one change at a time for each branch.
"""

from __future__ import annotations

from headway.engine.peering.messages import Message
from headway.engine.peering.tree import FEWEST, MOST_HOPS, Recruit, Tree
from headway.engine.peering.tree_messages import Adopted, Attach, Enlist, Enlisted, Handover, Key, Leave, Node, Orphan

Out = list[tuple[int, Message]]


def balanced(tree: Tree, now: int) -> Out:
    """Splits a branch with too many children, and dissolves one with too few."""
    branch, link = tree.branch, tree.link
    if branch is None or link is None or tree.gone:
        return []
    if len(branch.children) > tree.settings.most:
        return _recruited(tree, now, as_root=True) if link.father is None else _recruited(tree, now, as_root=False)
    is_only_leaf = branch.level == 1 and link.is_root and len(branch.children) > 0
    if is_only_leaf or len(branch.children) >= FEWEST:
        branch.thin_since = -1
    elif branch.thin_since < 0:
        branch.thin_since = now
    elif now >= branch.thin_since + tree.settings.answer:
        return _dissolved(tree)
    return []


def _recruited(tree: Tree, now: int, as_root: bool) -> Out:
    """The first phase: asks a peer below without a branch to become one."""
    if tree.recruit and now < tree.recruit.until:
        return []
    names = tree.free_peers()
    if not names or tree.branch is None:
        return []
    tree.tickets += 1
    peer = names[tree.tickets % len(names)]
    tree.recruit = Recruit(tree.tickets, peer, now + tree.settings.answer // 2, as_root)
    return [(peer, Enlist(tree.tickets, tree.branch.level + as_root))]


def enlist(tree: Tree, sender: int, body: Enlist, now: int) -> Out:
    taken = tree.enlisted is not None and now < tree.enlisted[2]
    agreed = tree.branch is None and not taken and not tree.gone and tree.leaf.father is not None
    if agreed:
        tree.enlisted = sender, body.ticket, now + tree.settings.answer
    return [(sender, Enlisted(body.ticket, agreed))]


def agreed(tree: Tree, sender: int, body: Enlisted, now: int) -> Out:
    """The second phase: hands children over."""
    recruit, branch, link = tree.recruit, tree.branch, tree.link
    if recruit is None or (recruit.peer, recruit.ticket) != (sender, body.ticket):
        return []
    tree.recruit = None
    if not body.agreed or branch is None or link is None:
        for child in branch.children.values() if branch else ():
            child.free = tuple(peer for peer in child.free if peer != sender)
        return []
    if recruit.as_root:
        if link.father is not None:
            return []
        link.father, link.is_root, link.heard, link.told = Node(sender, branch.level + 1), False, now, None
        mine = (Node(tree.peer, branch.level), branch.low, branch.leaves)
        return [(sender, Handover(body.ticket, branch.level + 1, None, (mine,)))]
    if len(branch.children) <= tree.settings.most or link.father is None:
        return []
    upper = branch.order[len(branch.order) // 2 :]
    rows = tuple((one.node, one.low, one.leaves) for one in map(branch.children.__getitem__, upper))
    if link.zone:
        link.zone = link.zone[0], branch.children[upper[0]].low
    for peer in upper:
        branch.remove(peer)
    return [(sender, Handover(body.ticket, branch.level, link.father, rows))]


def handed_over(tree: Tree, sender: int, body: Handover, now: int) -> Out:
    if tree.enlisted is None or tree.enlisted[:2] != (sender, body.ticket) or tree.branch is not None:
        return []
    tree.enlisted = None
    branch = tree.begin(body.level, body.father, now)
    tree.remember(sender)
    out: Out = []
    for node, low, leaves in body.children:
        branch.add(node, low, leaves, now)
        out.append((node.peer, Adopted(node.level, Node(tree.peer, body.level))))
    if body.father and tree.link:
        out += tree.attach(tree.link, body.father.peer, now)
    return out


def _dissolved(tree: Tree) -> Out:
    """Gives the last child away, and is a branch no more. A root with one branch makes that the root."""
    branch, link = tree.branch, tree.link
    if branch is None or link is None:
        return []
    out: Out = [(peer, Orphan(branch.level - 1, link.father, link.is_root)) for peer in branch.order]
    if link.father:
        out.append((link.father.peer, Leave(branch.level)))
    tree.branch = tree.link = tree.recruit = None
    return out


def left(tree: Tree, sender: int, body: Leave, now: int) -> Out:
    branch = tree.branch
    if branch is None or branch.level != body.level + 1:
        return []
    branch.remove(sender)
    return balanced(tree, now)


def withdrawn(tree: Tree, now: int) -> Out:
    """Leaves: the father and the children are told."""
    out: Out = []
    branch, link = tree.branch, tree.link
    if branch and link:
        hint = link.father or next((Node(peer, branch.level - 1) for peer in branch.order if peer != tree.peer), None)
        for peer in branch.order:
            heir = link.father is None and hint is not None and hint.peer == peer
            out.append((peer, Orphan(branch.level - 1, None if heir else hint, heir)))
        if link.father:
            out.append((link.father.peer, Leave(branch.level)))
    if tree.leaf.father and tree.leaf.father.peer != tree.peer:
        out.append((tree.leaf.father.peer, Leave(0)))
    tree.branch = tree.link = None
    tree.gone = True
    return out


def attached(tree: Tree, body: Attach, now: int) -> Out:
    """Somebody looks for a father: it is this branch, or one above or below it."""
    branch, link = tree.branch, tree.link
    if body.hops > MOST_HOPS or tree.gone or (branch and body.child == Node(tree.peer, branch.level)):
        return []
    tree.remember(body.child.peer)
    down = body.down or _is_mine(tree, body.low)
    onward = Attach(body.child, body.low, body.leaves, body.hops + 1, down)
    if branch is None or link is None:
        father = tree.leaf.father
        return [(father.peer, onward)] if father else []
    level = body.child.level
    if branch.level == level + 1 and down:
        return _adopted(tree, body, now)
    if branch.level <= level or not down:
        if link.father:
            return [(link.father.peer, onward)]
        return _recruited(tree, now, as_root=True) if link.is_root and branch.level == level else []
    if branch.order:
        place = branch.place_for(body.low)
        return [(branch.order[place], onward)]
    return []


def _is_mine(tree: Tree, low: Key) -> bool:
    """Whether an address belongs below the branch."""
    link = tree.link
    if link is None or link.is_root:
        return link is not None
    zone = link.zone
    return zone is not None and link.father is not None and zone[0] <= low < zone[1]


def _adopted(tree: Tree, body: Attach, now: int) -> Out:
    branch = tree.branch
    assert branch
    branch.add(body.child, body.low, body.leaves, now)  # one that is back numbers its updates from the beginning
    return [(body.child.peer, Adopted(body.child.level, Node(tree.peer, branch.level))), *balanced(tree, now)]
