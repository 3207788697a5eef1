"""What people ask of a store while workflows run."""

from __future__ import annotations

from headway.live.store.spec import Spec, is_open
from headway.live.store.text import decode
from headway.live.store.views import Counted, RunningJob, Submitted
from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.states import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.engine.explain import Facts
    from headway.live.store.database import Database
    from headway.live.store.views import Changes

_ALL = (0, 1 << 62)  # numbers of all workflows
SILENT = 60.0  # seconds after which a placeholder without a sign of life is taken for gone


class Watching:
    """The part of a store that answers questions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_wanted(self, workflow: WorkflowId) -> bool:
        """Whether placeholders take its jobs though nobody waits for it (headway submit)."""
        return bool(self._database.run("wanting", workflow=workflow))

    def placeholders(self) -> dict[str, int]:
        """How many there are at each site now."""
        return {decode(site): count for site, count in self._database.run("placeholders_at")}

    def workflows(self) -> list[Submitted]:
        """All there are, the latest first."""
        return [
            Submitted(WorkflowId(number), decode(name), self._database.paths.found_source(decode(source)), submitted)
            for number, name, source, submitted in self._database.run("workflows")
        ]

    def last_run(self) -> WorkflowId | None:
        """The workflow that was run last, and is no sub-DAG; None if stores of an earlier version do not tell."""
        found = self._database.run("last_run")
        return WorkflowId(int(found[0][0])) if found else None

    def leased(self) -> frozenset[WorkflowId]:
        """Those that placeholders have jobs of."""
        return frozenset(WorkflowId(number) for (number,) in self._database.run("leased_workflows"))

    def seen_counts(self, workflow: WorkflowId | None = None) -> dict[WorkflowId, Counted]:
        """How the jobs of each workflow are; those that wait but are switched off are disabled."""
        first, last = _ALL if workflow is None else (workflow, workflow)
        found: dict[WorkflowId, Counted] = {}
        for number, job, lease, digits in self._database.run("state_digits", first=first, last=last):
            one = found.setdefault(WorkflowId(number), Counted())
            if digits is None:
                one.leases[LeaseId(lease)] = JobId(job)
            else:
                one.digits = bytearray(digits, "ascii")
        return found

    def running(self, workflow: WorkflowId | None = None) -> list[RunningJob]:
        """What is under way, in the order it was begun."""
        return [
            RunningJob(
                WorkflowId(number),
                JobId(job),
                decode(name),
                LeaseId(lease),
                attempt,
                self._running_command(WorkflowId(number), JobId(job), attempt, spec, step, rules),
                decode(host),
                leased,
                decode(status),
                decode(site),
            )
            for number, job, name, lease, attempt, spec, host, leased, status, step, rules, site in self._database.run(
                "running_jobs", workflow=workflow
            )
        ]

    def _running_command(
        self, workflow: WorkflowId, job: JobId, attempt: int, spec: str, step: int, rules: str | None
    ) -> str:
        return _command(self.given(workflow, job, attempt, spec).text() if is_open(spec) else spec, step, rules)

    def given(self, workflow: WorkflowId, job: JobId, attempt: int, spec: str) -> Spec:
        """What an attempt runs or has run, with all filled in that was open before."""
        if not is_open(spec):
            return Spec.read(spec)
        from headway.live.store.late import closed

        return closed(self._database, workflow, job, attempt, Spec.read(spec))

    def premature_starts(self, workflow: WorkflowId) -> list[tuple[str, str]]:
        """Jobs that began on an early release, and the job that failed after it."""
        return [(decode(name), decode(because)) for name, because in self._database.run("doubts", workflow=workflow)]

    def present(self, now: Seconds) -> int:
        """How many placeholders have lately given a sign of life."""
        return int(self._database.run("present", since=now - SILENT)[0][0])

    def changes(self, after: int | None = None, workflow: WorkflowId | None = None) -> Changes:
        """What has changed since an earlier answer, in one workflow or in all; without one, how everything is.

        Nothing is ever left out, but a change may be told again: what is told is how the job is now.
        """
        from headway.live.store.changes import changes

        return changes(self._database, after, workflow)

    def facts(self, workflow: WorkflowId, job: JobId, is_served: bool) -> Facts:
        """All that tells why a job does not run."""
        from headway.live.store.facts import facts

        return facts(self._database, workflow, job, is_served)


def _command(spec: str, step: int, rules: str | None) -> str:
    """What runs: the job's command, or the script that it is at."""
    from headway.live.store.rules import read

    known = read(rules)
    script = {Step.PRE: known.pre, Step.POST: known.post}.get(Step(step))
    return Spec.read(spec).command if script is None else script.command
