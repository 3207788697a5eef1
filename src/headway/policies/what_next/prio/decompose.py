"""Decomposition (step 2): the smallest closed subgraphs, detached one after another.

A *bipartite* one is complete when every child of its sources has only sources for parents. Sources that share a child
belong together (union-find), and a count of the children that still have another parent says when a class is complete.
Where no bipartite one is left, `tangles` finds a smallest closed subgraph. Which of several is detached first does not
change the set of components.
"""

from __future__ import annotations

from collections.abc import Iterator

from headway.model.record import field, mutable
from headway.policies.what_next.prio.graph import Graph


@mutable
class Parts:
    """The components in the order of their detachment. A job is a non-sink of one at most, a sink of one at most."""

    nonsinks: list[list[int]] = field(default_factory=list)  # in file order
    sinks: list[list[int]] = field(default_factory=list)  # in file order, unless the component is bipartite
    tangled: dict[int, set[int]] = field(default_factory=dict)  # not bipartite: all of its jobs
    strays: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # arcs that leave such a one from inside
    singles: list[int] = field(default_factory=list)  # jobs that are a component each: nothing to decide
    lost_parents: dict[int, int] = field(default_factory=dict)  # of a job: how many arcs of that kind it had


class Decomposition:
    """Detaches components until nothing is left."""

    def __init__(self, graph: Graph) -> None:
        size = graph.size
        self.graph = graph
        self.parts = Parts()
        starts = graph.parent_start
        self.hidden = [starts[node + 1] - starts[node] for node in range(size)]  # parents that are no sources
        self.is_source = bytearray(size)
        self.is_gone = bytearray(size)
        self.sources = [node for node, count in enumerate(self.hidden) if not count]  # grows: all there ever were
        self._read = 0  # so many of them are in a class
        self._first = [-1] * size  # the source that met a child first
        self._leader = list(range(size))  # union-find over sources
        self._next = list(range(size))  # the ring of each class
        self._waiting = [0] * size  # of a leader: children with a hidden parent
        self._complete: list[int] = []

    def run(self) -> Parts:
        self.settle()
        if not all(self.is_gone):
            from headway.policies.what_next.prio.tangles import Tangles

            Tangles(self).run()
        return self.parts

    def settle(self) -> list[int]:
        """Detaches bipartite components while there are any; returns the jobs that were in one."""
        touched: list[int] = []
        sources = self.sources
        while self._read < len(sources) or self._complete:
            while self._complete:
                self._detach(self._complete.pop(), touched)
            if self._read < len(sources):
                self._read += 1
                self._admit(sources[self._read - 1])
        return touched

    def _admit(self, source: int) -> None:
        """Takes a new source into its class."""
        graph, hidden, first, leader, waiting = self.graph, self.hidden, self._first, self._leader, self._waiting
        self.is_source[source] = 1
        root = source
        missing = 0
        for child in graph.children[graph.child_start[source] : graph.child_start[source + 1]]:
            left = hidden[child] - 1
            hidden[child] = left
            other = first[child]
            if other < 0:
                first[child] = source
                if left:
                    missing += 1
                continue
            while leader[other] != other:
                leader[other] = leader[leader[other]]
                other = leader[other]
            if not left:
                missing -= 1
            if other != root:
                leader[root] = other
                self._next[root], self._next[other] = self._next[other], self._next[root]
                missing += waiting[other]
                root = other
                waiting[root] = 0
        waiting[root] += missing
        if not waiting[root]:
            self._complete.append(root)

    def _detach(self, root: int, touched: list[int]) -> None:
        """Takes a complete class out; what it made sources waits to be admitted."""
        graph, first = self.graph, self._first
        starts, children = graph.child_start, graph.children
        nonsinks = [root]
        other = self._next[root]
        while other != root:
            nonsinks.append(other)
            other = self._next[other]
        if len(nonsinks) > 1:
            nonsinks.sort()
            sinks = [
                child
                for source in nonsinks
                for child in children[starts[source] : starts[source + 1]]
                if first[child] == source
            ]
        else:
            sinks = children[starts[root] : starts[root + 1]]
        touched += nonsinks
        touched += sinks
        for source in nonsinks:
            self.is_gone[source] = 1
        self.close(nonsinks, sinks)

    def close(self, nonsinks: list[int], sinks: list[int]) -> None:
        """Notes a component; its sinks become sources, or go with it where they are sinks of the whole."""
        starts = self.graph.child_start
        if not sinks:
            self.parts.singles += nonsinks
            return
        self.parts.nonsinks.append(nonsinks)
        self.parts.sinks.append(sinks)
        for sink in sinks:
            if starts[sink + 1] > starts[sink]:
                self.sources.append(sink)
            else:
                self.is_gone[sink] = 1

    def lose_parent(self, child: int) -> None:
        """A job loses a parent that was detached from inside a component which the job is not in."""
        starts, lost = self.graph.parent_start, self.parts.lost_parents
        lost[child] = lost.get(child, 0) + 1
        self.hidden[child] -= 1
        if lost[child] == starts[child + 1] - starts[child]:
            self.sources.append(child)
        elif not self.hidden[child] and self._first[child] >= 0:
            root = self._find(self._first[child])
            self._waiting[root] -= 1
            if not self._waiting[root]:
                self._complete.append(root)

    def _find(self, source: int) -> int:
        while self._leader[source] != source:
            source = self._leader[source]
        return source

    def alive_sources(self) -> Iterator[int]:
        """Every source that is not detached yet; may be asked again while components are detached."""
        at = 0
        while at < len(self.sources):
            if not self.is_gone[self.sources[at]]:
                yield self.sources[at]
            else:
                at += 1
