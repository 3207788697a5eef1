"""The one line to a runner: what every command that speaks to it uses."""

from __future__ import annotations

from _socket import timeout

from headway.live.client.messages import REQUESTS, RESPONSES, VERSION, Greeting, Refusal
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from types import TracebackType

    from headway.live.client.messages import Request, Response


class Line:
    """Requests go to the runner, and its responses come back."""

    is_waiting = False  # of several sites for one: there is one here

    def __init__(self, line: socket, home: Home) -> None:
        self._line, self._home = line, home
        self._heard = b""

    @classmethod
    def to(cls, home: Home, patience: float) -> Line | None:
        """A line on which a runner has greeted: one that was about to leave does not. None if there is none."""
        try:
            found = home.connect(max(0.1, patience))
        except TimeoutError:
            raise _silent(home) from None
        if found is None:
            return None
        line = cls(found, home)
        found.settimeout(max(0.1, patience))
        try:
            greeting = line.next()
        except (TimeoutError, timeout):  # two errors before Python 3.10
            line.close()
            raise _silent(home) from None
        except OSError:
            greeting = None
        if not isinstance(greeting, Greeting):
            line.close()
            return None
        if greeting.runner != VERSION:
            line.close()
            raise HeadwayError(
                f"the runner here is of another version of Headway: it speaks {greeting.runner}, this one {VERSION}.",
                "Let it end what it runs, or use that version.",
            )
        found.settimeout(None)
        return line

    def __enter__(self) -> Line:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._line.close()

    def fileno(self) -> int:
        return self._line.fileno()

    def say(self, message: Request) -> None:
        """Says something; HeadwayError: the runner has gone, and why if it has said so."""
        try:
            self._line.sendall(REQUESTS.encode(message))
        except OSError:
            while self.news():
                continue
            raise self.dead() from None

    def next(self) -> Response | None:
        """What the runner says next; None: it has gone."""
        while b"\n" not in self._heard:
            data = self._line.recv(1 << 16)
            if not data:
                return None
            self._heard += data
        return self._taken()

    def ask_again(self) -> None:
        """Asks other sites again, of which there are none."""

    def news(self) -> list[Response]:
        """What has come since it was last looked at; something has."""
        try:
            data = self._line.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            raise self.dead()
        self._heard += data
        found: list[Response] = []
        while b"\n" in self._heard:
            found.append(self._taken())
        return found

    def _taken(self) -> Response:
        text, _, self._heard = self._heard.partition(b"\n")
        response: Response = RESPONSES.decode(text)
        if isinstance(response, Refusal):
            raise HeadwayError(*response.error)
        return response

    def ask(self, message: Request, patience: float) -> Response | None:
        """The answer to a question; None if the runner goes just now."""
        self._line.settimeout(patience)
        try:
            self._line.sendall(REQUESTS.encode(message))
            return self.next()
        except TimeoutError:
            raise _silent(self._home) from None
        except OSError:
            return None

    def dead(self) -> HeadwayError:
        return HeadwayError("the runner has died.", f"Run again: what was done stays done. {_hint(self._home)}")


def _hint(home: Home) -> str:
    last = home.last_words()
    return f"{home.talk} may tell why{f': {last}' if last else '.'}"


def _silent(home: Home) -> HeadwayError:
    return HeadwayError("the runner does not answer.", _hint(home))


def answered(home: Home, message: Request, patience: float) -> Response | None:
    """The answer of a runner that is asked in passing; None if there is none, or if it goes just now."""
    try:
        line = Line.to(home, patience)
    except PermissionError:  # of a store that we may only read
        return None
    if line is None:
        return None
    with line:
        return line.ask(message, patience)
