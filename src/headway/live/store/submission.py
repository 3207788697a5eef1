"""A workflow as it goes into a store: rows and arcs, ready to be written in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from headway.live.spec import Spec
from headway.live.store.words import kept
from headway.model.flatten import Flat
from headway.model.states import State


class Submission:
    """The graph of a workflow with a rank for every job."""

    def __init__(self, name: str, source: str, directory: str, flat: Flat, ranks: Sequence[int]) -> None:
        self.name = name
        self.source = source
        self.directory = directory
        self._flat = flat
        self._ranks = ranks
        self._specs = [None if job is None else Spec.of(job).text() for job in flat.jobs]
        self._settle()
        self.digest = self._digest()

    def _settle(self) -> None:
        """Who may run at once, in order; milestones that wait for nothing are done, and count down what follows."""
        dag = self._flat.dag
        size = len(dag)
        self._waiting = [dag.parent_start[node + 1] - dag.parent_start[node] for node in range(size)]
        self._states = [State.WAITING] * size
        self._arrival = [0] * size
        self.arrivals = 0
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

    def _digest(self) -> str:
        """Of names, commands and arcs: the same file gives the same, an edited one another."""
        known = hashlib.sha256()
        for name, spec in zip(self._flat.dag.names, self._specs, strict=True):
            known.update(f"{name}\0{spec}\0".encode("utf-8", "surrogateescape"))
        known.update(self._flat.dag.child_start.tobytes())
        known.update(self._flat.dag.children.tobytes())
        return known.hexdigest()

    def rows(self) -> Iterator[tuple[int, ...]]:
        """job, milestone, state, rank, arrival, waiting_for, retries, cores."""
        known = zip(self._flat.jobs, self._states, self._ranks, self._arrival, self._waiting, strict=True)
        for node, (job, state, rank, arrival, waiting) in enumerate(known):
            if job is None:
                yield node, 1, int(state), rank, arrival, waiting, 0, 0
            else:
                yield node, 0, int(state), rank, arrival, waiting, job.rules.retries, job.resources.cores

    def specs(self) -> Iterator[tuple[object, ...]]:
        """job, name, time, seconds, spec; milestones have none."""
        for node, (job, name, spec) in enumerate(zip(self._flat.jobs, self._flat.dag.names, self._specs, strict=True)):
            if job is not None:
                yield node, kept(name), job.resources.time, job.seconds, spec

    def arcs(self) -> Iterator[tuple[int, int, bool]]:
        """parent, child, weak."""
        weak = self._flat.weak
        return ((parent, child, (parent, child) in weak) for parent, child in self._flat.dag.arcs())
