"""What a runner asks its store for: the room that is left, and how many jobs are worth prefetching."""

from __future__ import annotations

import os
from collections import deque

from headway.engine.ready import Room
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.jobs import BESIDE, Jobs
from headway.live.placeholder.sub_workflows import SubWorkflows
from headway.model.messages import Lease, Seconds, WorkflowId
from headway.model.states import Kind

PATIENCE = 0.005  # seconds an end may wait for company on its way to the store, while every slot is busy
AHEAD = 4  # leases prefetched for each slot while jobs are short; jobs that become eligible later cannot overtake them
DEEPEST = 1024  # the most leases prefetched for each slot, however far the store is


class HostRoom:
    """The room of this host for the jobs of its clients."""

    def __init__(self, jobs: Jobs, demand: Demand, sub_workflows: SubWorkflows, is_far: bool) -> None:
        self._jobs, self._demand, self._sub_workflows, self._is_far = jobs, demand, sub_workflows, is_far
        self._host = os.uname().nodename
        self._memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def beside(self, prefetched: deque[Lease], round_trip: Seconds, now: Seconds) -> Room:
        """The room that running jobs and prefetched leases leave."""
        slots, jobs = self._demand.slots, self._jobs
        ahead = self._depth(slots, round_trip) - len(prefetched)
        cores, memory = self._sub_workflows.busy(), jobs.memory
        for lease in prefetched:
            cores += lease.cores
            memory += lease.memory
        there = self._demand.memory or self._memory
        named = dict(self._demand.named)
        if named:
            for lease in [*(job.lease for job in jobs.running.values()), *prefetched]:
                for name, count in lease.named:
                    named[name] = named.get(name, 0) - count
        is_whole = not prefetched and (
            not jobs.running or all(job.lease.kind == Kind.SERVICE for job in jobs.running.values())
        )
        within = self._demand.within(now) if self._demand.serves else None
        free, most, left = max(slots - cores, 0), max(ahead, 0), max(there - memory, 0)
        return Room(free, slots, most, left, there, named, is_whole, within, self._host)

    def idle(self, prefetched: deque[Lease]) -> list[WorkflowId]:
        """Workflows that are wanted and have nothing here that runs or is prefetched, services left out."""
        running = self._jobs.running
        if not running and not prefetched:
            return self._demand.wanted
        there = [job.lease for job in running.values() if job.lease.kind not in BESIDE]
        busy = {lease.workflow for lease in (*there, *prefetched)}
        return [workflow for workflow in self._demand.wanted if workflow not in busy]

    def _depth(self, slots: int, round_trip: Seconds) -> int:
        """How many leases to prefetch; from a store on this host, only while jobs are short."""
        jobs = self._jobs
        near = AHEAD * slots if jobs.are_short else 0
        if not self._is_far or not jobs.has_seen_enough:  # others could run what is only held here
            return near
        far = 2 * slots * (round_trip + PATIENCE) / max(jobs.typical, 1e-4)
        return max(near, min(int(far), DEEPEST * slots))
