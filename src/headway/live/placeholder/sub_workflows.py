"""Workflows that run in place of jobs of other workflows: what stops one stops those inside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headway.live.placeholder.clients import Client
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.orphans import mark
from headway.live.placeholder.running import CALLED_OFF
from headway.model.messages import Lease, LeaseId, Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.placeholder.runner import Runner


class SubWorkflows:
    """Who is inside whom: a client says which job it is part of, by that job's mark."""

    def __init__(self, demand: Demand, jobs: Jobs, store: str) -> None:
        self._demand = demand
        self._jobs = jobs
        self._store = store
        self.lent: set[LeaseId] = set()  # jobs that wait for jobs of this store, and need no slot meanwhile

    def reckon(self) -> None:
        """Recomputes which jobs wait for jobs of this store."""
        marks, running = self._demand.marks, self._jobs.running.values()
        before = self.lent
        self.lent = {job.lease.id for job in running if mark(self._store, job.lease.id) in marks} if marks else set()
        if self.lent != before:
            self._lend()

    def _lend(self) -> None:
        """Notes which jobs wait for this runner: they cannot go on without it."""
        for job in self._jobs.running.values():
            if job.is_lent != (job.lease.id in self.lent):
                job.is_lent = not job.is_lent
                self._jobs.roster.tell(job.place, job.told)

    def busy(self) -> int:
        """Cores in use: those that wait for others have lent theirs."""
        if not self.lent:
            return self._jobs.busy
        return sum(job.lease.cores for job in self._jobs.running.values() if job.lease.id not in self.lent)

    def halt(self, workflow: WorkflowId) -> None:
        """Nothing new begins for a workflow, nor for those that run, or will, in place of its jobs.

        A job that does not come to its end for that has not failed: it goes on another time.
        """
        for job in self._jobs.running.values():
            if job.lease.workflow == workflow and job.is_nested:
                job.halted = True
                self._jobs.roster.tell(job.place, job.told)
        for client in self._inside(self.halted()):
            if client.wants_more:
                client.wants_more = False
                self.halt(client.workflow)

    def halted(self) -> set[str]:
        """The marks of jobs that are to begin nothing new."""
        return {mark(self._store, job.lease.id) for job in self._jobs.running.values() if job.halted}

    def call_off(self, lease: LeaseId) -> None:
        """A workflow that runs in a job's place ends by itself; however that is, the job was cancelled."""
        for job in self._jobs.running.values():
            if job.lease.id == lease and not job.reason:
                job.reason = CALLED_OFF
                self._jobs.roster.tell(job.place, job.told)

    def fail_fast(self, lease: Lease, exit_code: int) -> None:
        """A job has failed: if nothing new is to begin after that, nothing begins in workflows inside either."""
        there = [client for client in self._demand.clients.values() if client.workflow == lease.workflow]
        if (
            lease.is_final(exit_code)
            and any(one.fail_fast for one in there)
            and not any(one.wants_more for one in there)
        ):
            self.halt(lease.workflow)

    def stop(self, workflow: WorkflowId, now: Seconds) -> None:
        """Ends the jobs of a workflow, and of those that run in place of its jobs."""
        self._jobs.stop(workflow, now)
        jobs = self._jobs.running.values()
        self.stop_inside([job.lease.id for job in jobs if job.lease.workflow == workflow], now)

    def stop_inside(self, leases: Collection[LeaseId], now: Seconds) -> bool:
        """Stops the workflows that run in place of jobs; whether there are any."""
        inside = self._inside({mark(self._store, lease) for lease in leases})
        for client in inside:
            client.wants_more = False
            self.stop(client.workflow, now)
        return bool(inside)

    def inside(self, leases: Collection[LeaseId]) -> dict[WorkflowId, LeaseId]:
        """The workflows that run in place of jobs and want more, with the leases of those."""
        marks = {mark(self._store, lease): lease for lease in leases}
        return {client.workflow: marks[client.mark] for client in self._inside(marks) if client.wants_more}

    def _inside(self, marks: Collection[str]) -> list[Client]:
        return [client for client in self._demand.clients.values() if client.workflow and client.mark in marks]


class WindingUp:
    """Workflows inside jobs that are to end: the store ends them, and their final jobs run, as with DAGMan."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._begun: dict[WorkflowId, LeaseId] = {}  # the store was asked; in the places of these
        self.wound: set[LeaseId] = set()  # those whose workflows are wound up, and whose final jobs run

    def begin(self, leases: Collection[LeaseId]) -> Collection[LeaseId]:
        """Asks the store to end workflows inside jobs that are to end; the leases of the other jobs.

        What runs of such a workflow is ended, its final job runs, and then the job is over that it has the place of.
        """
        inside = self._runner.sub_workflows.inside(leases)
        for workflow, lease in inside.items():
            if lease not in self._begun.values() and lease not in self.wound:
                self._begun[workflow] = lease
                self._runner.exchange.send(winds_up=workflow)
        return [lease for lease in leases if lease not in inside.values()]

    def go_on(self, found: Mapping[WorkflowId, Collection[LeaseId] | None], now: Seconds) -> None:
        """The store has ended workflows but for their final jobs. One that has none ends like any other job."""
        runner = self._runner
        for workflow, stops in found.items():
            lease = self._begun.pop(workflow, None)
            if lease is None:
                continue
            if stops is None:
                runner.jobs.end([lease], now)
                if runner.sub_workflows.stop_inside([lease], now):
                    runner.reckon()
            else:
                self.wound.add(lease)
                runner.sub_workflows.call_off(lease)
                if stops:
                    runner.end(stops, now)
                    runner.look()
