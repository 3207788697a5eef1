"""The plan of PRIO for a dag: its components, the schedule of each, and the order of them all."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush

from headway.model.dag import Dag
from headway.model.record import record
from headway.policies.what_next.prio.combine import Choice
from headway.policies.what_next.prio.decompose import Decomposition, Parts
from headway.policies.what_next.prio.families import Block, Budget, Schedule, schedule
from headway.policies.what_next.prio.graph import Graph, graph
from headway.policies.what_next.prio.priority import Key, Profile, runs


@record
class Component:
    """One component as reports show it."""

    kind: str
    jobs: int
    nonsinks: int
    r: float  # the least of its priorities over the others that could have been executed instead


class Plan:
    """All of section 3.1; nodes are those of `graph`."""

    def __init__(self, dag: Dag) -> None:
        self.dag_size = len(dag)
        self._milestones = dag.milestones
        self.graph: Graph = graph(dag)
        self.parts: Parts = Decomposition(self.graph).run()
        self.profiles: list[Profile] = []
        self.profile_of: list[int] = []  # by component
        self.kinds: list[str] = []
        self.proved: list[bool | None] = []
        self._schedule()
        self.sequence: list[int] = []  # components in the order of their execution
        self.least: list[float] = []  # and the least of the priorities each had then
        self._combine()

    def _schedule(self) -> None:
        """A schedule for each component, which its non-sinks are put in the order of (step 3)."""
        parts, budget = self.parts, Budget()
        number: dict[Key, int] = {}
        forks: dict[int, int] = {}
        for component, (nonsinks, sinks) in enumerate(zip(parts.nonsinks, parts.sinks, strict=True)):
            if component in parts.tangled:
                found = self._tangle(component)
            elif len(nonsinks) == 1:
                profile = forks.get(len(sinks))
                if profile is None:
                    profile = forks[len(sinks)] = self._profile((1, len(sinks) - 1, 1), number)
                self._note("V", profile, True)
                continue
            elif len(sinks) == 1:
                size = len(nonsinks)
                self._note("Λ", self._profile((size, -1, size - 1, 0, 1), number), True)
                continue
            else:
                found = schedule(Block(nonsinks, [self._parents(component, sink) for sink in sinks]), budget)
            parts.nonsinks[component] = found.order
            start = len(nonsinks) if component not in parts.tangled else self._sources_in(component)
            self._note(found.kind, self._profile((start, *runs(found.gains)), number), found.proved)

    def _note(self, kind: str, profile: int, proved: bool | None) -> None:
        self.kinds.append(kind)
        self.profile_of.append(profile)
        self.proved.append(proved)

    def _profile(self, key: Key, number: dict[Key, int]) -> int:
        found = number.get(key)
        if found is None:
            found = number[key] = len(self.profiles)
            self.profiles.append(Profile(key))
        return found

    def _parents(self, component: int, sink: int) -> Sequence[int]:
        """The parents of a sink inside its component."""
        graph = self.graph
        row = graph.parents[graph.parent_start[sink] : graph.parent_start[sink + 1]]
        if sink in self.parts.lost_parents:
            inside = set(self.parts.nonsinks[component])
            row = [parent for parent in row if parent in inside]
        return row

    # --- components that are not bipartite ---------------------------------------------------------------------

    def _sources_in(self, component: int) -> int:
        return sum(not count for count in self._missing(component).values())

    def _missing(self, component: int) -> dict[int, int]:
        """For each job of a component how many of its parents are in it."""
        graph, members = self.graph, self.parts.tangled[component]
        missing = dict.fromkeys(sorted(members), 0)
        for node in self.parts.nonsinks[component]:
            for child in graph.children[graph.child_start[node] : graph.child_start[node + 1]]:
                if child in members:
                    missing[child] += 1
        return missing

    def _tangle(self, component: int) -> Schedule:
        """Among the eligible non-sinks always the one with most children in the component."""
        graph, members = self.graph, self.parts.tangled[component]
        missing = self._missing(component)
        children = {}
        for node in self.parts.nonsinks[component]:
            row = graph.children[graph.child_start[node] : graph.child_start[node + 1]]
            children[node] = [child for child in row if child in members]
        heap = [(-len(children[node]), node) for node in children if not missing[node]]
        heapify(heap)
        order, gains = [], []
        while heap:
            _, node = heappop(heap)
            order.append(node)
            gain = -1
            for child in children[node]:
                missing[child] -= 1
                if not missing[child]:
                    gain += 1
                    if child in children:
                        heappush(heap, (-len(children[child]), child))
            gains.append(gain)
        return Schedule("general", order, gains, None)

    # --- the superdag ------------------------------------------------------------------------------------------

    def _combine(self) -> None:
        """Executes the superdag; what a component made eligible lets others follow."""
        graph, parts = self.graph, self.parts
        size = len(parts.nonsinks)
        home = [-1] * graph.size  # the component that a job is a non-sink of
        first = []
        for component, nonsinks in enumerate(parts.nonsinks):
            for node in nonsinks:
                home[node] = component
            first.append(min(nonsinks))
        after = [[home[sink] for sink in sinks if home[sink] >= 0] for sinks in parts.sinks]
        if parts.strays:
            self._add_strays(after, home)
        # Ties go to components that others follow, then by the file: what leads nowhere can wait.
        first = [least if row else least + graph.size for least, row in zip(first, after, strict=True)]
        waiting = [0] * size
        for row in after:
            for component in row:
                waiting[component] += 1
        choice = Choice(self.profiles)
        profile_of = self.profile_of
        for component in range(size):
            if not waiting[component]:
                choice.add(profile_of[component], first[component], component)
        sequence = self.sequence
        for _ in range(size):
            component, least = choice.take()
            self.least.append(least)
            sequence.append(component)
            for other in after[component]:
                waiting[other] -= 1
                if not waiting[other]:
                    choice.add(profile_of[other], first[other], other)

    def _add_strays(self, after: list[list[int]], home: list[int]) -> None:
        """An arc that leaves a component from inside leads to every component that its job is a member of."""
        tail = {sink: component for component, sinks in enumerate(self.parts.sinks) for sink in sinks}
        for component, strays in self.parts.strays.items():
            for _, child in strays:
                if home[child] >= 0:
                    after[component].append(home[child])
                if child in tail:
                    after[component].append(tail[child])

    # --- what it says ------------------------------------------------------------------------------------------

    @cached_property
    def order(self) -> list[int]:
        """The schedule of jobs: the non-sinks of each component in turn, and at last all sinks, as in the file."""
        starts, nonsinks = self.graph.child_start, self.parts.nonsinks
        order = [node for component in self.sequence for node in nonsinks[component]]
        order += [node for node in range(self.graph.size) if starts[node] == starts[node + 1]]
        nodes = self.graph.nodes
        if self.graph.barriers:
            return [node for node in order if not self._milestones[node]]
        return order if isinstance(nodes, range) else [nodes[node] for node in order]

    @cached_property
    def ranks(self) -> array[int]:
        """The place of each node of the dag in the schedule; milestones, which need no worker, come first."""
        place = array("i", bytes(4 * self.dag_size))
        for rank, node in enumerate(self.order):
            place[node] = rank
        return place

    @cached_property
    def components(self) -> list[Component]:
        """The components in the order of their execution; jobs that are one by themselves last."""
        nonsinks, sinks = self.parts.nonsinks, self.parts.sinks
        found = [
            Component(self.kinds[at], len(nonsinks[at]) + len(sinks[at]), len(nonsinks[at]), least)
            for at, least in zip(self.sequence, self.least, strict=True)
        ]
        return found + [Component("job", 1, 0, 1.0)] * len(self.parts.singles)
