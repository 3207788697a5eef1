"""Clients that have a whole store served, and do not wait for one workflow: placeholders of their own."""

from __future__ import annotations

from headway.live.placeholder.clients import Client
from headway.live.placeholder.running import DISMISSED, OUT_OF_TIME
from headway.model.messages import NODES, Seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.placeholder.runner import Runner


class Serving:
    """The part of a runner that deals with them."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def end(self, reason: str, now: Seconds) -> None:
        """Nobody may go on being served: what runs only for that is ended, and runs again elsewhere."""
        demand, jobs = self._runner.demand, self._runner.jobs
        others = {client.workflow for client in demand.clients.values() if client.wants_more}
        jobs.end([one.lease.id for one in jobs.running.values() if one.lease.workflow not in others], now, reason)

    def stop(self, client: Client, now: Seconds) -> None:
        """A client wants nothing more to be begun; at once: nor anything to go on."""
        self._runner.reckon()
        if client.stops_now and not self._runner.demand.serves:
            self.end(DISMISSED, now)

    def report(self, client: Client, now: Seconds) -> bool:
        """Tells how far it is; whether its end was told."""
        runner, jobs = self._runner, self._runner.jobs
        if client.wants_more and now >= client.until:
            client.wants_more = False
            runner.reckon()
            if not runner.demand.serves:
                self.end(OUT_OF_TIME, now)
        over, names = self._is_over(client, now), [job.lease.name for job in list(jobs.running.values())[:4]]
        client.tell(len(jobs.running), names, runner.exchange.trouble, over, False, jobs.warnings, now)
        return over

    def _is_over(self, client: Client, now: Seconds) -> bool:
        """Whether nothing runs, and nothing more will be begun for a client."""
        runner, exchange, wish = self._runner, self._runner.exchange, client.serves
        assert wish is not None
        if client.over or exchange.finished or exchange.asked is not None or exchange.prefetched:
            return False
        if runner.jobs.running:
            client.idle_since = float("inf")
            return False
        if not client.wants_more:
            return True
        if wish.idle is None or not exchange.is_settled:
            return False
        # Others run what something may come of; a place of several hosts is too dear to wait for that.
        may_come = set(runner.demand.served) - exchange.over and NODES not in runner.demand.named
        if exchange.trouble or may_come:
            client.idle_since = float("inf")
            return False
        client.idle_since = min(client.idle_since, now)
        return now >= client.idle_since + wish.idle
