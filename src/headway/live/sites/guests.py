"""Clients on this host of a runner on another: each is a stream of the channel to it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Collection, Mapping

from headway.live.client.messages import (
    REQUESTS,
    RESPONSES,
    AskPassword,
    Fetch,
    Greeting,
    Heard,
    Password,
    Piece,
    Place,
    Progress,
    Refusal,
    Run,
    Say,
    Serve,
    Stand,
    Stop,
    Use,
    Watch,
    Where,
)
from headway.live.sites.frames import Lines
from headway.model.errors import HeadwayError
from headway.model.record import replace

MOST_UNSENT = 16 << 20  # bytes that a client may leave unread


class Guest:
    """A client that came in by the near end's door. It outlives channels: what it wants is said on each new one."""

    def __init__(self, line: socket.socket, stream: int, site: str) -> None:
        line.setblocking(False)
        self.line, self.stream, self._site = line, stream, site
        self.run: Run | None = None  # what it wants run
        self.serves: Serve | None = None  # it wants the whole store served
        self.watches: Watch | None = None  # it wants to know how far others are with a workflow
        self._stops: Stop | None = None  # it wants nothing more begun
        self.uses: Mapping[str, str] | None = None  # settings of the site that it has said
        self.stands: Stand | None = None  # what it has said of the work that nobody waits for
        self.warned = ""  # what it was warned of last
        self.is_gone = False
        self.is_refused = False  # the runner does nothing for it
        self._lines = Lines()
        self._unsent = b""
        self._before = self._done = 0  # jobs done that earlier runners told of, and this one
        self._near = self._far = ""  # what is wrong on the way there, and what the runner there has said is wrong
        self._trouble = ""  # which of both it was told
        self._last = Progress()  # that it was told
        self._waiting: list[bytes] = []  # files that it asked for before the host could be reached
        self._tell(RESPONSES.encode(Greeting()))

    def heard(self, slots: int) -> list[bytes]:
        """What it says to the runner, as lines. A run there has the slots of the site and that host's environment."""
        try:
            data = self.line.recv(1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.is_gone = True
            return []
        said = list[bytes]()
        try:
            for line in self._lines.of(data):
                message = REQUESTS.decode(line)
                if isinstance(message, Run):
                    message = self.run = replace(message, slots=slots, environment=None, mark="")
                    self._last = replace(self._last, ended=False, left=False)  # it may be a further run
                    self._stops = None
                elif isinstance(message, Stop):
                    self._stops = message
                elif isinstance(message, Serve):
                    message = self.serves = replace(message, serve=slots)
                elif isinstance(message, Watch):
                    self.watches = message
                elif isinstance(message, Use):
                    self.uses = message.use
                    continue
                elif isinstance(message, Stand):
                    self.stands = message
                    continue
                said.append(REQUESTS.encode(message))
        except HeadwayError as error:
            self.refuse(error)
        return said

    @property
    def wants_work(self) -> bool:
        """Whether it waits for jobs to be done there."""
        return self.run is not None or self.serves is not None

    def wishes(self, slots: int) -> list[Run | Serve | Watch | Stop]:
        """What it wants, to be said on a new channel. Who wants nothing more begun waits for the end of what runs."""
        if self.run is not None:
            self.run = replace(self.run, slots=slots)
        if self.serves is not None:
            self.serves = replace(self.serves, serve=slots)
        wish = self.run or self.serves or self.watches
        if self._stops is None or wish is None:
            return [] if wish is None else [wish]
        return [wish if self.run is None else Watch(self.run.workflow), self._stops]

    def answer_alone(self, line: bytes, runs: Collection[int] = ()) -> None:
        """Answers while there is no runner: nothing is running, as far as is known here. `runs`: what is to be run."""
        message = REQUESTS.decode(line)
        if isinstance(message, Where):
            self._tell(RESPONSES.encode(Place(message.where, None, [*runs], [], [], [*runs])))
        elif isinstance(message, Say):
            self._tell(RESPONSES.encode(Heard(False)))
        elif isinstance(message, AskPassword):
            self._tell(RESPONSES.encode(Password(None)))
        elif isinstance(message, Fetch):
            self._waiting.append(line)

    @property
    def is_waiting(self) -> bool:
        """Whether it has asked for a file in vain so far."""
        return bool(self._waiting)

    def waiting(self) -> list[bytes]:
        """What it has asked for in vain so far."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def wanted_file(self, line: bytes) -> Fetch | None:
        """The file that it asks for, if it does."""
        message = REQUESTS.decode(line) if b'"fetch"' in line else None
        return message if isinstance(message, Fetch) else None

    def give(self, said: Piece | Heard | Place) -> None:
        self._tell(RESPONSES.encode(said))

    def pass_on(self, line: bytes) -> None:
        """Tells it what the runner says."""
        said = RESPONSES.decode(line)
        if isinstance(said, Progress):
            self._done, self._far = said.done, self._placed(said.trouble)
            self._trouble = self._near or self._far
            failures = [replace(one, log=one.log and f"{self._site}:{one.log}") for one in said.failures]
            done = self._before + said.done
            self._last = replace(said, done=done, failures=failures, trouble=self._trouble)
            line = RESPONSES.encode(self._last)
        self.is_refused = self.is_refused or isinstance(said, Refusal)
        self._tell(line)

    def _placed(self, trouble: str) -> str:
        """What is wrong, with the site where it is: there may be several."""
        where = f"site {self._site}: "
        return f"{where}{trouble}" if trouble and not trouble.startswith(where) else trouble

    def lose_runner(self) -> None:
        """The runner that told it how far it is has gone."""
        self._before, self._done = self._before + self._done, 0
        self._far, self._last = "", Progress(self._before)

    def end(self) -> None:
        """Tells it that nothing more is done for its workflow."""
        self.run = self.watches = None
        self._tell(RESPONSES.encode(Progress(self._before + self._done, ended=True)))

    def worry(self, trouble: str) -> None:
        """Tells it what is wrong on the way to the site; "": nothing is. What the runner there has said stays true."""
        self._near = trouble
        trouble = self._near or self._far
        if self.wants_work and trouble != self._trouble:
            self._trouble = trouble
            self._last = replace(self._last, failures=[], warnings=[], trouble=trouble)
            self._tell(RESPONSES.encode(self._last))

    def refuse(self, error: HeadwayError) -> None:
        self._tell(RESPONSES.encode(Refusal([error.what, error.fix])))
        with contextlib.suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    @property
    def is_behind(self) -> bool:
        return bool(self._unsent)

    def flush(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self.line.send(self._unsent) :]
        except BlockingIOError:
            self.is_gone = self.is_gone or len(self._unsent) > MOST_UNSENT
        except OSError:
            self._unsent, self.is_gone = b"", True

    def _tell(self, text: bytes) -> None:
        self._unsent += text
        self.flush()
