"""The paper word for word, for small dags: the theoretical algorithm of section 2.2, and the decomposition of 3.1."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from headway.model.dag import Dag

Arcs = dict[int, set[int]]
Part = tuple[frozenset[int], frozenset[int]]  # non-sinks and sinks


def theory_succeeds(dag: Dag) -> bool:
    """Whether steps 1 to 6 of section 2.2 go through."""
    children, parents = _arcs(dag.reduced())
    blocks = _building_blocks(children, parents)
    if blocks is None:
        return False
    profiles = [_optimal_profile(block, children) for block in blocks]
    found = [profile for profile in profiles if profile is not None]
    if len(found) < len(profiles):
        return False
    for one, two in combinations(found, 2):
        if not (_before(one, two) or _before(two, one)):
            return False
    for (_, sinks), above in zip(blocks, found, strict=True):
        for (sources, _), below in zip(blocks, found, strict=True):
            if sinks & sources and not _before(above, below):
                return False
    return True


def _arcs(dag: Dag) -> tuple[Arcs, Arcs]:
    children: Arcs = {node: set(dag.children_of(node)) for node in range(len(dag))}
    parents: Arcs = {node: set(dag.parents_of(node)) for node in range(len(dag))}
    return children, parents


def _building_blocks(all_children: Arcs, all_parents: Arcs) -> list[Part] | None:
    """Step 2: maximal connected bipartite dags whose sources are sources of what is left; None: it fails."""
    children = {node: set(row) for node, row in all_children.items()}
    parents = {node: set(row) for node, row in all_parents.items()}
    alive = set(children)
    blocks: list[Part] = []
    while alive:
        block = next(filter(None, (_bipartite(source, children, parents) for source in sorted(alive))), None)
        if block is None:
            return None
        sources, sinks = block
        if sinks:
            blocks.append(block)
        for node in sources | {sink for sink in sinks if not children[sink]}:
            alive.discard(node)
            for child in children[node]:
                parents[child].discard(node)
    return blocks


def _bipartite(source: int, children: Arcs, parents: Arcs) -> Part | None:
    if parents[source]:
        return None
    sources, sinks = {source}, set(children[source])
    while True:
        more = {parent for sink in sinks for parent in parents[sink]} - sources
        if any(parents[parent] for parent in more):
            return None
        if not more:
            return frozenset(sources), frozenset(sinks)
        sources |= more
        sinks |= {child for parent in more for child in children[parent]}


def _optimal_profile(block: Part, children: Arcs) -> list[int] | None:
    """Step 3 by brute force: E of an IC-optimal schedule of the sources; None: there is none."""
    sources, sinks = sorted(block[0]), block[1]
    needs = [{source for source in sources if sink in children[source]} for sink in sinks]

    def eligible(executed: frozenset[int]) -> int:
        return len(sources) - len(executed) + sum(need <= executed for need in needs)

    profile = []
    good = {frozenset[int]()}
    for step in range(len(sources) + 1):
        best = max(eligible(frozenset(chosen)) for chosen in combinations(sources, step))
        profile.append(best)
        good = {executed for executed in good if eligible(executed) == best}
        if not good:
            return None
        good = {executed | {source} for executed in good for source in sources if source not in executed}
    return profile


def _before(one: list[int], two: list[int]) -> bool:
    """Inequality (1)."""
    end = len(one) - 1
    return all(
        one[x] + two[y] <= one[min(end, x + y)] + two[x + y - min(end, x + y)]
        for x in range(len(one))
        for y in range(len(two))
    )


def components(dag: Dag) -> Counter[Part]:
    """Step 2 of section 3.1: a smallest C(s) is detached until nothing is left."""
    children, parents = _arcs(dag.reduced())
    alive = set(children)
    found: list[Part] = []
    while alive:
        closed = min((_closed(node, children, parents) for node in sorted(alive) if not parents[node]), key=len)
        nonsinks = {node for node in closed if children[node] & closed}
        found.append((frozenset(nonsinks), frozenset(closed - nonsinks)))
        for node in nonsinks | {node for node in closed if not children[node]}:
            alive.discard(node)
            for child in children[node]:
                parents[child].discard(node)
            children[node] = set()
    return Counter(found)


def _closed(source: int, children: Arcs, parents: Arcs) -> set[int]:
    closed, stack = {source}, [source]
    while stack:
        node = stack.pop()
        news = (parents[node] if parents[node] else children[node]) - closed
        closed |= news
        stack += news
    return closed
