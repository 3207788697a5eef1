"""The runner's dealings with its clients: what they say is carried out, and how far it is they are told."""

from __future__ import annotations

import os
import time

from headway.live.client.messages import Heard, Password, Place
from headway.live.doors.messages import Word
from headway.live.placeholder.clients import Client
from headway.live.store import PASSWORD
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from headway.live.placeholder.runner import Runner
    from headway.live.placeholder.serving import Serving

PAUSE = 0.005  # seconds before somebody who could not be let in is let in


class Reception:
    """The part of a runner that deals with its clients."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._demand, self._exchange = runner.demand, runner.exchange
        self._jobs, self._sub_workflows = runner.jobs, runner.sub_workflows
        self._serving: Serving | None = None

    def welcome(self, now: Seconds) -> None:
        try:
            self._demand.welcome()
        except OSError as error:
            self._exchange.worry(f"nobody can be let in: {error.strerror}.", now)
            time.sleep(PAUSE)

    def attend(self, handle: int, mask: int, now: Seconds) -> None:
        """A client has said something, or is gone."""
        client = self._demand.attend(handle, mask)
        if client.attaches and not client.gone:
            self._runner.attach(self._demand.given_up(handle))
            return
        if client.is_new and not client.gone:
            self._introduce(client)
        if client.serves is not None and client.stops:
            self.serving.stop(client, now)
            client.stops = client.stops_now = False
        if client.cancels is not None:
            workflow, at_once = client.cancels
            client.cancels = None
            self._demand.cancel(workflow)
            self._sub_workflows.halt(workflow)
            if at_once:
                self._sub_workflows.stop(workflow, now)
        self._runner.reckon()
        if client.stops or (client.mark and client.wants_more and client.mark in self._sub_workflows.halted()):
            client.stops = False
            if client.workflow not in self._demand.wanted or client.wants_more:
                self._sub_workflows.halt(client.workflow)
                self._runner.reckon()
        if client.stops_now:
            client.stops_now = False
            if client.workflow not in self._demand.wanted:
                self._sub_workflows.stop(client.workflow, now)
        if client.asks_to_look:
            client.asks_to_look = False
            self._runner.look()
        if client.asks_password:
            client.asks_password = False
            client.answer(Password(os.environ.get(PASSWORD) if self._exchange.is_shared else None))
        if client.says is not None:
            self._pass_on(client, client.says)
        if client.asks_where is not None:
            self._tell_where(client, client.asks_where)

    @property
    def serving(self) -> Serving:
        if self._serving is None:
            from headway.live.placeholder.serving import Serving

            self._serving = Serving(self._runner)
        return self._serving

    def _introduce(self, client: Client) -> None:
        """A client comes with a workflow: the next exchange asks the store about it."""
        client.is_new = False
        if client.recipes:
            self._runner.recipes.add(client.workflow)
        if client.workflow not in self._exchange.settings:
            self._exchange.send(news=client.workflow)

    def refuse(self, unknown: Iterable[WorkflowId]) -> None:
        """Refuses clients whose workflow is not in the store."""
        for workflow in unknown:
            for client in self._demand.clients.values():
                if client.workflow == workflow:
                    client.refuse(NotFoundError(f"the store has no workflow {workflow}."))
                    client.workflow = WorkflowId(0)
        self._runner.reckon()

    def _pass_on(self, client: Client, word: Word) -> None:
        """A job says something of itself; a provisioner that is ready lets others begin."""
        client.says = None
        if word.store not in ("", self._runner.store_id):
            client.answer(Heard(None))  # a job of another store
            return

        def tell(said: bool | HeadwayError) -> None:
            if isinstance(said, HeadwayError):
                client.refuse(said)
            else:
                client.answer(Heard(said))

        self._exchange.send(says=(word, tell))
        if word.ready:
            self._runner.look()

    def _tell_where(self, client: Client, lease: int) -> None:
        client.asks_where = None
        there: list[int] = [one.workflow for one in self._demand.clients.values()]
        ahead: list[int] = [one.id for one in self._exchange.prefetched]
        begun: list[int] = [job.lease.id for job in self._jobs.running.values()]
        if self._exchange.trouble or self._exchange.asked is not None:
            begun += [one.lease for one in self._exchange.unrecorded]
        client.answer(Place(lease, self._jobs.output(lease), there, ahead, begun, list(self._demand.wanted)))

    # --- how far it is ---------------------------------------------------------------------------------------------

    def report(self, now: Seconds) -> None:
        """Tells every client how far it is."""
        changed = False
        for handle, client in list(self._demand.clients.items()):
            if client.serves is not None:
                changed = self.serving.report(client, now) or client.gone or changed
                self._demand.watch_line(handle, client)
                continue
            may_go_on = client.wants_more and client.workflow not in self._exchange.over  # else services may end
            has_news = client.has_news(self._exchange.trouble, self._jobs.warnings, now)
            if may_go_on and not has_news and self._jobs.has(client.workflow):
                continue
            mine = self._jobs.count(client.workflow)
            over = self._is_over(client, mine, now)
            others = client.workflow in self._demand.wanted and not client.wants_more
            is_left = over and client.wants_more and client.workflow in self._exchange.stuck
            names = self._jobs.names(client.workflow)
            client.tell(mine, names, self._exchange.trouble, over, others, self._jobs.warnings, now, is_left)
            changed = changed or over or client.gone
            self._demand.watch_line(handle, client)
        if changed:
            self._runner.reckon()

    def _is_over(self, client: Client, running: int, now: Seconds) -> bool:
        """Whether nothing of a client's workflow runs and nothing more is started for it."""
        if not client.workflow or client.over or self._exchange.finished or self._exchange.asked is not None:
            return False
        if not client.wants_more and client.workflow in self._demand.wanted:
            return not client.watches  # others go on with it
        if any(lease.workflow == client.workflow for lease in self._exchange.prefetched):
            return False
        if running and running > self._jobs.beside(client.workflow):
            return False
        if client.wants_more and (self._exchange.trouble or client.workflow not in self._exchange.over):
            return False
        if running:
            self._jobs.dismiss(client.workflow, now)  # services end with what they serve
        return not running
