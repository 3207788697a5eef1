"""A port whose store is at the other end of a connection: another process, or another host behind ssh."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Sequence

from headway.live.doors.codec import LONGEST, decode, encode
from headway.live.doors.messages import RESPONSES, Hello, Leave, Trouble, Welcome
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.doors.messages import Question, Request, Response

GOODBYE: Seconds = 5.0  # seconds to wait until the other end has heard that a runner leaves


class Pipe:
    """`connect` makes a connection; it is called again when one is lost."""

    is_far = True

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        self._line: socket.socket | None = None
        self._dropped: socket.socket | None = None  # lost, and kept open until it is removed from the poll
        self._unsent = b""
        self._heard = b""
        self._trouble: HeadwayError | None = None  # what the other end said last, if that was why it ends

    # --- the connection ----------------------------------------------------------------------------------------------

    @property
    def is_connected(self) -> bool:
        return self._line is not None

    @property
    def is_behind(self) -> bool:
        return bool(self._unsent)

    def fileno(self) -> int:
        return -1 if self._line is None else self._line.fileno()

    def _open(self) -> socket.socket:
        self.close()
        try:
            self._line = self._connect()
        except OSError as error:
            raise HeadwayError(f"the store cannot be reached: {error.strerror or error}.") from None
        self._unsent = self._heard = b""
        return self._line

    def close(self) -> None:
        for line in (self._line, self._dropped):
            if line is not None:
                line.close()
        self._line = self._dropped = None

    def hang_up(self) -> None:
        """This connection is of no use any more."""
        self._line, self._dropped = None, self._line

    def _lost(self) -> HeadwayError:
        self.hang_up()
        return self._trouble or HeadwayError("the connection to the store is lost.")

    # --- talking -----------------------------------------------------------------------------------------------------

    def hello(self, hello: Hello) -> Welcome:
        self._open().setblocking(True)
        self._send(hello)
        while True:
            for response in self.responses():
                if isinstance(response, Trouble):
                    raise HeadwayError(response.what, response.fix)
                if isinstance(response, Welcome):
                    self._open_line.setblocking(False)
                    return response

    def call_again(self, hello: Hello) -> None:
        self._open().setblocking(False)
        self._send(hello)

    def ask(self, question: Question) -> None:
        self._send(question)

    def leave(self) -> None:
        """Says goodbye, and waits until that was heard."""
        if self._line is None:
            return
        self._line.settimeout(GOODBYE)
        with contextlib.suppress(OSError, HeadwayError):
            self._send(Leave())
            while self._line is not None and self._line.recv(1 << 16):
                pass
        self.close()

    @property
    def _open_line(self) -> socket.socket:
        if self._line is None:
            raise HeadwayError("the connection to the store is lost.")
        return self._line

    def _send(self, message: Request) -> None:
        self._unsent += encode(message)
        self.flush()

    def flush(self) -> None:
        """Sends what the connection takes."""
        line = self._open_line
        try:
            while self._unsent:
                self._unsent = self._unsent[line.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            raise self._lost() from None

    def responses(self) -> Sequence[Response]:
        """What has come."""
        if self._unsent:
            self.flush()
        try:
            data = self._open_line.recv(1 << 20)
        except BlockingIOError:
            return ()
        except OSError:
            data = b""
        if not data:
            raise self._lost()
        *lines, self._heard = (self._heard + data).split(b"\n")
        if len(self._heard) > LONGEST:
            raise self._lost()
        come: list[Response] = []
        for text in lines:
            message = decode(text)
            if not isinstance(message, RESPONSES):
                raise self._lost()
            self._trouble = HeadwayError(message.what, message.fix) if isinstance(message, Trouble) else None
            come.append(message)
        return come


class Called:
    """Connections that others make to us: a far runner does not call its store, a channel from there calls it."""

    def __init__(self, first: socket.socket) -> None:
        self._next: socket.socket | None = first

    def take(self, line: socket.socket) -> None:
        """A new one; the newest counts."""
        if self._next is not None:
            self._next.close()
        self._next = line

    def connect(self) -> socket.socket:
        line, self._next = self._next, None
        if line is None:
            raise ConnectionError("its channel is cut")
        return line


class Forked:
    """Connections to a process of our own that serves the other end; the last one goes before the next comes."""

    def __init__(self, serve: Callable[[int], None]) -> None:
        self._serve = serve
        self._pid = 0

    def connect(self) -> socket.socket:
        if self._pid:
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        ours, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            code = 1
            try:
                ours.close()
                self._serve(theirs.detach())
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        return ours
