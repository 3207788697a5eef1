"""Smallest closed subgraphs where no bipartite one is left.

C(s) is what s reaches along "job to its parents, source to its children". So the smallest ones are the strongly
connected components with no way out, and the first such component that a depth-first search (Gabow's, path-based)
completes is one. Detaching it leaves the rest of the search valid but for its last step, so the search goes on from
there: all components together cost two looks at every arc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.policies.what_next.prio.decompose import Decomposition


class Tangles:
    """One search over what a decomposition has left."""

    def __init__(self, decomposition: Decomposition) -> None:
        size = decomposition.graph.size
        self.decomposition = decomposition
        self.place = [-1] * size  # where on the stack
        self.at = [0] * size  # the next arc to follow
        self.as_source = bytearray(size)  # whether that is an arc to a child
        self.stack: list[int] = []
        self.path: list[int] = []
        self.bounds: list[int] = []  # where on the stack the groups begin that are strongly connected so far

    def run(self) -> None:
        """Detaches all that is left."""
        for source in self.decomposition.alive_sources():
            self._visit(source)
            while self.path:
                closed = self._first_closed()
                if closed is not None:
                    self._forget(closed)
                    self._detach(closed)
                    self._forget(self.decomposition.settle())
                    self._resume()

    def _visit(self, node: int) -> None:
        self.place[node] = len(self.stack)
        self.bounds.append(len(self.stack))
        self.stack.append(node)
        self.path.append(node)
        self._rewind(node)

    def _rewind(self, node: int) -> None:
        graph, is_source = self.decomposition.graph, self.decomposition.is_source[node]
        self.as_source[node] = is_source
        self.at[node] = graph.child_start[node] if is_source else graph.parent_start[node]

    def _first_closed(self) -> list[int] | None:
        """Searches until something is closed, or nothing is left to follow from the path's end."""
        graph, is_gone, place, bounds = self.decomposition.graph, self.decomposition.is_gone, self.place, self.bounds
        node = self.path[-1]
        if self.as_source[node]:
            row, end = graph.children, graph.child_start[node + 1]
        else:
            row, end = graph.parents, graph.parent_start[node + 1]
        at = self.at[node]
        while at < end:
            other = row[at]
            at += 1
            if is_gone[other]:
                continue
            if place[other] < 0:
                self.at[node] = at
                self._visit(other)
                return None
            while bounds[-1] > place[other]:
                bounds.pop()
        self.at[node] = at
        self.path.pop()
        if bounds[-1] != place[node]:
            return None
        bounds.pop()
        return self.stack[place[node] :]

    def _forget(self, nodes: list[int]) -> None:
        for node in nodes:
            self.place[node] = -1

    def _resume(self) -> None:
        """Cuts off what was detached, all of it at the end of the stack, and takes the last step again."""
        while self.stack and self.place[self.stack[-1]] < 0:
            self.stack.pop()
        while self.path and self.place[self.path[-1]] < 0:
            self.path.pop()
        while self.bounds and self.bounds[-1] >= len(self.stack):
            self.bounds.pop()
        if self.path:
            last = self.path[-1]
            if self.as_source[last] == self.decomposition.is_source[last]:
                self.at[last] -= 1
            else:
                self._rewind(last)

    def _detach(self, closed: list[int]) -> None:
        """Removes the non-sinks of a closed subgraph, and tells their children outside of it."""
        decomposition = self.decomposition
        graph, parts = decomposition.graph, decomposition.parts
        members = set(closed)
        nonsinks, sinks, strays = [], [], []
        for node in sorted(closed):
            row = graph.children[graph.child_start[node] : graph.child_start[node + 1]]
            outside = [child for child in row if child not in members]
            if len(outside) == len(row):
                sinks.append(node)
            else:
                nonsinks.append(node)
                strays += [(node, child) for child in outside]
        number = len(parts.nonsinks)
        parts.tangled[number] = members
        if strays:
            parts.strays[number] = strays
        for node in nonsinks:
            decomposition.is_gone[node] = 1
        decomposition.close(nonsinks, sinks)
        for _, child in strays:
            decomposition.lose_parent(child)
