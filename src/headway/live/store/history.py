"""What was: the workflows of a store and the attempts at their jobs; and how they are forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.store.rows import STATES
from headway.live.store.rules import read
from headway.live.store.text import decode, encode
from headway.live.store.views import Attempt, Event, Member, Run, Web
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.job import Rules
from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.record import replace
from headway.model.states import Kind, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.database import Database

_TABLES = (
    "jobs",
    "specs",
    "arcs",
    "nodes",
    "lanes",
    "groups",
    "doubts",
    "wanted",
    "files",
    "affinities",
    "work",
    "expected",
    "attributes",
)


class History:
    """The part of a store that remembers and forgets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self) -> list[Run]:
        """Every workflow there is, in the order they were submitted."""
        counts: dict[int, dict[Any, int]] = {}
        held: dict[int, list[LeaseId]] = {}
        for workflow, state, lease, count in self._database.run("run_counts"):
            mine = counts.setdefault(workflow, {})
            mine[STATES[state]] = mine.get(STATES[state], 0) + count
            if lease is not None:
                held.setdefault(workflow, []).append(LeaseId(lease))
        times = {workflow: rest for workflow, *rest in self._database.run("run_times")}
        leases = dict(self._database.run("run_leases"))
        return [
            Run(
                WorkflowId(number),
                decode(name),
                self._database.paths.found_source(decode(source)),
                self._database.paths.found(decode(directory)),
                submitted,
                what_next,
                bool(halted),
                returns,
                counts.get(number, {}),
                leases.get(number, 0),
                held.get(number, []),
                *times.get(number, (0, None, None)),
            )
            for number, name, source, directory, submitted, what_next, halted, returns in self._database.run("runs")
        ]

    def attempts(self, workflow: WorkflowId, job: JobId | None = None) -> list[Attempt]:
        """Every attempt at a workflow's jobs, or at one of them, in the order they were given out."""
        return _attempts(self._database.run("history", workflow=workflow, job=job))

    def last_attempt(self, workflow: WorkflowId, job: JobId) -> Attempt | None:
        """The last attempt at a job; found by its number, however long the history is."""
        found = _attempts(self._database.run("last_of_job", workflow=workflow, job=job))
        return found[0] if found else None

    def named(self, workflow: WorkflowId, name: str) -> JobId | None:
        """The place of a job, or of one of a node's processes."""
        found = self._database.run("named", workflow=workflow, name=encode(name))
        return JobId(found[0][0]) if found else None

    def member(self, workflow: WorkflowId, job: JobId) -> Member:
        """One job, and what it runs."""
        found = self._database.run("member", workflow=workflow, job=job)
        if not found:
            raise NotFoundError(f"workflow {workflow} has no job {job}.")
        kind, state, owner, name, spec = found[0]
        return Member(job, Kind(kind), STATES[state], owner, decode(name), spec)

    def web(self, workflow: WorkflowId) -> Web:
        """All jobs and milestones of a workflow, and the arcs between them."""
        members = [
            Member(JobId(job), Kind(kind), STATES[state], owner, "" if name is None else decode(name))
            for job, kind, state, owner, name in self._database.run("members", workflow=workflow)
        ]
        return Web(
            members,
            [(JobId(parent), JobId(child)) for parent, child in self._database.run("web_arcs", workflow=workflow)],
        )

    def part_rules(self, workflow: WorkflowId) -> dict[JobId, Rules]:
        """The rules of processes that are tried again by what their own submit description says."""
        found = self._database.run("part_rules", workflow=workflow)
        return {JobId(job): replace(read(rules), retries=retries) for job, retries, rules in found}

    def events(self, after: int = 0) -> list[Event]:
        """What happened out of the ordinary since that event."""
        return [Event(*values) for values in self._database.run("events", after=after)]

    def forget(self, workflows: Sequence[WorkflowId]) -> None:
        """Removes workflows and all that is known of them, all or none; refused while a job of theirs runs.

        Numbers of workflows and leases are never reused, so a number that was noted earlier finds nothing.
        """
        with self._database.transaction():
            ((newest,),) = self._database.run("newest_workflow")
            self._database.run("remember_workflow", number=str(newest))
            for workflow in sorted(workflows):
                self._database.run("lock_jobs", workflow=workflow)
                if self._database.run("running", workflow=workflow):
                    raise HeadwayError(f"workflow {workflow} has jobs that run.", "Wait for them, or stop it first.")
                for table in _TABLES:
                    self._database.run(f"forget_{table}", workflow=workflow)
                self._database.run("forget_workflow", workflow=workflow)
            for table in ("attempts", "events", "placeholders", "callers"):
                self._database.run(f"forget_{table}")


def _attempts(rows: Sequence[Sequence[Any]]) -> list[Attempt]:
    return [_attempt(*values) for values in rows]


def _attempt(
    lease: LeaseId,
    job: JobId,
    name: str,
    number: int,
    step: int,
    host: str,
    leased: Seconds,
    started: Seconds | None,
    ended: Seconds | None,
    *rest: Any,
) -> Attempt:
    code, rss, cpu, reason, status, site, home, tail, by_script = rest
    return Attempt(
        *(lease, job, decode(name), number, Step(step), decode(host)),
        *(leased if ended is None else started or None, ended, code, rss, cpu),
        None if reason is None else decode(reason),
        None if status is None else decode(status),
        *(decode(site), decode(home), decode(tail or ""), bool(by_script)),
    )
