"""A workflow as it goes into a store: rows and arcs, ready to be written in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway.live import rules as kept_rules
from headway.live.spec import Spec, is_open
from headway.live.store.words import kept
from headway.model.flatten import Flat
from headway.model.job import HERE, PLAIN, Job, Rules
from headway.model.record import field, mutable
from headway.model.states import Kind, State

SERVICE_RANK = -(2**31)  # before everything else


@mutable
class _Entry:
    """A row of the store: a node of the dag, one of its processes, or a node outside the dag."""

    name: str
    kind: Kind
    job: Job
    rank: int
    state: State
    waiting: int
    owner: int | None = None
    late: int | None = None


@mutable
class Outside:
    """The nodes outside the order of a workflow: what each is, its name, and its job."""

    nodes: Sequence[tuple[Kind, str, Job]] = ()
    throttles: Mapping[str, int] = field(default_factory=dict)


class Submission:
    """The graph of a workflow with a rank for every job."""

    def __init__(
        self,
        name: str,
        source: str,
        directory: str,
        flat: Flat,
        ranks: Sequence[int],
        outside: Outside | None = None,
        what_next: str = "fifo",
    ) -> None:
        self.name = name
        self.source = source
        self.directory = directory
        self.what_next = what_next
        self.warnings: Sequence[str] = ()  # what its user should know before it runs
        self._flat = flat
        self._ranks = _with_priorities(flat, ranks)
        self._outside = outside or Outside()
        self._specs = [None if job is None else _spec(job) for job in flat.jobs]
        self._lanes: dict[tuple[str | None, tuple[tuple[str, int], ...]], int] = {(None, ()): 0}
        self._settle()
        self._extra = self._beyond_the_dag()
        self.digest = self._digest()
        self._nodes = list(self._all_nodes())
        self.lanes_of = [self._lane(job) for job in flat.jobs] if self._has_lanes() else None

    @property
    def final(self) -> int | None:
        """The place of the job that runs last, whatever happened."""
        for place, entry in enumerate(self._extra, len(self._flat.jobs)):
            if entry.kind is Kind.FINAL:
                return place
        return None

    @property
    def special(self) -> bool:
        """Whether there is more to it than jobs and arcs."""
        return bool(self._nodes or self._extra or len(self._lanes) > 1)

    def _settle(self) -> None:
        """Who may run at once, in order; milestones that wait for nothing are done, and count down what follows."""
        dag = self._flat.dag
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
            job = self._flat.jobs[node]
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

    def _beyond_the_dag(self) -> list[_Entry]:
        """The processes of nodes that have several, and the nodes outside the order."""
        found: list[_Entry] = []
        for node, job in enumerate(self._flat.jobs):
            if job is not None and job.parts:
                name, rank = self._flat.dag.names[node], self._ranks[node]
                found += [
                    _Entry(f"{name}/{number}", Kind.PART, part, rank, State.WAITING, 0, owner=node)
                    for number, part in enumerate(job.parts)
                ]
        for kind, name, job in self._outside.nodes:
            state = State.WAITING if kind is Kind.FINAL else State.ELIGIBLE
            found.append(_Entry(name, kind, job, SERVICE_RANK, state, int(kind is Kind.FINAL)))
        return found

    def _digest(self) -> str:
        """Of names, commands, rules and arcs: the same file gives the same, an edited one another."""
        known = _sha256()
        for name, spec in zip(self._flat.dag.names, self._specs, strict=True):
            known.update(f"{name}\0{spec}\0".encode("utf-8", "surrogateescape"))
        for job in self._flat.jobs:
            if job is not None and job.rules is not PLAIN and (said := kept_rules.text(job.rules)):
                known.update(said.encode())
        for entry in self._extra:
            known.update(f"{entry.name}\0{Spec.of(entry.job).text()}\0".encode("utf-8", "surrogateescape"))
        known.update(self._flat.dag.child_start.tobytes())
        known.update(self._flat.dag.children.tobytes())
        return str(known.hexdigest())

    def definitions(self) -> list[str | None]:
        """What each node is, None for a milestone: to be compared with what it was."""
        found = list[str | None]()
        for job, spec in zip(self._flat.jobs, self._specs, strict=True):
            rules = None if job is None or job.rules is PLAIN else kept_rules.text(job.rules)
            found.append(None if spec is None else definition(spec, rules))
        return found

    # --- lanes -----------------------------------------------------------------------------------------------------

    def _has_lanes(self) -> bool:
        for job in self._flat.jobs:
            if job is not None and (job.resources.named or job.rules.category is not None):
                self._lane(job)
        for entry in self._extra:
            self._lane(entry.job)
        return len(self._lanes) > 1

    def _lane(self, job: Job | None) -> int:
        """The lane of a job: those of one category that want the same resources share it."""
        if job is None:
            return 0
        category = job.rules.category if job.rules.category in self._outside.throttles else None
        return self._lanes.setdefault((category, job.resources.named), len(self._lanes))

    def lanes(self) -> Iterator[tuple[int, str | None, int | None, str]]:
        """lane, category, most, named; without the plain one."""
        for (category, named), lane in self._lanes.items():
            if lane:
                most = None if category is None else self._outside.throttles[category]
                yield lane, None if category is None else kept(category), most, json.dumps(named)

    # --- rows ------------------------------------------------------------------------------------------------------

    def rows(self) -> Iterator[tuple[int, ...]]:
        """job, kind, state, rank, arrival, waiting_for, retries, cores, lane, memory."""
        special = {node for node, *_ in self._nodes}
        lanes = self.lanes_of
        known = zip(self._flat.jobs, self._states, self._ranks, self._arrival, self._waiting, strict=True)
        for node, (job, state, rank, arrival, waiting) in enumerate(known):
            if job is None:
                yield node, 1, int(state), rank, arrival, waiting, 0, 0, 0, 0
                continue
            kind = Kind.NODE if node in special else Kind.JOB
            lane = lanes[node] if lanes is not None else 0
            cores = 0 if job.parts else job.resources.cores
            memory = 0 if job.parts else job.resources.memory or 0
            yield node, int(kind), int(state), rank, arrival, waiting, job.rules.retries, cores, lane, memory
        for node, entry in enumerate(self._extra, len(self._flat.jobs)):
            job, beside = entry.job, entry.kind in (Kind.SERVICE, Kind.PROVISIONER)
            cores, retries = 0 if beside else job.resources.cores, job.rules.retries
            lane, memory = self._lane(job) if entry.kind is not Kind.PART else 0, job.resources.memory or 0
            yield node, int(entry.kind), int(entry.state), entry.rank, 0, entry.waiting, retries, cores, lane, memory

    def _all_nodes(self) -> Iterator[tuple[object, ...]]:
        for node, job in enumerate(self._flat.jobs):
            if job is not None:
                late = self._flat.late.get(node)
                filled = job.again or is_open(self._specs[node] or "")
                if late is not None or job.parts or filled or kept_rules.has_rules(job.rules):
                    yield node, int(job.rules.begins), kept_rules.text(job.rules), len(job.parts), None, late
        for node, entry in enumerate(self._extra, len(self._flat.jobs)):
            rules: Rules = PLAIN if entry.kind is Kind.PART else entry.job.rules
            yield node, int(rules.begins), kept_rules.text(rules), 0, entry.owner, None

    def nodes(self) -> Iterator[tuple[object, ...]]:
        """job, first step, rules, parts, owner, late: of every job that is more than a command."""
        return iter(self._nodes)

    def specs(self) -> Iterator[tuple[object, ...]]:
        """job, name, time, seconds, spec; milestones have none."""
        for node, (job, name, spec) in enumerate(zip(self._flat.jobs, self._flat.dag.names, self._specs, strict=True)):
            if job is not None:
                yield node, kept(name), job.resources.time, job.seconds, spec
        for node, entry in enumerate(self._extra, len(self._flat.jobs)):
            job = entry.job
            yield node, kept(entry.name), job.resources.time, job.seconds, Spec.of(job).text()

    def arcs(self) -> Iterator[tuple[int, int, bool]]:
        """parent, child, weak."""
        weak = self._flat.weak
        for parent, child in self._flat.dag.arcs():
            yield parent, child, (parent, child) in weak
        for place, entry in enumerate(self._extra, len(self._flat.jobs)):
            if entry.kind is Kind.PROVISIONER:
                for root in self._roots:
                    yield place, root, False

    def groups(self) -> Iterator[tuple[int, str, int, int]]:
        """place, path, first, last: the groups of more than one job."""
        for place, (path, first, last) in enumerate(self._flat.groups):
            yield place, kept(path), first, last


def _spec(job: Job) -> str:
    """What a job runs, as the store keeps it. Most jobs are a command and nothing else: no more is made of them."""
    command = job.command or "{"
    is_plain = job.setting is HERE and job.rules is PLAIN and not (job.outputs or job.again)
    if is_plain and not command.startswith("{") and kept(command) == command:
        return command
    return Spec.of(job).text()


def _sha256() -> Any:
    """The same as hashlib's, from where hashlib has it, without OpenSSL's: loading that takes 3 ms of a short run."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    return sha256()


def definition(spec: str, rules: str | None) -> str:
    """What a job is, as one text."""
    return spec if rules is None else f"{spec}\0{rules}"


def _with_priorities(flat: Flat, ranks: Sequence[int]) -> Sequence[int]:
    """What the file itself puts first comes first; the policy orders the rest."""
    own = [0 if job is None else job.rules.priority for job in flat.jobs]
    if not any(own):
        return ranks
    pairs = [(-priority, rank) for priority, rank in zip(own, ranks, strict=True)]
    place = {pair: at for at, pair in enumerate(sorted(set(pairs)))}
    return [place[pair] for pair in pairs]
