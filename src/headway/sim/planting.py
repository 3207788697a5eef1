"""A tree of peers that is whole from the start, in which all know what neighbours tell each other: for worlds in
which growing it is not what is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.peer import Peer
from headway.engine.peering.tree_messages import Key, Node


def groups(count: int, fan_out: int) -> list[range]:
    """So many nodes in groups of about the fan-out, none of them smaller than two where there are two."""
    parts = max(1, count // 2 if fan_out == 2 else -(-count // fan_out))
    bounds = [count * at // parts for at in range(parts + 1)]
    return [range(bounds[at], bounds[at + 1]) for at in range(parts)]


def plant(peers: Sequence[Peer], fan_out: int, now: int) -> None:
    """Makes branches of peers, level by level; a branch is at a peer below it that has none."""
    nodes: list[tuple[Node, Key, int, range]] = [
        (Node(peer.number, 0), peer.low, 1, range(at, at + 1)) for at, peer in enumerate(peers)
    ]
    by_number = {peer.number: peer for peer in peers}
    level = 0
    while len(nodes) > 1 or not level:
        level += 1
        above = []
        for group in groups(len(nodes), fan_out):
            span = range(nodes[group.start][3].start, nodes[group.stop - 1][3].stop)
            middle = span.start + len(span) // fan_out - (level > 1)
            host = next(peers[at] for at in [*range(middle, span.stop), *span] if peers[at].tree.branch is None)
            branch = host.tree.begin(level, None, now)
            for at in group:
                node, low, leaves, _ = nodes[at]
                branch.add(node, low, leaves, now)
                link = by_number[node.peer].tree.link_at(node.level)
                assert link
                link.father, link.is_root = Node(host.number, level), False
            above.append((Node(host.number, level), branch.low, branch.leaves, span))
        nodes = above
    _told(peers, by_number, nodes[0][0], now)


def _told(peers: Sequence[Peer], by_number: dict[int, Peer], root: Node, now: int) -> None:
    """What children have told their fathers, and fathers their children."""
    branches = [peer for peer in peers if peer.tree.branch]
    branches.sort(key=lambda peer: peer.tree.branch.level)  # type: ignore[union-attr]
    for peer in branches:
        branch = peer.tree.branch
        assert branch
        for number, child in branch.children.items():
            below = by_number[number]
            inner = below.tree.branch if child.node.level else None
            child.fastest, child.acked = inner.fastest if inner else below.power, now
            child.free = below.tree.free_peers() if inner else () if below.tree.branch else (number,)
    fastest = max(peer.power for peer in peers)
    for peer in reversed(branches):
        tree = peer.tree
        branch, link = tree.branch, tree.link
        assert branch and link
        for at, number in enumerate(branch.order):
            one = by_number[number].tree.link_at(branch.level - 1)
            assert one
            one.grandfather, one.root, one.acked = link.father, root, True
            one.siblings = tuple(branch.children[other].node for other in branch.order if other != number)
            one.zone = tree.zone_of(at)
    for peer in peers:
        peer.tree.fastest = fastest
