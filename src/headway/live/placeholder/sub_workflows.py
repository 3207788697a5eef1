"""Workflows that run in place of jobs of other workflows: what stops one stops those inside it."""

from __future__ import annotations

from collections.abc import Collection

from headway.live.placeholder.clients import Client
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.orphans import mark
from headway.model.messages import Lease, LeaseId, WorkflowId


class Nesting:
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
            self._jobs.lend(self.lent)

    def busy(self) -> int:
        """Cores in use: those that wait for others have lent theirs."""
        if not self.lent:
            return self._jobs.busy
        return sum(job.lease.cores for job in self._jobs.running.values() if job.lease.id not in self.lent)

    def halt(self, workflow: WorkflowId) -> None:
        """Nothing new begins for a workflow, nor for those that run, or will, in place of its jobs."""
        self._jobs.halt(workflow)
        for client in self._inside(self._jobs.halted()):
            if client.wants_more:
                client.wants_more = False
                self.halt(client.workflow)

    def fail_fast(self, lease: Lease, exit_code: int) -> None:
        """A job has failed: if nothing new is to begin after that, nothing begins in workflows inside either."""
        there = [client for client in self._demand.clients.values() if client.workflow == lease.workflow]
        if (
            lease.is_final(exit_code)
            and any(one.fail_fast for one in there)
            and not any(one.wants_more for one in there)
        ):
            self.halt(lease.workflow)

    def stop(self, workflow: WorkflowId) -> None:
        """Ends the jobs of a workflow, and of those that run in place of its jobs."""
        self._jobs.stop(workflow)
        jobs = self._jobs.running.values()
        self.stop_inside([job.lease.id for job in jobs if job.lease.workflow == workflow])

    def stop_inside(self, leases: Collection[LeaseId]) -> bool:
        """Stops the workflows that run in place of jobs; whether there are any."""
        inside = self._inside({mark(self._store, lease) for lease in leases})
        for client in inside:
            client.wants_more = False
            self.stop(client.workflow)
        return bool(inside)

    def inside(self, leases: Collection[LeaseId]) -> dict[WorkflowId, LeaseId]:
        """The workflows that run in place of jobs and want more, with the leases of those."""
        marks = {mark(self._store, lease): lease for lease in leases}
        return {client.workflow: marks[client.mark] for client in self._inside(marks) if client.wants_more}

    def _inside(self, marks: Collection[str]) -> list[Client]:
        return [client for client in self._demand.clients.values() if client.workflow and client.mark in marks]
