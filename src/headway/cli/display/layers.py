"""A small dag in layers, made ready for drawing: what stands on each level, in which order, and which lines join them.

Arcs over several levels run through *wires*, places on the levels between that hold no job. Arcs from the same parents
to the same children share one wire. Between two levels, lines are grouped into *nets*: all parents of a net have all
its children, so its lines may run together without saying anything that is not so.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from headway.model.dag import Dag
from headway.model.record import field, mutable

Arcs = set[tuple[int, int]]
SWEEPS = 8


@dataclass(slots=True, eq=False)
class Net:
    """Items of one layer that are all joined to the same items of the next."""

    tops: list[int]
    bottoms: list[int]


@mutable
class Layers:
    """Items are numbered: jobs by their place in `jobs`, then wires."""

    jobs: list[int]
    rows: list[list[int]]
    gaps: list[list[Net]]  # the nets below each row but the last
    hidden: int  # arcs left out because others imply them
    above: dict[int, list[Net]] = field(default_factory=dict)
    below: dict[int, list[Net]] = field(default_factory=dict)

    def wire(self, item: int) -> bool:
        return item >= len(self.jobs)


def layered(dag: Dag) -> Layers:
    """The dag's jobs level by level, milestones seen through, arcs that others imply left out."""
    jobs = list(dag.jobs())
    place = {node: at for at, node in enumerate(jobs)}
    arcs = {(place[node], place[child]) for node in jobs for child in dag.job_children(node)}
    level = [dag.level_of[node] for node in jobs]
    needed = _reduced(arcs, sorted(range(len(jobs)), key=level.__getitem__, reverse=True))
    rows: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for item, row in enumerate(level):
        rows[row].append(item)
    steps: list[Arcs] = [set() for _ in rows[1:]]
    for parent, child in needed:
        if level[child] == level[parent] + 1:
            steps[level[parent]].add((parent, child))
    _add_wires({arc for arc in needed if level[arc[1]] > level[arc[0]] + 1}, level, rows, steps)
    rows = _ordered(rows, steps)
    layers = Layers(jobs, rows, [nets(step, len(jobs)) for step in steps], len(arcs) - len(needed))
    for gap in layers.gaps:
        for net in gap:
            for item in net.tops:
                layers.below.setdefault(item, []).append(net)
            for item in net.bottoms:
                layers.above.setdefault(item, []).append(net)
    return layers


def _reduced(arcs: Arcs, from_the_bottom: list[int]) -> Arcs:
    """The transitive reduction."""
    children: dict[int, set[int]] = {}
    for parent, child in arcs:
        children.setdefault(parent, set()).add(child)
    beyond: dict[int, set[int]] = {}
    for item in from_the_bottom:
        mine = children.get(item, set())
        beyond[item] = mine.union(*(beyond[child] for child in mine))
    implied = {(parent, other) for parent, mine in children.items() for child in mine for other in beyond[child] & mine}
    return arcs - implied


def _add_wires(long: Arcs, level: list[int], rows: list[list[int]], steps: list[Arcs]) -> None:
    """Lays arcs over several levels along wires, a wire for all arcs of a bundle."""
    wires = len(level)
    while long:
        parents, children = max(
            _bicliques(long), key=lambda ends: (_saving(ends[0], ends[1], level), -min(ends[0]), -min(ends[1]))
        )
        long = long - {(parent, child) for parent in parents for child in children}
        first = min(level[parent] for parent in parents) + 1
        last = max(level[child] for child in children) - 1
        for row in range(first, last + 1):
            item = wires + row - first
            rows[row].append(item)
            steps[row - 1] |= {(parent, item) for parent in parents if level[parent] == row - 1}
            steps[row] |= {(item, child) for child in children if level[child] == row + 1}
            if row > first:
                steps[row - 1].add((item - 1, item))
        wires += last + 1 - first


def _saving(parents: set[int], children: set[int], level: list[int]) -> int:
    """Places on wires that a bundle needs less than its arcs would alone."""
    alone = sum(level[child] - level[parent] - 1 for parent in parents for child in children)
    return alone - (max(level[child] for child in children) - min(level[parent] for parent in parents) - 1)


def _bicliques(arcs: Arcs) -> list[tuple[set[int], set[int]]]:
    """For each arc's end the widest sets of parents and children, all of them joined, that it belongs to."""
    children: dict[int, set[int]] = {}
    parents: dict[int, set[int]] = {}
    for parent, child in sorted(arcs):
        children.setdefault(parent, set()).add(child)
        parents.setdefault(child, set()).add(parent)
    found = [({other for other in children if children[other] >= mine}, mine) for mine in children.values()]
    found += [(mine, {other for other in parents if parents[other] >= mine}) for mine in parents.values()]
    return found


def nets(arcs: Arcs, jobs: int) -> list[Net]:
    """The arcs between two layers as few nets. A wire is one line, so it has one net above it and one below."""
    found: list[Net] = []
    left = set(arcs)

    def take(parents: set[int], children: set[int]) -> None:
        left.difference_update({(parent, child) for parent in parents for child in children})
        found.append(Net(sorted(parents), sorted(children)))

    for wire in sorted({end for arc in arcs for end in arc if end >= jobs}):
        mine = _children(left, wire)
        if mine:
            tops = {item for item, _ in left if _children(left, item) >= mine}
            take({item for item in tops if item < jobs or _children(left, item) == mine}, mine)
        mine = _parents(left, wire)
        if mine:
            bottoms = {item for _, item in left if _parents(left, item) >= mine}
            take(mine, {item for item in bottoms if item < jobs or _parents(left, item) == mine})
    while left:
        parents, children = max(
            _bicliques(left),
            key=lambda ends: (
                len(ends[0]) * len(ends[1]) / (len(ends[0]) + len(ends[1])),
                -min(ends[0]),
                -min(ends[1]),
            ),
        )
        take(parents, children)
    return found


def _children(arcs: Arcs, item: int) -> set[int]:
    return {child for parent, child in arcs if parent == item}


def _parents(arcs: Arcs, item: int) -> set[int]:
    return {parent for parent, child in arcs if child == item}


# --- order on a layer ------------------------------------------------------------------------------------------


def _ordered(rows: list[list[int]], steps: list[Arcs]) -> list[list[int]]:
    """Rows sorted so that few lines cross: each item near the middle of its neighbours, in sweeps down and up."""
    best, fewest = [list(row) for row in rows], _all_crossings(rows, steps)
    rows = [list(row) for row in rows]
    for _ in range(SWEEPS):
        for at in range(1, len(rows)):
            _sort(rows[at], rows[at - 1], {(child, parent) for parent, child in steps[at - 1]})
        for at in range(len(rows) - 2, -1, -1):
            _sort(rows[at], rows[at + 1], steps[at])
        _exchange(rows, steps)
        crossings = _all_crossings(rows, steps)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _sort(row: list[int], fixed: list[int], arcs: Arcs) -> None:
    where = {item: at for at, item in enumerate(fixed)}
    share = (len(fixed) - 1) / max(len(row) - 1, 1)  # an item without neighbours there keeps its part of the row
    middle = {item: at * share for at, item in enumerate(row)}
    for item in row:
        ends = [where[other] for mine, other in arcs if mine == item]
        if ends:
            middle[item] = sum(ends) / len(ends)
    row.sort(key=middle.__getitem__)


def _exchange(rows: list[list[int]], steps: list[Arcs]) -> None:
    """Swaps neighbours as long as that takes crossings away."""
    for at, row in enumerate(rows):
        near = [step for step in (at - 1, at) if 0 <= step < len(steps)]
        improved = True
        while improved:
            improved = False
            for left in range(len(row) - 1):
                before = sum(_crossings(rows, step, steps) for step in near)
                row[left], row[left + 1] = row[left + 1], row[left]
                if sum(_crossings(rows, step, steps) for step in near) < before:
                    improved = True
                else:
                    row[left], row[left + 1] = row[left + 1], row[left]


def _all_crossings(rows: list[list[int]], steps: list[Arcs]) -> int:
    return sum(_crossings(rows, step, steps) for step in range(len(steps)))


def _crossings(rows: list[list[int]], step: int, steps: list[Arcs]) -> int:
    where = {item: at for row in (rows[step], rows[step + 1]) for at, item in enumerate(row)}
    ends = [(where[parent], where[child]) for parent, child in steps[step]]
    return sum((one[0] - two[0]) * (one[1] - two[1]) < 0 for one, two in combinations(ends, 2))
