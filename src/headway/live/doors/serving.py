"""The process at the store's end of a pipe: reads requests, answers them, and passes on what others change."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Hello, Leave, News, Question, Response, Trouble
from headway.live.doors.store_end import StoreEnd
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store


def serve(store: Callable[[], Store], incoming: int, outgoing: int) -> None:
    """Serves one runner until it leaves or its connection ends. The store is opened here, in a process of its own."""
    server = _Server(outgoing)
    try:
        server.open(store())
    except HeadwayError as error:
        server.say(Trouble(error.what, error.fix))
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


class _Server:
    def __init__(self, outgoing: int) -> None:
        self._outgoing = outgoing
        self._is_deaf = False  # since the connection to the store broke

    def open(self, store: Store) -> None:
        self._news, self._end = store.news, StoreEnd(store)

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
                self.say(self._end.hello(request))
            elif isinstance(request, Question):
                number = request.number
                self.say(self._end.exchange(request))
            elif isinstance(request, Leave):
                self._end.leave()
                return False
            else:
                raise HeadwayError("that is no request.")
            self._is_deaf = False
            self.pass_on()
        except HeadwayError as error:
            self.say(Trouble(error.what, error.fix, number))
        return True

    def pass_on(self) -> None:
        """Tells the runner what others have changed, or that the store is away."""
        try:
            news = self._news.heard()
        except HeadwayError as error:
            self._is_deaf = True
            self.say(Trouble(error.what, error.fix))
            return
        if news:
            self.say(News(news))

    def say(self, response: Response) -> None:
        text = encode(response)
        while text:
            text = text[os.write(self._outgoing, text) :]
