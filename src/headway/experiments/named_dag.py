"""A dag by the names of its jobs, as generators make it."""

from __future__ import annotations

import random
from typing import Any

from headway.model.dag import Dag
from headway.model.record import field, mutable


@mutable
class PaperDag:
    """A dag by names: jobs in file order, arcs, run times in seconds where the paper has other than unit ones."""

    name: str
    jobs: list[str] = field(default_factory=list)
    edges: list[tuple[str, str]] = field(default_factory=list)
    runtime: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    def job(self, name: str, seconds: float | None = None) -> str:
        self.jobs.append(name)
        if seconds is not None:
            self.runtime[name] = seconds
        return name

    def arc(self, parent: str, child: str) -> None:
        self.edges.append((parent, child))

    def shuffled(self, seed: int) -> PaperDag:
        """The same with its jobs in another order of the file, which first come, first served depends on."""
        jobs = self.jobs[:]
        random.Random(seed).shuffle(jobs)
        return PaperDag(self.name, jobs, self.edges, self.runtime, self.info)

    def dag(self) -> Dag:
        """As policies see it."""
        number = {job: at for at, job in enumerate(self.jobs)}
        seconds = [self.runtime.get(job) for job in self.jobs] if self.runtime else None
        return Dag(
            self.jobs,
            [number[parent] for parent, _ in self.edges],
            [number[child] for _, child in self.edges],
            seconds,
        )

    def dagman(self) -> str:
        """Text of a DAGMan file."""
        children: dict[str, list[str]] = {}
        for parent, child in self.edges:
            children.setdefault(parent, []).append(child)
        lines = [f"Job {job} {job}.submit" for job in self.jobs]
        lines += [f"Parent {job} Child {' '.join(children[job])}" for job in self.jobs if job in children]
        return "\n".join(lines) + "\n"
