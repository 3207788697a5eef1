"""The runner's door and the clients that came in by it: who is there, and what they want."""

from __future__ import annotations

import math
import os
import select
from collections.abc import Mapping, Sequence

from headway.engine.ready import Within
from headway.live.client.door import peer
from headway.live.failpoint import failpoint
from headway.live.home.environments import kept
from headway.live.home.folder import Home
from headway.live.placeholder.clients import Client
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket


class Demand:
    """The clients of a runner, and what they want in all, recomputed whenever one may want something else."""

    def __init__(self, home: Home, poll: select.epoll, most: int) -> None:
        self._poll, self._folder = poll, home.folder
        self._most = most
        self.clients: dict[int, Client] = {}  # by the handle of their line
        self.wanted: list[WorkflowId] = []  # workflows that somebody wants run; who is first is served first
        self._environments: dict[WorkflowId, Mapping[bytes, bytes] | None] = {}  # by the first who wants each
        self.slots = 1
        self.memory = 0
        self.named: dict[str, int] = {}  # the most of each that anybody says there is
        self.launcher: list[str] = []  # what starts a command on several hosts at once
        self.marks: set[str] = set()  # of jobs that clients are part of
        self.serves = False  # somebody wants all workflows served that want this site
        self.served: list[WorkflowId] = []  # which are these
        self._until = math.inf  # then what is begun for them must have ended
        self._unknown = 0.0
        self.closing = False  # nobody gets anything any more
        self._farewell: HeadwayError | None = None  # what everybody is told before the line is closed
        self._door = home.listen()
        self.remark = self._door.remark
        self._watch_door()

    def _watch_door(self) -> None:
        self.door = self._door.socket.fileno()
        self._poll.register(self.door, select.EPOLLIN)

    def welcome(self) -> bool:
        """Lets one client in; whether there was one."""
        try:
            line = self._door.accept()
        except BlockingIOError:
            return False
        if peer(line) != os.geteuid():  # nothing is read of what another user says
            line.close()
            return True
        line.setblocking(False)
        self.clients[line.fileno()] = client = Client(line)
        if self._farewell is not None:
            client.refuse(self._farewell)
        self._poll.register(line.fileno(), select.EPOLLIN)
        return True

    def dismiss(self, error: HeadwayError) -> None:
        """Tells all clients, and those that still connect, why no more jobs are started."""
        self._farewell = error
        self._door.hide()
        for client in self.clients.values():
            client.refuse(error)

    def attend(self, handle: int, mask: int) -> Client:
        """Reads what a client sent, and flushes what could not be sent to it earlier."""
        client = self.clients[handle]
        if mask & ~select.EPOLLIN:
            client.flush()
        if mask & ~select.EPOLLOUT:
            client.hear()
        if client.gone:
            self._poll.unregister(handle)
            del self.clients[handle]
            client.close()
        return client

    def given_up(self, handle: int) -> socket.socket:
        """The line of a client that is to be something else."""
        self._poll.unregister(handle)
        return self.clients.pop(handle).given_up()

    def reckon(self) -> None:
        """Recomputes what clients want. Uses the largest number of slots that any client asked for."""
        present = [client for client in self.clients.values() if client.workflow and not client.watches]
        serving = [client for client in self.clients.values() if client.serves is not None]
        if self.closing:
            for client in (*present, *serving):
                client.wants_more = False
        self._environments = {}
        for one in reversed(present):
            if one.wants_more and self._has_environment(one):
                self._environments[one.workflow] = one.environment
        self.wanted = list(dict.fromkeys(one.workflow for one in present if one.wants_more))
        self.slots = min(max((client.slots for client in (*present, *serving)), default=self.slots), self._most)
        self.serves = any(client.wants_more for client in serving)
        if self.serves:
            self._take_in(serving, is_limited=not self.wanted)
        self.memory = max((client.memory for client in (*present, *serving)), default=0)
        self.named = {}
        for client in (*present, *serving):
            for name, count in client.named.items():
                self.named[name] = max(count, self.named.get(name, 0))
        self.marks = {client.mark for client in present if client.mark}

    def _take_in(self, serving: Sequence[Client], is_limited: bool) -> None:
        """Adds the workflows that are served to those that clients want run."""
        self.wanted = list(dict.fromkeys((*self.wanted, *self.served)))
        for workflow in self.served:
            self._environments.setdefault(workflow, None)
        there = [client for client in serving if client.wants_more]
        self._until = max(client.until for client in there) if is_limited else math.inf
        wishes = [client.serves for client in there if client.serves is not None]
        self._unknown = max(wish.unknown for wish in wishes)
        self.launcher = next((wish.launcher for wish in wishes if wish.launcher), [])

    def serve(self, workflows: Sequence[WorkflowId]) -> bool:
        """These are the workflows that want this site now; whether there were others before."""
        if sorted(workflows) == sorted(self.served):
            return False
        self.served = list(workflows)
        self.reckon()
        return True

    def within(self, now: Seconds) -> Within | None:
        """The time that jobs may still take, if that is limited."""
        return Within(max(0.0, self._until - now), self._unknown) if self.serves and self._until < math.inf else None

    def _has_environment(self, client: Client) -> bool:
        """Whether it is known what its jobs get: what it has given, or kept in the file of its run.

        A file that cannot be read, or that others may have written, ends this client's run and nobody else's.
        """
        if client.environment is None:
            try:
                client.environment = kept(self._folder, client.workflow)
            except HeadwayError as error:
                client.refuse(error)
            except OSError as error:
                client.refuse(HeadwayError(f"the environment of the run cannot be read: {error}.", "Run again."))
        return client.wants_more

    def cancel(self, workflow: WorkflowId) -> None:
        """Nobody wants a workflow run any more."""
        for client in self.clients.values():
            if client.workflow == workflow:
                client.wants_more = False

    def take_turns(self) -> None:
        """Who was served first is served last next time."""
        if len(self.wanted) > 1:
            self.wanted.append(self.wanted.pop(0))

    def environment(self, workflow: WorkflowId, exported: Mapping[str, str]) -> Mapping[bytes, bytes]:
        """What the jobs of a workflow get: what its client has given; else what is exported, beside our own."""
        found = self._environments[workflow]
        if found is None:
            own = {os.fsencode(name): os.fsencode(value) for name, value in exported.items()}
            found = self._environments[workflow] = {**os.environb, **own}
        return found

    def watch_line(self, handle: int, client: Client) -> None:
        """Waits for a client's ear only while there is something that it has not taken."""
        if client.is_waited_for != client.is_behind:
            client.is_waited_for = client.is_behind
            self._poll.modify(handle, select.EPOLLIN | (select.EPOLLOUT if client.is_behind else 0))

    def closed(self) -> bool:
        """Shuts the door, unless somebody came in at the last moment: who could still find it is let in."""
        self._door.hide()
        failpoint("leave.hidden")
        while self.welcome():
            pass
        if not self.clients:
            return True
        self._poll.unregister(self.door)
        self._door.socket.close()
        self._door.open()
        self._watch_door()
        return False
