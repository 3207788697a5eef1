"""What the store says to a runner, taken in and passed on to those it concerns."""

from __future__ import annotations

import select

from headway.live.doors.messages import News, Reply, Welcome
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.placeholder.runner import Runner


class Responses:
    """The runner's end of its port."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._port, self._poll = runner, runner.port, runner.poll
        self._exchange, self._demand, self._jobs = runner.exchange, runner.demand, runner.jobs
        self.handle, self._mask = -1, 0  # the handle of the port, and what it is waited for
        self.watch()

    def receive(self, now: Seconds) -> None:
        """Takes in what the store has said."""
        try:
            responses = self._port.responses()
        except HeadwayError as error:
            self._exchange.untold(error)
            self._exchange.worry(str(error), now)
            return
        for response in responses:
            if isinstance(response, Reply):
                self._take_in(response, now)
            elif isinstance(response, Welcome):
                self._exchange.welcomed()
                self._runner.others.lose(response.lost, now)
            elif isinstance(response, News):
                self._runner.others.hear(response.workflows)
            else:
                trouble = HeadwayError(response.what, response.fix)
                if response.number or self._exchange.is_calling:
                    self._exchange.untold(trouble)
                self._exchange.worry(str(trouble), now)

    def _take_in(self, reply: Reply, now: Seconds) -> None:
        """An exchange is answered: passes on what the store says."""
        runner = self._runner
        answer = self._exchange.taken(reply, now)
        if answer.over or answer.stuck:
            runner.upkeep.verify(now)  # nobody is told that all is well of a store that is gone
        if answer.lost:
            runner.others.lose(answer.lost, now)
        self._jobs.launch.forget_place()
        if answer.done:
            for client in self._demand.clients.values():
                if client.serves is not None:
                    client.credit(sum(answer.done.values()))
                elif client.workflow in answer.done:
                    client.credit(answer.done[client.workflow])
        if reply.unknown:
            runner.reception.refuse(reply.unknown)
        if reply.wound_up:
            runner.winding_up.go_on(reply.wound_up, now)
        if answer.stops:
            runner.end(answer.stops, now)
        self._demand.take_turns()

    def watch(self) -> None:
        """Waits for what the store says, and until it takes what is still to be said."""
        handle = self._port.fileno()
        if handle != self.handle:
            if self._mask:
                self._poll.unregister(self.handle)  # before it is closed: a job being started may hold a copy
            self.handle, self._mask = handle, 0
        mask = select.EPOLLIN | (select.EPOLLOUT if self._port.is_behind else 0)
        if handle >= 0 and mask != self._mask:
            if self._mask:
                self._poll.modify(handle, mask)
            else:
                self._poll.register(handle, mask)
            self._mask = mask
