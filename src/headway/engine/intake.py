"""A workflow as it comes in: which rows it has, who may run at once, and who waits for how many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from headway.model.flatten import Flat
from headway.model.job import PLAIN, Job, Rules
from headway.model.record import field, mutable
from headway.model.states import Kind, State

SERVICE_RANK = -(2**31)  # before everything else
# What the rules of progress act on once a workflow has come in. A job with one of these is a node.
_ACTED_ON = ("unless_exit", "pre", "post", "pre_skip", "abort_on", "tolerance", "back_off", "more_memory", "success")
_LaneKey = tuple[str | None, tuple[tuple[str, int], ...]]  # a category that is throttled, named resources


def has_rules(rules: Rules) -> bool:
    """Whether a job is more than a command with retries."""
    return rules is not PLAIN and any(getattr(rules, name) != getattr(PLAIN, name) for name in _ACTED_ON)


@mutable
class Entry:
    """A row beyond the dag: one of a node's processes, or a node outside the order."""

    name: str
    kind: Kind
    job: Job
    rank: int
    state: State
    waiting: int
    owner: int | None = None


@mutable
class Outside:
    """The nodes outside the order of a workflow: what each is, its name, and its job."""

    nodes: Sequence[tuple[Kind, str, Job]] = ()
    throttles: Mapping[str, int] = field(default_factory=dict)


class Intake:
    """The graph of a workflow with a rank for every job, as rows.

    It is worked out for all rows at once, for a million of them in seconds; engine.progress says the same of each
    (tests/engine/test_intake.py).
    """

    def __init__(
        self, flat: Flat, ranks: Sequence[int], outside: Outside | None = None, filled: Collection[int] = ()
    ) -> None:
        """`filled`: jobs of which something is filled in each time they are given out."""
        self.flat = flat
        self._filled = filled
        self._ranks = _with_priorities(flat, ranks)
        self._outside = outside or Outside()
        self._lanes: dict[_LaneKey, int] = {(None, ()): 0}
        self._settle()
        self.extra = self._beyond_the_dag()
        self._nodes = list(self._all_nodes())
        self._lanes_of = [self._lane(job) for job in flat.jobs] if self._has_lanes() else None

    @property
    def final(self) -> int | None:
        """The place of the job that runs last, whatever happened."""
        for place, entry in enumerate(self.extra, len(self.flat.jobs)):
            if entry.kind is Kind.FINAL:
                return place
        return None

    @property
    def special(self) -> bool:
        """Whether there is more to it than jobs and arcs."""
        return bool(self._nodes or self.extra or len(self._lanes) > 1)

    def _settle(self) -> None:
        """Who may run at once, in order; milestones that wait for nothing are done, and count down what follows."""
        dag = self.flat.dag
        size = len(dag)
        self._waiting = [dag.parent_start[node + 1] - dag.parent_start[node] for node in range(size)]
        self._states = [State.WAITING] * size
        self._arrival = [0] * size
        self.arrivals = 0
        awaited = any(kind is Kind.PROVISIONER for kind, _, _ in self._outside.nodes)
        self._roots = [node for node in range(size) if awaited and not self._waiting[node]]
        for node in self._roots:
            self._waiting[node] = 1
        for node in dag.order:
            job = self.flat.jobs[node]
            if self._waiting[node] and not (job is not None and job.rules.done):
                continue
            if job is None or job.rules.done:
                self._states[node] = State.DONE
                for child in dag.children_of(node):
                    self._waiting[child] -= 1
            else:
                self._states[node] = State.ELIGIBLE
        for node in range(size):
            if self._states[node] is State.ELIGIBLE:
                self.arrivals += 1
                self._arrival[node] = self.arrivals

    def _beyond_the_dag(self) -> list[Entry]:
        """The processes of nodes that have several, and the nodes outside the order."""
        found: list[Entry] = []
        for node, job in enumerate(self.flat.jobs):
            if job is not None and job.parts:
                name, rank = self.flat.dag.names[node], self._ranks[node]
                found += [
                    Entry(f"{name}/{number}", Kind.PART, part, rank, State.WAITING, 0, owner=node)
                    for number, part in enumerate(job.parts)
                ]
        for kind, name, job in self._outside.nodes:
            state = State.WAITING if kind is Kind.FINAL else State.ELIGIBLE
            found.append(Entry(name, kind, job, SERVICE_RANK, state, int(kind is Kind.FINAL)))
        return found

    # --- lanes -----------------------------------------------------------------------------------------------------

    def _has_lanes(self) -> bool:
        for job in self.flat.jobs:
            if job is not None and (job.resources.counted or job.rules.category is not None):
                self._lane(job)
        for entry in self.extra:
            self._lane(entry.job, entry.kind)
        return len(self._lanes) > 1

    def _lane(self, job: Job | None, kind: Kind = Kind.JOB) -> int:
        """The lane of a job: those of one category that want the same resources share it.

        A category counts nodes. Their processes each take the resources, but are not counted again.
        """
        if job is None:
            return 0
        is_counted = kind is not Kind.PART and job.rules.category in self._outside.throttles
        category = job.rules.category if is_counted else None
        return self._lanes.setdefault((category, job.resources.counted), len(self._lanes))

    def all_lanes(self) -> Iterator[tuple[int, str | None, int | None, tuple[tuple[str, int], ...]]]:
        """lane, category, most, named; without the plain one."""
        for (category, named), lane in self._lanes.items():
            if lane:
                yield lane, category, None if category is None else self._outside.throttles[category], named

    # --- rows ------------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[tuple[int, ...]]:
        """job, kind, state, rank, arrival, waiting_for, retries, cores, lane, memory."""
        special = {node for node, *_ in self._nodes}
        lanes = self._lanes_of
        known = zip(self.flat.jobs, self._states, self._ranks, self._arrival, self._waiting, strict=True)
        for node, (job, state, rank, arrival, waiting) in enumerate(known):
            if job is None:
                yield node, 1, int(state), rank, arrival, waiting, 0, 0, 0, 0
                continue
            kind = Kind.NODE if node in special else Kind.JOB
            lane = lanes[node] if lanes is not None else 0
            cores = 0 if job.parts else job.resources.cores
            memory = 0 if job.parts else job.resources.memory or 0
            yield node, int(kind), int(state), rank, arrival, waiting, job.rules.retries, cores, lane, memory
        for node, entry in enumerate(self.extra, len(self.flat.jobs)):
            job, beside = entry.job, entry.kind in (Kind.SERVICE, Kind.PROVISIONER)
            cores, retries = 0 if beside else job.resources.cores, job.rules.retries
            lane, memory = self._lane(job, entry.kind), job.resources.memory or 0
            yield node, int(entry.kind), int(entry.state), entry.rank, 0, entry.waiting, retries, cores, lane, memory

    def _all_nodes(self) -> Iterator[tuple[int, Rules, int, int | None, int | None]]:
        for node, job in enumerate(self.flat.jobs):
            if job is not None:
                late = self.flat.late.get(node)
                if late is not None or job.parts or job.again or node in self._filled or has_rules(job.rules):
                    yield node, job.rules, len(job.parts), None, late
        for node, entry in enumerate(self.extra, len(self.flat.jobs)):
            yield node, entry.job.rules, 0, entry.owner, None

    def all_nodes(self) -> Iterator[tuple[int, Rules, int, int | None, int | None]]:
        """job, rules, parts, owner, late: of every job that is more than a command."""
        return iter(self._nodes)

    def arcs(self) -> Iterator[tuple[int, int, bool]]:
        """parent, child, weak."""
        weak = self.flat.weak
        for parent, child in self.flat.dag.arcs():
            yield parent, child, (parent, child) in weak
        for place, entry in enumerate(self.extra, len(self.flat.jobs)):
            if entry.kind is Kind.PROVISIONER:
                for root in self._roots:
                    yield place, root, False


def _with_priorities(flat: Flat, ranks: Sequence[int]) -> Sequence[int]:
    """What the file itself puts first comes first; the policy orders the rest."""
    own = [0 if job is None else job.rules.priority for job in flat.jobs]
    if not any(own):
        return ranks
    pairs = [(-priority, rank) for priority, rank in zip(own, ranks, strict=True)]
    place = {pair: at for at, pair in enumerate(sorted(set(pairs)))}
    return [place[pair] for pair in pairs]
