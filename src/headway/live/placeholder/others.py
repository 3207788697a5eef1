"""The runner's part in a store that others use too: what they change, and what was lost to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headway.engine.silence import GAP
from headway.live.clock import since_boot
from headway.live.placeholder.exchange import Exchange
from headway.live.placeholder.jobs import Jobs
from headway.live.placeholder.running import TAKEN
from headway.live.placeholder.sub_workflows import SubWorkflows
from headway.model.messages import LeaseId, Seconds, WorkflowId


class Others:
    """Other placeholders at the same store, and people who steer it from elsewhere."""

    def __init__(self, exchange: Exchange, jobs: Jobs, sub_workflows: SubWorkflows, patience: Seconds) -> None:
        self._exchange, self._jobs, self._sub_workflows = exchange, jobs, sub_workflows
        self._patience = patience

    def hear(self, news: Mapping[WorkflowId, bool]) -> None:
        """Other placeholders, or people, have changed workflows; True: attempts may have to end."""
        for workflow, stops in news.items():
            self._exchange.stir(workflow or None)  # 0: any of them
            self._exchange.calls_roll = self._exchange.calls_roll or stops

    def notice_absence(self) -> None:
        """This process was stopped, or the store away, for so long that others may have our leases by now."""
        has_leases = self._jobs.running or self._exchange.prefetched
        if has_leases and since_boot() - self._exchange.contact > self._patience / GAP:
            self._exchange.was_away = self._exchange.calls_roll = True

    def lose(self, leases: Collection[LeaseId], now: Seconds) -> None:
        """Others have these leases now: their jobs here end before anything else begins."""
        self._exchange.drop(leases)
        self._exchange.lost |= {job.lease.id for job in self._jobs.running.values() if job.lease.id in leases}
        self._jobs.end(leases, now, TAKEN)
        self._sub_workflows.stop_inside(leases, now)
