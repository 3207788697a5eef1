"""What peers say to each other about the tree."""

from __future__ import annotations

from headway.model.record import record
from headway.policies.by_when.summary import Summary

Key = tuple[int, int]  # of a leaf: IP address, then id; the order of the tree
ALL = ((-1, 0), (1 << 128, 0))  # addresses


@record
class Node:
    """A place in the tree: a leaf (level 0), or a branch. A peer has a leaf, and at most one branch."""

    peer: int
    level: int


@record
class Attach:
    """A leaf, or a branch with all below it, looks for a father one level higher. Passed on until one is found."""

    child: Node
    low: Key  # the first leaf below it
    leaves: int
    hops: int = 0
    down: bool = False  # it has been where its address belongs


@record
class Adopted:
    level: int  # of the child
    father: Node


@record
class Update:
    """A child is alive; with a summary if what is free below it has changed."""

    level: int  # of the child
    number: int  # older ones are dropped
    low: Key
    leaves: int
    free: tuple[int, ...]  # some peers below it without a branch
    fastest: int
    summary: Summary | None = None


@record
class Ack:
    """The father is alive, and who could be the next one."""

    level: int  # of the child
    grandfather: Node | None
    siblings: tuple[Node, ...]
    root: Node | None
    zone: tuple[Key, Key] | None  # the addresses that belong below the child: from, and before; None: not known
    fastest: int  # power of the fastest peer of the grid


@record
class Orphan:
    """You are no child of this branch; try another, or be the root."""

    level: int  # of the child
    hint: Node | None = None
    root: bool = False


@record
class Enlist:
    """Asks a peer without a branch to become one."""

    ticket: int
    level: int


@record
class Enlisted:
    ticket: int
    agreed: bool


@record
class Handover:
    """The second phase: these are your children now."""

    ticket: int
    level: int
    father: Node | None
    children: tuple[tuple[Node, Key, int], ...]  # with the first leaf and the number of leaves below each


@record
class Leave:
    level: int  # of the child that goes


@record
class WhoIsRoot:
    """Asked for a root, who its answer goes to: is there another tree? Passed on upward."""

    asker: Node
    hops: int = 0


@record
class RootIs:
    root: Node
    leaves: int
    reply: bool = False


@record
class ClockOff:
    """Your clock differs by so much from that of a neighbour, who ignores what you say."""

    by: int
