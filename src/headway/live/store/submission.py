"""A workflow as it goes into a store: rows and arcs, ready to be written in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from headway.engine.intake import Intake, Outside
from headway.live.store import rules as kept_rules
from headway.live.store.spec import Spec, is_open
from headway.live.store.text import encode
from headway.model.flatten import Flat
from headway.model.job import HERE, PLAIN, Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Submission(Intake):
    """The rows of a workflow, with what a store keeps beside them: names, commands and rules, as text."""

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
        self._specs = [None if job is None else _spec(job) for job in flat.jobs]
        filled = {node for node, spec in enumerate(self._specs) if spec is not None and is_open(spec)}
        super().__init__(flat, ranks, outside, filled)
        self.name = name
        self.source = source
        self.directory = directory
        self.what_next = what_next
        self.warnings: Sequence[str] = ()  # what its user should know before it runs
        self.digest = self._digest()

    def _digest(self) -> str:
        """Of names, commands, rules and arcs: the same file gives the same, an edited one another."""
        known = _sha256()
        for name, spec in zip(self.flat.dag.names, self._specs, strict=True):
            known.update(f"{name}\0{spec}\0".encode("utf-8", "surrogateescape"))
        for job in self.flat.jobs:
            if job is not None and job.rules is not PLAIN and (said := kept_rules.text(job.rules)):
                known.update(said.encode())
        for entry in self.extra:
            known.update(f"{entry.name}\0{Spec.of(entry.job).text()}\0".encode("utf-8", "surrogateescape"))
        known.update(self.flat.dag.child_start.tobytes())
        known.update(self.flat.dag.children.tobytes())
        return str(known.hexdigest())

    def definitions(self) -> list[str | None]:
        """What each node is, None for a milestone: to be compared with what it was."""
        found = list[str | None]()
        for job, spec in zip(self.flat.jobs, self._specs, strict=True):
            rules = None if job is None or job.rules is PLAIN else kept_rules.text(job.rules)
            found.append(None if spec is None else definition(spec, rules))
        return found

    def lanes(self) -> Iterator[tuple[int, str | None, int | None, str]]:
        """lane, category, most, named; without the plain one."""
        for lane, category, most, named in self.all_lanes():
            yield lane, None if category is None else encode(category), most, json.dumps(named)

    def nodes(self) -> Iterator[tuple[object, ...]]:
        """job, first step, rules, parts, owner, late: of every job that is more than a command."""
        for node, rules, parts, owner, late in self.all_nodes():
            yield node, int(rules.begins), kept_rules.text(rules), parts, owner, late

    def specs(self) -> Iterator[tuple[object, ...]]:
        """job, name, time, seconds, spec; milestones have none."""
        for node, (job, name, spec) in enumerate(zip(self.flat.jobs, self.flat.dag.names, self._specs, strict=True)):
            if job is not None:
                yield node, encode(name), job.resources.time, job.seconds, spec
        for node, entry in enumerate(self.extra, len(self.flat.jobs)):
            job = entry.job
            yield node, encode(entry.name), job.resources.time, job.seconds, Spec.of(job).text()

    def groups(self) -> Iterator[tuple[int, str, int, int]]:
        """place, path, first, last: the groups of more than one job."""
        for place, (path, first, last) in enumerate(self.flat.groups):
            yield place, encode(path), first, last


def _spec(job: Job) -> str:
    """What a job runs, as the store keeps it. Most jobs are a command and nothing else: no more is made of them."""
    command = job.command or "{"
    is_plain = job.setting is HERE and job.rules is PLAIN and not (job.outputs or job.again)
    if is_plain and not command.startswith("{") and encode(command) == command:
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
