"""The process at the store's end of a pipe: reads requests, answers them, and passes on what others change."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Hello, Leave, News, Question, Trouble
from headway.live.doors.store_end import StoreEnd
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from headway.live.doors.messages import Response
    from headway.live.store import Store
    from headway.model.messages import WorkflowId

    class Heard(Protocol):
        """What others have changed, as one runner has not been told yet."""

        def fileno(self) -> int: ...

        def heard(self) -> dict[WorkflowId, bool]: ...


def serve(store: Callable[[], Store], incoming: int, outgoing: int) -> None:
    """Serves one runner until it leaves or its connection ends. The store is opened here, in a process of its own."""

    def say(response: Response) -> None:
        text = encode(response)
        while text:
            text = text[os.write(outgoing, text) :]

    try:
        server = Server(StoreEnd(opened := store()), opened.news, say)
    except HeadwayError as error:
        say(Trouble(error.what, error.fix))
        return
    heard = b""
    while True:
        ready, _, _ = select.select([incoming, *server.ears()], [], [])
        if incoming not in ready:
            server.pass_on()
            continue
        data = os.read(incoming, 1 << 20)
        if not data:
            return
        *lines, heard = (heard + data).split(b"\n")
        for line in lines:
            if not server.answer(line):
                return


class Server:
    """Answers the requests of one runner, and passes on what others change."""

    def __init__(self, end: StoreEnd, news: Heard, say: Callable[[Response], None]) -> None:
        self._end, self._news, self._say = end, news, say
        self._is_deaf = False  # since the connection to the store broke

    def ears(self) -> list[int]:
        """What can be read when others have changed something."""
        handle = -1 if self._is_deaf else self._news.fileno()
        return [] if handle < 0 else [handle]

    def answer(self, line: bytes) -> bool:
        """Does what one line asks for; False if it was the last."""
        number = 0
        try:
            request = decode(line)
            if isinstance(request, Hello):
                self._say(self._end.hello(request))
            elif isinstance(request, Question):
                number = request.number
                self._say(self._end.exchange(request))
            elif isinstance(request, Leave):
                self._end.leave()
                return False
            else:
                raise HeadwayError("that is no request.")
            self._is_deaf = False
            self.pass_on()
        except HeadwayError as error:
            self._say(Trouble(error.what, error.fix, number))
        return True

    def pass_on(self) -> None:
        """Tells the runner what others have changed, or that the store is away."""
        try:
            news = self._news.heard()
        except HeadwayError as error:
            self._is_deaf = True
            self._say(Trouble(error.what, error.fix))
            return
        if news:
            self._say(News(news))
