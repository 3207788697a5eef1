"""A schedule for every component (step 3): explicit and IC-optimal where its family is known, by outdegree otherwise.

The families, with s sources (Fig. 2, whose picture is lost; each is held to brute force by a test):

- V: one source; Λ: one sink; complete: every source leads to every sink. Any order.
- W: sources in a row, d sinks each, neighbours share one. From one end to the other.
- cycle: source i leads to sinks i and i+1, closed. Around it.
- clique: one sink for each pair of sources. Any order.
- tree, which includes M (sinks in a row, d sources each, neighbours share one) and N (source i to sinks i and i+1, the
  last to its own alone): the arcs form a tree. Always on to the sink that misses fewest sources; IC-optimal where that
  attains a bound.

What is none of these and small is searched for an IC-optimal schedule exhaustively; otherwise the schedule by outdegree
may still attain a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, chain

from headway.model.record import mutable, record
from headway.policies.what_next.prio.bounds import attained
from headway.policies.what_next.prio.exhaustive import best_order

MOST_SOURCES = 12  # of a component that is searched exhaustively
MOST_SETS = 1 << 17  # that all such searches together look at


@record
class Schedule:
    """The non-sinks of a component in the order of their execution, and what it makes of the eligible jobs."""

    kind: str
    order: list[int]
    gains: Sequence[int]  # how the number of eligible jobs changes at each step
    proved: bool | None  # IC-optimal; False: the component has no such schedule; None: not known


@mutable
class Budget:
    """What is left for exhaustive searches: counted, not timed, so that the same dag has always the same order."""

    sets: int = MOST_SETS


class Block:
    """A connected bipartite dag: its sources, and the parents of each of its sinks."""

    def __init__(self, sources: Sequence[int], parents: list[Sequence[int]]) -> None:
        self.sources = sources
        self.parents = parents
        self.children: dict[int, list[int]] = {source: [] for source in sources}
        for sink, row in enumerate(parents):
            for source in row:
                self.children[source].append(sink)
        self.arcs = sum(map(len, parents))

    def out(self, source: int) -> int:
        return len(self.children[source])

    def pendants(self, source: int) -> int:
        return sum(len(self.parents[sink]) == 1 for sink in self.children[source])

    def enabled(self, order: Iterable[int]) -> list[int]:
        """How many sinks become eligible at each step of an order."""
        missing = [len(row) for row in self.parents]
        counts = []
        for source in order:
            count = 0
            for sink in self.children[source]:
                missing[sink] -= 1
                count += not missing[sink]
            counts.append(count)
        return counts


def schedule(block: Block, budget: Budget) -> Schedule:
    """The schedule of a block with more than one source and more than one sink."""
    named = _explicit(block)
    if named is not None:
        return _scheduled(block, *named, True)
    order = _by_outdegree(block)
    if _proved(block, order):
        return _scheduled(block, "bipartite", order, True)
    size = len(block.sources)
    if size > MOST_SOURCES or 1 << size > budget.sets:
        return _scheduled(block, "bipartite", order, None)
    budget.sets -= 1 << size
    number = {source: at for at, source in enumerate(block.sources)}
    best = best_order([sum(1 << number[source] for source in row) for row in block.parents], size)
    if best is None:
        return _scheduled(block, "bipartite", order, False)
    return _scheduled(block, "bipartite", [block.sources[at] for at in best], True)


def _by_outdegree(block: Block) -> list[int]:
    """Most children first; or from sink to sink, where that is at no step worse, as where many have as many."""
    order, other = sorted(block.sources, key=lambda source: -block.out(source)), _grown(block)
    ahead = accumulate(two - one for one, two in zip(block.enabled(order), block.enabled(other), strict=True))
    return other if all(count >= 0 for count in ahead) else order


def _scheduled(block: Block, kind: str, order: list[int], proved: bool | None) -> Schedule:
    return Schedule(kind, order, [count - 1 for count in block.enabled(order)], proved)


def _explicit(block: Block) -> tuple[str, list[int]] | None:
    sources, sinks = len(block.sources), len(block.parents)
    if block.arcs == sources * sinks:
        return "complete", list(block.sources)
    if max(map(len, block.parents)) == 2:
        found = _cycle(block) or _clique(block) or _w(block)
        if found is not None:
            return found
    if block.arcs == sources + sinks - 1:
        order = _grown(block)
        if _proved(block, order):
            return _tree_name(block), order
    return None


def _proved(block: Block, order: Sequence[int]) -> bool:
    total, counts = 0, [0]
    for count in block.enabled(order):
        total += count
        counts.append(total)
    sources = block.sources
    return attained(
        counts,
        [block.out(source) for source in sources],
        [len(row) for row in block.parents],
        [block.pendants(source) for source in sources],
    )


def _cycle(block: Block) -> tuple[str, list[int]] | None:
    degrees = chain(map(len, block.parents), map(block.out, block.sources))
    if len(block.sources) != len(block.parents) or any(degree != 2 for degree in degrees):
        return None
    return "cycle", _row(block, block.sources[0])


def _clique(block: Block) -> tuple[str, list[int]] | None:
    size = len(block.sources)
    if len(block.parents) != size * (size - 1) // 2 or block.arcs != 2 * len(block.parents):
        return None
    if len({frozenset(row) for row in block.parents}) < len(block.parents):
        return None
    return "clique", list(block.sources)


def _w(block: Block) -> tuple[str, list[int]] | None:
    """Sources of the same outdegree, in a row by the sinks they share."""
    sources = block.sources
    degree = block.out(sources[0])
    if len(block.parents) != len(sources) * (degree - 1) + 1 or any(block.out(source) != degree for source in sources):
        return None
    ends = []
    for source in sources:
        shared = degree - block.pendants(source)
        if shared > 2:
            return None
        if shared == 1:
            ends.append(source)
    return ("W", _row(block, min(ends))) if len(ends) == 2 else None


def _row(block: Block, first: int) -> list[int]:
    """Sources one after another, each sharing a sink with the one before; of two ways on, the earlier in the file."""
    order, seen = [first], {first}
    while True:
        beside = {source for sink in block.children[order[-1]] for source in block.parents[sink]} - seen
        if not beside:
            return order
        order.append(min(beside))
        seen.add(order[-1])


def _grown(block: Block) -> list[int]:
    """Always on to the sink that misses fewest sources; of those, the ones with most children first."""
    missing = [len(row) for row in block.parents]
    heap = [(count, sink) for sink, count in enumerate(missing)]
    heapify(heap)
    order: list[int] = []
    executed: set[int] = set()
    while heap:
        count, sink = heappop(heap)
        if count != missing[sink]:
            continue
        for source in sorted(block.parents[sink], key=lambda source: (-block.out(source), source)):
            if source in executed:
                continue
            executed.add(source)
            order.append(source)
            for other in block.children[source]:
                missing[other] -= 1
                if missing[other]:
                    heappush(heap, (missing[other], other))
    return order


def _tree_name(block: Block) -> str:
    """M, N, or just a tree."""
    into = {len(row) for row in block.parents}
    out = [block.out(source) for source in block.sources]
    in_a_row = all(sum(block.out(source) > 1 for source in row) <= 2 for row in block.parents)
    if len(into) == 1 and max(out) == 2 and in_a_row:
        return "M"
    pendants = sum(len(row) == 1 for row in block.parents)
    if into == {1, 2} and pendants == 1 and max(out) == 2 and out.count(1) == 1:
        return "N"
    return "tree"
