"""Who watches the runner: lines of JSON over a Unix socket, in both directions."""

from __future__ import annotations

import contextlib
import math
import os
import time
from _socket import SHUT_RDWR, socket
from collections.abc import Mapping

from headway.live.client.door import full
from headway.live.client.messages import (
    REQUESTS,
    RESPONSES,
    AskPassword,
    Attach,
    Cancel,
    Failure,
    Greeting,
    Look,
    Progress,
    Refusal,
    Run,
    Say,
    Serve,
    Stop,
    Watch,
    Where,
)
from headway.live.doors.messages import Word
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Lease, Seconds, WorkflowId
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.client.door import FullSocket
    from headway.live.client.messages import Request, Response

PACE = 0.1  # seconds between two reports of how far it is; ends of the workflow and failures are told at once
LONGEST = 32 << 20  # bytes of a message: an environment has 6 at most, and some of them take six times their room


class Client:
    """One line to a client: what it wants, and what it has not been told yet."""

    def __init__(self, line: socket) -> None:
        self._line = line
        self._heard = b""
        self._unsent = RESPONSES.encode(Greeting())
        self.gone = False
        self.is_waited_for = False  # until its line takes more
        self.workflow = WorkflowId(0)  # none yet
        self.is_new = False  # and whether the store has that one is not known yet
        self.environment: Mapping[bytes, bytes] | None = None  # for jobs; None: it is in the private file of the run
        self.slots = 1
        self.mark = ""  # of the job that the client is part of, if it is
        self.wants_more = False  # new jobs may be started for it
        self.stops = False  # it has just asked for nothing new to be started
        self.stops_now = False  # and those that run are to end
        self.fail_fast = False
        self.memory = 0  # bytes that jobs may have; 0: all of the machine's
        self.named: dict[str, int] = {}  # named resources that are there
        self.recipes = False  # the groups of its workflow are recipes of make
        self.asks_to_look = False  # the store was changed
        self.asks_where: int | None = None  # the output of a lease is
        self.asks_password = False  # of the store
        self.attaches = False  # its line is to become the way to the store
        self.says: Word | None = None  # what a job says of itself
        self.serves: Serve | None = None  # it wants every workflow served that wants this site
        self.until = math.inf  # when that ends
        self.idle_since = math.inf  # when nothing for it could come any more
        self.watches = False  # it only wants to know how far others are with the workflow
        self.cancels: tuple[WorkflowId, bool] | None = None  # a workflow that is to stop, and whether at once
        self._done = 0
        self._failures: list[Failure] = []
        self._trouble = ""
        self._warned = 0  # warnings that it was told
        self.over = False  # the end was told
        self._last = 0.0
        self._changed = False
        self.flush()

    def hear(self) -> None:
        """Takes in what the client has said; a line that makes no sense ends the talk."""
        try:
            data = self._line.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._heard = (self._heard + data).split(b"\n")
        try:
            for text in lines:
                self._take(REQUESTS.decode(text))
            if len(self._heard) > LONGEST:
                raise ValueError(f"a message has at most {LONGEST >> 20} MB")
        except (HeadwayError, ValueError) as error:
            self.refuse(HeadwayError(f"the runner does not understand what was said: {error}"))
            data = b""
        if not data:
            self._lose()

    def _take(self, message: Request) -> None:
        # No `match`: the Python 3.9 of other hosts does not know it.
        if isinstance(message, Run):
            given = message.environment
            self.environment = None if given is None else {_name(one): _word(given[one]) for one in given}
            self.slots, self.mark = max(1, message.slots), message.mark
            self.fail_fast, self.recipes = message.fail_fast, message.recipes
            self.memory, self.named = message.memory, message.named
            self.workflow, self.is_new = WorkflowId(message.workflow), True
            self.wants_more, self.over, self._changed = True, False, True
        elif isinstance(message, Serve):
            self.memory, self.named = message.memory, message.named
            self.serves, self.slots = message, max(1, message.serve or len(os.sched_getaffinity(0)))
            self.until = math.inf if message.until is None else time.monotonic() + message.until
            self.wants_more, self.over, self._changed = True, False, True
        elif isinstance(message, Watch):
            self.workflow, self.is_new = WorkflowId(message.watch), True
            self.watches, self._changed = True, True
        elif isinstance(message, Stop):
            self.wants_more = self.watches = False
            self.stops, self.stops_now = True, message.stop == "now"
        elif isinstance(message, Cancel):
            self.cancels = WorkflowId(message.cancel), message.now
        elif isinstance(message, Look):
            self.asks_to_look = True
        elif isinstance(message, Say):
            self.says = message.say
        elif isinstance(message, Where):
            self.asks_where = message.where
        elif isinstance(message, AskPassword):
            self.asks_password = True
        elif isinstance(message, Attach):
            self.attaches = True
        else:
            raise ValueError("files are fetched by the channel to a site")

    def answer(self, said: Response) -> None:
        """Tells what the client has asked."""
        self._unsent += RESPONSES.encode(said)
        self.flush()

    def refuse(self, error: HeadwayError) -> None:
        """Tells why nothing is done for the client; it hears the end of its line after that."""
        self.answer(Refusal([error.what, error.fix]))
        with contextlib.suppress(OSError):
            self._line.shutdown(SHUT_RDWR)  # which wakes the runner, and that drops the client
        self.wants_more = False

    def close(self) -> None:
        self._line.close()

    def given_up(self) -> FullSocket:
        """The line, for another use: what was sent on it since is the other use's."""
        return full(self._line)

    def _lose(self) -> None:
        self.gone = True
        self.wants_more = False

    def note(self, finish: Finish, lease: Lease, home: Home) -> None:
        """Remembers an end to tell."""
        if finish.exit_code is None or not (self.serves or lease.workflow == self.workflow):
            return
        self._changed = True
        if finish.exit_code == 0 or lease.final is None or lease.kind == Kind.SERVICE:
            return
        log = home.log(lease.workflow, lease.job, lease.attempt)
        is_final = lease.is_final(finish.exit_code)
        self._failures.append(Failure(lease.name, finish.exit_code, finish.reason, log, lease.attempt, is_final))
        if self.fail_fast and lease.is_final(finish.exit_code):
            self.wants_more = False

    def credit(self, done: int) -> None:
        """Jobs of its workflow are done, and the store has it."""
        self._done += done
        self._changed = True

    def due(self) -> float:
        """When there will be something to tell."""
        due = self._last + PACE if self._changed and not (self.over or self._unsent) else math.inf
        if self.serves is None or not self.wants_more:
            return due
        return min(due, self.until, self.idle_since + (math.inf if self.serves.idle is None else self.serves.idle))

    def has_news(self, trouble: str, warnings: list[str], now: Seconds) -> bool:
        """Whether there is something to tell that can wait no longer."""
        if self._failures or trouble != self._trouble or self._unsent or len(warnings) > self._warned:
            return True
        return self._changed and now >= self._last + PACE

    def tell(
        self,
        running: int,
        names: list[str],
        trouble: str,
        ended: bool,
        others: bool,
        warnings: list[str],
        now: Seconds,
        left: bool = False,
    ) -> None:
        """Reports, if it is time and the client listens.

        `ended`: nothing of its workflow is or will be started for it; `others`: but for other clients; `left`: though
        there is something that another site may run. Of the warnings it is told those that it does not know yet.
        """
        if self.over or self._unsent or not (self.workflow or self.serves):
            return
        if not (ended or self.has_news(trouble, warnings, now)):
            return
        news = warnings[self._warned :]
        said = Progress(self._done, running, names, self._failures, trouble, ended, others, news, left=left)
        self._warned = len(warnings)
        self._failures, self._trouble, self._changed, self._last = [], trouble, False, now
        self._unsent = RESPONSES.encode(said)
        self.flush()
        if ended:
            self.wants_more, self.over = False, True

    @property
    def is_behind(self) -> bool:
        """Whether it has not taken yet what it was told."""
        return bool(self._unsent) and not self.gone

    def flush(self) -> None:
        """Sends what the line takes; a client that is not there any more is no reason to die."""
        if not self._unsent:
            return
        try:
            sent = self._line.send(self._unsent)
            self._unsent = self._unsent[sent:]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""
            self._lose()


def _word(text: str) -> bytes:
    """What can be part of an environment."""
    word = os.fsencode(text)
    if b"\0" in word:
        raise ValueError("a NUL is in the environment")
    return word


def _name(text: str) -> bytes:
    word = _word(text)
    if b"=" in word or not word:
        raise ValueError("a name in the environment is none")
    return word
