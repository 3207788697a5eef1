"""Shortcuts: arcs from a job to one that it leads to anyway.

An arc that spans one level is never one. The others are searched for, first from the parent downwards, which is quick
where few are long or the ways are narrow. When that costs more than a few passes over the dag, or looks as if it would,
the rest is settled with sets of bits, some targets at a time: their cost does not depend on how tangled the dag is.
"""

from __future__ import annotations

from array import array
from heapq import heappop, heappush
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.model.dag import Dag

_PASSES = 4  # over all arcs, that searches may cost
_BITS = 1 << 28  # all sets of bits together: 32 MB


def needed_arcs(dag: Dag) -> tuple[array[int], array[int]]:
    """The rows of the children without shortcuts; the dag's own rows where there is none."""
    needless = shortcuts(dag)
    if not needless:
        return dag.child_start, dag.children
    starts, kept = array("i", [0]), array("i")
    for node in range(len(dag)):
        dropped = needless.get(node)
        row = dag.children_of(node)
        kept.extend(row if dropped is None else [child for child in row if child not in dropped])
        starts.append(len(kept))
    return starts, kept


def shortcuts(dag: Dag) -> dict[int, set[int]]:
    """For each node with shortcuts the children they lead to."""
    far = _far_arcs(dag)
    found: dict[int, set[int]] = {}
    size = len(dag) + len(dag.children)
    passes = -(-len(set().union(*far.values())) // _width(dag))  # that sets of bits would take
    spent = done = 0
    while far:
        node, children = far.popitem()
        passed, cost = _passed(dag, node, children, _PASSES * size - spent)
        spent, done = spent + cost, done + 1
        if passed:
            found[node] = passed
        if passed is None or (spent > size // 16 and spent * len(far) > done * passes * size):
            if passed is None:
                far[node] = children
            _settle(dag, far, found)
            break
    return found


def _width(dag: Dag) -> int:
    """How many targets fit into the sets of bits at once."""
    return max(256, _BITS // max(len(dag), 1))


def _far_arcs(dag: Dag) -> dict[int, set[int]]:
    """The arcs that span more than one level, unless their child has no other parent or their parent no other child."""
    starts, children, depth = dag.child_start, dag.children, dag.depths
    far: dict[int, set[int]] = {}
    parent_start = None
    for node in range(len(dag)):
        first, end = starts[node], starts[node + 1]
        if end - first < 2:
            continue
        next_level = depth[node] + 1
        for child in children[first:end]:
            if depth[child] != next_level:
                parent_start = parent_start or dag.parent_start
                if parent_start[child + 1] - parent_start[child] > 1:
                    far.setdefault(node, set()).add(child)
    return far


def _passed(dag: Dag, node: int, far: set[int], budget: int) -> tuple[set[int] | None, int]:
    """Which far children another way leads to, found by looking for their other parents; None: the budget is spent."""
    depth = dag.depths
    wanted: dict[int, list[int]] = {}  # other parent -> far children
    cost = 0
    for child in far:
        for parent in dag.parents_of(child):
            cost += 1
            if parent != node and depth[parent] > depth[node]:
                wanted.setdefault(parent, []).append(child)
    passed: set[int] = set()
    deepest = max((depth[parent] for parent in wanted), default=0)
    starts, children = dag.child_start, dag.children
    seen = {child for child in dag.children_of(node) if depth[child] <= deepest}
    heap = sorted((depth[child], child) for child in seen)
    cost += starts[node + 1] - starts[node]
    while heap and len(passed) < len(far):
        if cost > budget:
            return None, cost
        level, at = heappop(heap)
        if at in wanted:
            passed.update(wanted[at])
        if level == deepest:
            continue
        row = children[starts[at] : starts[at + 1]]
        cost += len(row) + 1
        for below in row:
            if below not in seen and depth[below] <= deepest:
                seen.add(below)
                heappush(heap, (depth[below], below))
    return passed, cost


def _settle(dag: Dag, far: dict[int, set[int]], found: dict[int, set[int]]) -> None:
    """The same for all that is left, with a bit for every far child, as many at once as memory allows."""
    depth = dag.depths
    targets = sorted(set().union(*far.values()), key=depth.__getitem__)
    shallow_first = [sorted(dag.children_of(node), key=depth.__getitem__) for node in range(len(dag))]
    width = _width(dag)
    for first in range(0, len(targets), width):
        _settle_some(dag, targets[first : first + width], shallow_first, found)


def _settle_some(dag: Dag, targets: list[int], shallow_first: list[list[int]], found: dict[int, set[int]]) -> None:
    """Goes up from the deepest target: a child that a shallower one leads to is at the end of a shortcut."""
    depth = dag.depths
    place = {target: at for at, target in enumerate(targets)}
    top = min(depth[parent] for target in targets for parent in dag.parents_of(target))
    bottom = depth[targets[-1]]
    reach = [0] * len(dag)  # the targets that each node leads to, and itself
    within = map(bytes(top <= level <= bottom for level in depth).__getitem__, dag.order)
    for node in reversed(list(compress(dag.order, within))):
        below = 0
        for child in shallow_first[node]:
            if below and child in place and below >> place[child] & 1:
                found.setdefault(node, set()).add(child)
            below |= reach[child]
        if node in place:
            below |= 1 << place[node]
        reach[node] = below
