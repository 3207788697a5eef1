"""What was: the workflows of a store and the attempts at their jobs; and how they are forgotten.

Runners need none of it, so what it takes is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway.live.store.shared import STATES
from headway.live.store.text import decode, encode
from headway.live.store.watching import Watching
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.record import replace
from headway.model.states import Kind, Step

if TYPE_CHECKING:
    from headway.live.store.views import Attempt, Member, Run, Web
    from headway.model.job import Rules

_TABLES = ("jobs", "specs", "arcs", "nodes", "lanes", "groups", "doubts")


class Past(Watching):
    """The part of a store that remembers and forgets."""

    def runs(self) -> list[Run]:
        from headway.live.store.views import Run

        counts: dict[int, dict[Any, int]] = {}
        held: dict[int, list[LeaseId]] = {}
        for workflow, state, lease, count in self._run("run_counts"):
            mine = counts.setdefault(workflow, {})
            mine[STATES[state]] = mine.get(STATES[state], 0) + count
            if lease is not None:
                held.setdefault(workflow, []).append(LeaseId(lease))
        times = {workflow: rest for workflow, *rest in self._run("run_times")}
        leases = dict(self._run("run_leases"))
        return [
            Run(
                WorkflowId(number),
                decode(name),
                self._paths.found_source(decode(source)),
                self._paths.found(decode(directory)),
                submitted,
                what_next,
                bool(halted),
                returns,
                counts.get(number, {}),
                leases.get(number, 0),
                held.get(number, []),
                *times.get(number, (0, None, None)),
            )
            for number, name, source, directory, submitted, what_next, halted, returns in self._run("runs")
        ]

    def history(self, workflow: WorkflowId, job: JobId | None = None) -> list[Attempt]:
        return _attempts(self._run("history", workflow=workflow, job=job))

    def last_attempt(self, workflow: WorkflowId, job: JobId) -> Attempt | None:
        found = _attempts(self._run("last_of_job", workflow=workflow, job=job))
        return found[0] if found else None

    def named(self, workflow: WorkflowId, name: str) -> JobId | None:
        found = self._run("named", workflow=workflow, name=encode(name))
        return JobId(found[0][0]) if found else None

    def member(self, workflow: WorkflowId, job: JobId) -> Member:
        from headway.live.store.views import Member

        found = self._run("member", workflow=workflow, job=job)
        if not found:
            raise NotFoundError(f"workflow {workflow} has no job {job}.")
        kind, state, owner, name, spec = found[0]
        return Member(job, Kind(kind), STATES[state], owner, decode(name), spec)

    def web(self, workflow: WorkflowId) -> Web:
        from headway.live.store.views import Member, Web

        members = [
            Member(JobId(job), Kind(kind), STATES[state], owner, "" if name is None else decode(name))
            for job, kind, state, owner, name in self._run("members", workflow=workflow)
        ]
        return Web(
            members, [(JobId(parent), JobId(child)) for parent, child in self._run("web_arcs", workflow=workflow)]
        )

    def part_rules(self, workflow: WorkflowId) -> dict[JobId, Rules]:
        from headway.live.store.rules import read

        found = self._run("part_rules", workflow=workflow)
        return {JobId(job): replace(read(rules), retries=retries) for job, retries, rules in found}

    def forget(self, workflows: Sequence[WorkflowId]) -> None:
        with self._transaction():
            ((newest,),) = self._run("newest_workflow")
            self._run("remember_workflow", number=str(newest))
            for workflow in sorted(workflows):
                self._run("lock_jobs", workflow=workflow)
                if self._run("running", workflow=workflow):
                    raise HeadwayError(f"workflow {workflow} has jobs that run.", "Wait for them, or stop it first.")
                for table in _TABLES:
                    self._run(f"forget_{table}", workflow=workflow)
                self._run("forget_workflow", workflow=workflow)
            for table in ("attempts", "events", "placeholders"):
                self._run(f"forget_{table}")


def _attempts(rows: Sequence[Sequence[Any]]) -> list[Attempt]:
    from headway.live.store.views import Attempt

    return [
        Attempt(
            lease,
            job,
            decode(name),
            number,
            Step(step),
            decode(host),
            leased if ended is None else started or None,
            ended,
            code,
            rss,
            cpu,
            None if reason is None else decode(reason),
            None if status is None else decode(status),
        )
        for lease, job, name, number, step, host, leased, started, ended, code, rss, cpu, reason, status in rows
    ]
