"""What people are told of a store, the same in every database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from headway.live.store.shared import STATES
from headway.live.store.spec import Spec, is_open
from headway.live.store.steering import Steering
from headway.live.store.text import decode, encode
from headway.model.errors import NotFoundError
from headway.model.messages import JobId, LeaseId, Seconds, WorkflowId
from headway.model.states import Kind, State, Step

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.engine.explain import Awaited, Facts, LastAttempt
    from headway.live.store.views import Counted, RunningJob, Seen, Span, Submitted

SILENT = 60.0  # seconds after which a placeholder without a sign of life is taken for gone


class Watching(Steering):
    """The part of a store that answers questions."""

    def workflows(self) -> list[Submitted]:
        """All there are, the latest first."""
        from headway.live.store.views import Submitted

        return [
            Submitted(WorkflowId(number), decode(name), self._paths.found_source(decode(source)), submitted)
            for number, name, source, submitted in self._run("workflows")
        ]

    def last_run(self) -> WorkflowId | None:
        """The workflow that was run last, and is no sub-DAG; None if stores of an earlier version do not tell."""
        found = self._run("last_run")
        return WorkflowId(int(found[0][0])) if found else None

    def leased(self) -> frozenset[WorkflowId]:
        """Those that placeholders have jobs of."""
        return frozenset(WorkflowId(number) for (number,) in self._run("leased_workflows"))

    def seen_counts(self, workflow: WorkflowId | None = None) -> dict[WorkflowId, Counted]:
        """How many jobs of each workflow are in each state; those that wait but are switched off are disabled."""
        from headway.live.store.views import Counted

        found: dict[WorkflowId, Counted] = {}
        for number, state, lease, count in self._run("state_counts", workflow=workflow):
            one, seen = found.setdefault(WorkflowId(number), Counted()), STATES[state]
            one.counts[seen] = one.counts.get(seen, 0) + count
            if lease is not None:
                one.leases.append(LeaseId(lease))
        return found

    def groups(self, workflow: WorkflowId) -> list[Span]:
        """Groups of more than one job, supergroups before their subgroups."""
        from headway.live.store.views import Span

        return [Span(decode(path), first, last) for path, first, last in self._run("groups", workflow=workflow)]

    def group(self, workflow: WorkflowId, path: str) -> Span | None:
        """A group by its path, which may be one job."""
        from headway.live.store.views import Span

        found = self._run("group", workflow=workflow, path=encode(path))
        if found:
            return Span(path, *found[0][1:])
        place = self.place(workflow, path)
        return None if place is None else Span(path, place, place)

    def place(self, workflow: WorkflowId, name: str) -> JobId | None:
        """A job by its name."""
        found = self._run("job_named", workflow=workflow, name=encode(name))
        return JobId(found[0][1]) if found else None

    def seen(self, workflow: WorkflowId, first: int, last: int) -> list[Seen]:
        """The jobs from one place to another; milestones, and the processes of nodes, left out."""
        from headway.live.store.views import Seen

        return [
            Seen(JobId(job), decode(name), STATES[state], bool(off), lease)
            for job, name, state, off, lease in self._run("seen", workflow=workflow, first=first, last=last)
        ]

    def awaited_by(self, workflow: WorkflowId, first: int, last: int) -> list[str]:
        """The jobs that those from one place to another wait for directly, or behind milestones, done or not."""
        parents: dict[int, list[int]] = {}
        for parent, child, _ in self._run("all_arcs", workflow=workflow):
            parents.setdefault(child, []).append(parent)
        milestones = {job for job, kind in self._run("kinds", workflow=workflow) if kind == Kind.MILESTONE}
        inside = range(first, last + 1)
        found = _reached(inside, lambda at: parents.get(at, ()) if at in inside or at in milestones else ())
        names = self._names(workflow)
        return [names[JobId(job)] for job in sorted(found - set(inside) - milestones)]

    def running(self, workflow: WorkflowId | None = None) -> list[RunningJob]:
        """What is under way, in the order it was begun."""
        from headway.live.store.views import RunningJob

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
            )
            for number, job, name, lease, attempt, spec, host, leased, status, step, rules in self._run(
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

        return closed(self, workflow, job, attempt, Spec.read(spec))

    def premature_starts(self, workflow: WorkflowId) -> list[tuple[str, str]]:
        """Jobs that began on an early release, and the job that failed after it."""
        return [(decode(name), decode(because)) for name, because in self._run("doubts", workflow=workflow)]

    def present(self, now: Seconds) -> int:
        """How many placeholders have lately given a sign of life."""
        return int(self._run("present", since=now - SILENT)[0][0])

    def facts(self, workflow: WorkflowId, job: JobId, is_served: bool) -> Facts:
        """All that tells why a job does not run."""
        from headway.engine.explain import Facts
        from headway.engine.ready import PLAIN

        found = self._run("job_facts", workflow=workflow, job=job)
        if not found:
            raise NotFoundError(f"workflow {workflow} has no job {job}.")
        name, state, off, kind, tries, retries, cores, lane, rank, arrival, later, parts, left, halted = found[0]
        waits, may_run = state == State.WAITING, state == State.ELIGIBLE
        ahead = self._run("ahead", workflow=workflow, rank=rank, arrival=arrival, job=job) if may_run else [(0,)]
        in_lane = self._run("in_lane", workflow=workflow, lane=lane) if may_run and lane else []
        return Facts(
            decode(name),
            STATES[state],
            bool(off & 1),
            Kind(kind),
            self._awaited(workflow, job) if waits else [],
            later or None,
            tries,
            retries,
            cores,
            self._traits(workflow).lanes.get(lane, PLAIN) if lane else PLAIN,
            [decode(one) for (one,) in in_lane],
            ahead[0][0],
            self.counts(workflow).get(State.RUNNING, 0),
            is_served,
            bool(halted),
            self._last_attempt(workflow, job),
            [decode(one) for (one,) in self._run("doubts_of", workflow=workflow, job=job)] if not waits else [],
            (parts, left),
        )

    def _awaited(self, workflow: WorkflowId, job: JobId) -> list[Awaited]:
        """What a job waits for, directly or through others; milestones are looked through."""
        from headway.engine.explain import Awaited

        parents: dict[int, list[int]] = {}
        for child, parent in self._run("open_arcs", workflow=workflow):
            parents.setdefault(child, []).append(parent)
        known = {one: values for one, *values in self._run("open_jobs", workflow=workflow)}
        near = _reached([job], lambda at: parents.get(at, ()) if at == job or known[at][0] == Kind.MILESTONE else ())
        far = _reached(near, lambda at: parents.get(at, ()))
        return [
            Awaited(decode(name), STATES[state], bool(off), one in near)
            for one in sorted(far - {int(job)})
            for kind, name, state, off in [known[one]]
            if kind != Kind.MILESTONE
        ]

    def _last_attempt(self, workflow: WorkflowId, job: JobId) -> LastAttempt | None:
        from headway.engine.explain import LastAttempt

        for number, host, leased, ended, code, reason, status, step, stop in self._run(
            "last_attempt", workflow=workflow, job=job
        ):
            texts = decode(reason), decode(status)
            return LastAttempt(number, decode(host), leased, ended, code, *texts, Step(step), decode(stop))
        return None


def _reached(begin: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    """Where one comes to, step by step; the beginning too."""
    found = set(begin)
    stack = list(found)
    while stack:
        new = set(following(stack.pop())) - found
        found |= new
        stack += new
    return found


def _command(spec: str, step: int, rules: str | None) -> str:
    """What runs: the job's command, or the script that it is at."""
    from headway.live.store.rules import read

    known = read(rules)
    script = {Step.PRE: known.pre, Step.POST: known.post}.get(Step(step))
    return Spec.read(spec).command if script is None else script.command
