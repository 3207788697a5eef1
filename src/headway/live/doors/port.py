"""A runner's port: all that it needs of a store. What is asked is answered at once, or later: nobody waits for it."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.doors.messages import Hello, Question, Response, Welcome
from headway.live.doors.store_end import StoreEnd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Port(Protocol):
    """HeadwayError from any of these: the store cannot be reached just now, and nothing of it was done."""

    is_far: bool  # answers take time: it pays to have jobs prefetched

    def hello(self, hello: Hello) -> Welcome:
        """Introduces a new runner, and waits for the answer: there are no jobs yet that need it."""

    def call_again(self, hello: Hello) -> None:
        """Connects again if the connection is lost; the welcome is among the responses then."""

    def ask(self, question: Question) -> None:
        """Asks for an exchange. One is under way at most."""

    def responses(self) -> Sequence[Response]:
        """What has come."""

    def leave(self) -> None:
        """The last that the store hears of the runner."""

    def hang_up(self) -> None:
        """The connection that there is counts as lost."""

    @property
    def is_connected(self) -> bool:
        """Whether questions can be asked; else `call_again`."""

    def fileno(self) -> int:
        """Can be read when something has come; -1: nothing will."""

    @property
    def is_behind(self) -> bool:
        """Whether something is still to be sent, when the handle can be written."""


class Direct:
    """A store in the same process, which answers inside the question."""

    is_far = False
    is_connected = True
    is_behind = False

    def __init__(self, end: StoreEnd) -> None:
        self._end = end
        self._come: list[Response] = []

    def hello(self, hello: Hello) -> Welcome:
        return self._end.hello(hello)

    def call_again(self, hello: Hello) -> None:
        self._come.append(self._end.hello(hello))

    def ask(self, question: Question) -> None:
        self._come.append(self._end.exchange(question))

    def responses(self) -> Sequence[Response]:
        come, self._come = self._come, []
        return come

    def leave(self) -> None:
        self._end.leave()

    def hang_up(self) -> None: ...

    def fileno(self) -> int:
        return -1
