"""Dag: the flat, immutable graph that policies look at.

Nodes are numbered in file order. Children and parents are in compressed rows (CSR) in standard-library arrays, which
NumPy can view without copying, so that small commands need not import it. A milestone is a node of no work: a barrier.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise

from headway.model.errors import CycleError
from headway.model.record import record
from headway.model.rows import rows, turned_rows


@record
class Path:
    """A longest path: what it takes, and the jobs on it."""

    seconds: float
    nodes: tuple[int, ...]


@record
class Schedule:
    """TrellisDAG's minimal schedule: what a model run on endless processors takes (section 4.1)."""

    makespan: float
    starts: Sequence[float]
    concurrency: Sequence[tuple[float, int]]  # from this time on, so many jobs run


class Dag:
    """Built once, never changed, never cyclic: a cycle is a CycleError here and nowhere later."""

    def __init__(
        self,
        names: Sequence[str],
        arcs_from: Sequence[int],
        arcs_to: Sequence[int],
        seconds: Sequence[float | None] | None = None,
        milestones: bytes | None = None,
    ) -> None:
        self.names = names
        self.milestones = milestones if milestones is not None else bytes(len(names))
        self._seconds = seconds
        self.child_start, self.children = rows(len(names), arcs_from, arcs_to)
        self.order, self._depth = self._sorted()

    def __len__(self) -> int:
        return len(self.names)

    def children_of(self, node: int) -> Sequence[int]:
        return self.children[self.child_start[node] : self.child_start[node + 1]]

    def parents_of(self, node: int) -> Sequence[int]:
        return self.parents[self.parent_start[node] : self.parent_start[node + 1]]

    @property
    def parent_start(self) -> array[int]:
        return self._parent_rows[0]

    @property
    def parents(self) -> array[int]:
        return self._parent_rows[1]

    @cached_property
    def _parent_rows(self) -> tuple[array[int], array[int]]:
        return turned_rows(len(self), self.child_start, self.children)

    def arcs(self) -> Iterator[tuple[int, int]]:
        """Every arc between two nodes, milestones included."""
        for node in range(len(self)):
            for child in self.children_of(node):
                yield node, child

    def jobs(self) -> Iterator[int]:
        """The nodes that are jobs."""
        return (node for node, milestone in enumerate(self.milestones) if not milestone)

    @cached_property
    def job_count(self) -> int:
        return self.milestones.count(0)

    # --- order -------------------------------------------------------------------------------------------------

    def _sorted(self) -> tuple[array[int], array[int]]:
        """A topological order, first come first served, and how many steps above each node there are at most."""
        size = len(self)
        waiting = array("i", bytes(4 * size))
        for child in self.children:
            waiting[child] += 1
        depth = array("i", bytes(4 * size))
        order = array("i", [node for node, count in enumerate(waiting) if not count])
        starts, children = self.child_start, self.children
        for node in order:  # grows while it is read
            first, end = starts[node], starts[node + 1]
            if first == end:
                continue
            below = depth[node] + 1
            for child in children[first:end]:
                left = waiting[child] - 1
                waiting[child] = left
                if not left:
                    depth[child] = below  # the last parent served is a deepest one
                    order.append(child)
        if len(order) < size:
            raise CycleError([self.names[node] for node in self._cycle(waiting)])
        return order, depth

    def _cycle(self, waiting: array[int]) -> list[int]:
        """A cycle among the nodes still waiting: each of them has a parent that waits as well."""
        node = next(node for node, count in enumerate(waiting) if count)
        seen: dict[int, int] = {}
        trail: list[int] = []
        while node not in seen:
            seen[node] = len(trail)
            trail.append(node)
            node = next(parent for parent in self.parents_of(node) if waiting[parent])
        cycle = trail[seen[node] :]
        cycle.reverse()
        first = cycle.index(min(cycle))
        return cycle[first:] + cycle[:first]

    @cached_property
    def level_of(self) -> array[int]:
        """The most jobs that any way to the node passes: a milestone adds none."""
        if self.job_count == len(self):
            return self._depth
        level = array("i", bytes(4 * len(self)))
        for node in self.order:
            below = level[node] + (not self.milestones[node])
            for child in self.children_of(node):
                if level[child] < below:
                    level[child] = below
        return level

    @cached_property
    def levels(self) -> list[int]:
        """How many jobs there are on each level."""
        is_job = self.milestones.translate(_NOT)
        sizes = Counter(compress(self.level_of, is_job))
        return [sizes[level] for level in range(len(sizes))]

    @property
    def width(self) -> int:
        """The largest level."""
        return max(self.levels, default=0)

    @property
    def depths(self) -> Sequence[int]:
        """The most arcs on any way to each node."""
        return self._depth

    # --- arcs between jobs -------------------------------------------------------------------------------------

    @cached_property
    def arc_count(self) -> int:
        """Pairs of jobs joined by an arc, or by a way through milestones alone."""
        if self.job_count == len(self):
            return len(self.children)
        return sum(count for count, _ in self._through())

    def job_children(self, node: int) -> list[int]:
        """The jobs after a node, seen through milestones, without doubles."""
        return self._jobs_beyond(node, self.children_of)

    def job_parents(self, node: int) -> list[int]:
        """The jobs before a node, seen through milestones, without doubles."""
        return self._jobs_beyond(node, self.parents_of)

    def _jobs_beyond(self, node: int, next_to: Callable[[int], Sequence[int]]) -> list[int]:
        found: dict[int, None] = {}
        stack = list(reversed(next_to(node)))
        seen: set[int] = set()
        while stack:
            at = stack.pop()
            if not self.milestones[at]:
                found[at] = None
            elif at not in seen:
                seen.add(at)
                stack.extend(reversed(next_to(at)))
        return list(found)

    def _through(self) -> Iterator[tuple[int, int]]:
        """For each job the number of its job children, and its node. Jobs before the same barriers share one set."""
        beyond: dict[int, frozenset[int]] = {}  # milestone -> jobs after it
        for node in reversed(self.order):
            if self.milestones[node]:
                barriers, direct = self._barriers_and_jobs(node)
                beyond[node] = _union([frozenset(direct), *(beyond[barrier] for barrier in barriers)])
        unions: dict[tuple[int, ...], frozenset[int]] = {}
        for node in self.jobs():
            barriers, direct = self._barriers_and_jobs(node)
            if not barriers:
                yield len(direct), node
                continue
            union = unions.get(barriers)
            if union is None:
                union = unions[barriers] = _union([beyond[barrier] for barrier in barriers])
            yield len(union) + sum(child not in union for child in direct), node

    def _barriers_and_jobs(self, node: int) -> tuple[tuple[int, ...], list[int]]:
        """A node's children: the milestones, sorted, and the jobs."""
        children, milestones = self.children_of(node), self.milestones
        barriers = tuple(sorted(child for child in children if milestones[child]))
        return barriers, [child for child in children if not milestones[child]]

    # --- time --------------------------------------------------------------------------------------------------

    @cached_property
    def seconds(self) -> array[float]:
        """Expected run times; 0 for milestones and where none is known."""
        if self._seconds is None:
            return array("d", bytes(8 * len(self)))
        pairs = zip(self._seconds, self.milestones, strict=True)
        return array("d", [0.0 if milestone else value or 0.0 for value, milestone in pairs])

    @property
    def told_seconds(self) -> Sequence[float | None] | None:
        """Expected run times as the workflow tells them; None where it tells none."""
        return self._seconds

    @cached_property
    def timed(self) -> int:
        """How many jobs have a run time."""
        if self._seconds is None:
            return 0
        pairs = zip(self._seconds, self.milestones, strict=True)
        return sum(value is not None and not milestone for value, milestone in pairs)

    @cached_property
    def work(self) -> float:
        """Run time of all jobs together."""
        return sum(self.seconds)

    @cached_property
    def critical_path(self) -> Path:
        """A path that takes longest; among equals, and where no run time is known, one with the most jobs."""
        _, lead, node, total = self._model_run
        trail = []
        while node >= 0:
            if not self.milestones[node]:
                trail.append(node)
            node = lead[node]
        return Path(total, tuple(reversed(trail)))

    @cached_property
    def minimal_schedule(self) -> Schedule:
        """Every job starts the moment its parents are done, on processors without end."""
        starts, _, _, makespan = self._model_run
        taken = self.seconds
        begun = Counter(compress(starts, taken))
        ended = Counter(start + seconds for start, seconds in zip(starts, taken, strict=True) if seconds)
        times = sorted(begun.keys() | ended.keys())
        running = accumulate(begun[time] - ended[time] for time in times)
        return Schedule(makespan, starts, list(zip(times, running, strict=True)))

    @cached_property
    def _model_run(self) -> tuple[array[float], array[int], int, float]:
        """Earliest starts; the parent each node then waits for (-1: none); the node that ends last, and when."""
        size = len(self)
        starts = array("d", bytes(8 * size))
        before = array("i", bytes(4 * size))  # jobs on the longest path to the node
        lead = array("i", [-1]) * size
        last, latest, most = -1, 0.0, 0
        seconds, milestones = self.seconds, self.milestones
        row_starts, children = self.child_start, self.children
        for node in self.order:
            end = starts[node] + seconds[node]
            jobs = before[node] + (not milestones[node])
            if end > latest or (end == latest and jobs > most):
                last, latest, most = node, end, jobs
            first, stop = row_starts[node], row_starts[node + 1]
            if first == stop:
                continue
            for child in children[first:stop]:
                if end > starts[child] or (end == starts[child] and jobs > before[child]):
                    starts[child], before[child], lead[child] = end, jobs, node
        return starts, lead, last, latest

    def with_seconds(self, seconds: Sequence[float | None]) -> Dag:
        """The same graph with other run times; what does not depend on them is shared."""
        other = object.__new__(Dag)
        other.names, other.milestones, other._seconds = self.names, self.milestones, seconds
        other.child_start, other.children = self.child_start, self.children
        other.order, other._depth, other.level_of = self.order, self._depth, self.level_of
        return other

    # --- reduction ---------------------------------------------------------------------------------------------

    def reduced(self) -> Dag:
        """The same order with no shortcut arcs: the transitive reduction."""
        from headway.model.reduction import needed_arcs  # most commands never ask

        starts, children = needed_arcs(self)
        arcs_from = array("i")
        for node, (first, end) in enumerate(pairwise(starts)):
            arcs_from.extend([node] * (end - first))
        return Dag(self.names, arcs_from, children, self._seconds, self.milestones)


_NOT = bytes([1]) + bytes(255)


def _union(parts: list[frozenset[int]]) -> frozenset[int]:
    """All of the sets together; one of them, not a copy, where it holds the others."""
    largest = max(parts, key=len)
    if all(part is largest or part <= largest for part in parts):
        return largest
    return largest.union(*parts)
