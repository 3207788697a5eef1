"""A workflow as it goes into a store: rows and arcs, ready to be written in one transaction; and how it is taken in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from headway.engine.intake import Intake, Outside
from headway.live.store import rules as kept_rules
from headway.live.store.spec import Spec, is_open
from headway.live.store.text import decode, encode
from headway.model.errors import HeadwayError
from headway.model.flatten import Flat
from headway.model.job import HERE, NO_ATTRIBUTES, PLAIN, Job
from headway.model.messages import Seconds, WorkflowId
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.database import Database


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

    def affinities(self) -> list[tuple[int, int]]:
        """job, after: jobs that are to run on the host of the one before them in their group."""
        found, dag = list[tuple[int, int]](), self.flat.dag
        for node, job in enumerate(self.flat.jobs):
            if job is not None and job.attributes is not NO_ATTRIBUTES and job.affinity:
                before = [parent for parent in dag.parents_of(node) if self.flat.jobs[parent] is not None]
                if before:
                    found.append((node, max(before)))
        return found

    def attributes(self) -> list[tuple[int, str]]:
        """job, attributes as JSON: of jobs whose user says more of them than Headway acts on."""
        return [
            (node, json.dumps(dict(job.attributes)))
            for node, job in enumerate(self.flat.jobs)
            if job is not None and job.attributes is not NO_ATTRIBUTES and job.attributes
        ]

    def groups(self) -> Iterator[tuple[int, str, int, int]]:
        """place, path, first, last: the groups of more than one job."""
        for place, (path, first, last) in enumerate(self.flat.groups):
            yield place, encode(path), first, last


class AlreadySubmittedError(HeadwayError):
    """Another run has submitted the same file at the same moment."""

    def __init__(self) -> None:
        super().__init__("another run has just submitted this workflow.", "Run it again.")


class Submissions:
    """How workflows come into a store, and are run again. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, submission: Submission, now: Seconds, follows: WorkflowId | None = None) -> WorkflowId:
        """Takes a workflow in, whole or not at all.

        `follows`: the latest workflow of the same file as far as its user knows, 0 for none. If there is a later one
        it is refused, so that two who bring the same file at once do not both submit it.
        """
        database = self._database
        source, directory = database.paths.kept_source(submission.source), database.paths.kept(submission.directory)
        with database.transaction():
            number = database.jobs.insert(submission, source, directory, now, self._follows(submission.source, follows))
            database.run("touch", workflow=number)
            return number

    def want(self, workflow: WorkflowId, sites: Sequence[str]) -> None:
        """Lets placeholders at these sites have the jobs of a workflow though nobody waits for it there; "": all."""
        with self._database.transaction():
            for site in sites:
                self._database.run("want", workflow=workflow, site=encode(site))
            self._database.news.tell(workflow)

    def unwant(self, workflow: WorkflowId) -> bool:
        """Nobody shall take jobs of a workflow any more unless somebody waits for it; whether anybody could."""
        with self._database.transaction():
            was_wanted = bool(self._database.run("wanting", workflow=workflow))
            self._database.run("unwant", workflow=workflow)
            self._database.news.tell(workflow, stops=True)
        return was_wanted

    def unwant_at(self, workflow: WorkflowId, site: str) -> None:
        """The same at one site."""
        with self._database.transaction():
            self._database.run("unwant_at", workflow=workflow, site=encode(site))
            self._database.news.tell(workflow)

    def latest(self, source: str) -> tuple[WorkflowId, str] | None:
        """The last workflow submitted from a file, and its digest."""
        database = self._database
        relative = database.paths.kept_source(source)
        found = database.run("latest", source=encode(relative), owner=database.owner)
        if not found and relative != source:
            found = database.run("latest", source=encode(source), owner=database.owner)  # written by earlier versions
        return (WorkflowId(found[0][0]), found[0][1]) if found else None

    def _follows(self, source: str, expected: WorkflowId | None) -> WorkflowId:
        """The workflow that a new one of this file comes after, 0 for none; refused if it is not the expected one."""
        latest = self.latest(source)
        last = WorkflowId(0) if latest is None else latest[0]
        if expected is None:
            return last
        if last and last != expected:
            raise AlreadySubmittedError
        return expected

    def definitions(self, workflow: WorkflowId) -> dict[str, tuple[bool, str]]:
        """Whether each job is done, and what it is: to be compared with an edited file."""
        found = self._database.run("definitions", workflow=workflow)
        return {decode(name): (state == State.DONE, definition(spec, rules)) for name, state, spec, rules in found}

    def resume(self, workflow: WorkflowId, in_place: bool = False) -> None:
        """A workflow is run: what ended it early does not count any more. `in_place`: as a job of another."""
        with self._database.transaction():
            ((special, _, _),) = self._database.run("traits", workflow=workflow) or [(0, None, 0)]
            if special:
                from headway.live.store.again import resume

                resume(self._database, workflow)
            if not in_place:
                self._database.run("note_run", workflow=str(workflow))

    def export(self, workflow: WorkflowId, variables: Mapping[str, str]) -> None:
        """Its jobs get these variables on every host."""
        with self._database.transaction():
            self._database.run("export", workflow=workflow, exported=json.dumps(dict(variables)))

    def retry_failed(self, workflow: WorkflowId) -> int:
        """Failed jobs become eligible again, with all their retries; how many."""
        from headway.live.store.again import retry_failed

        with self._database.transaction():
            return retry_failed(self._database, workflow)


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
