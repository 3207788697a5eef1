"""Lines to the runners of several sites, as one: what is said goes to all, and what they say is put together."""

from __future__ import annotations

import select
from collections.abc import Mapping

from headway.live.client.line import Line
from headway.live.client.messages import Progress
from headway.model.errors import HeadwayError
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.client.messages import Request, Response

MOST_NAMES = 4  # running jobs that are named


class Lines:
    """Keeps to Line, as far as watching a run needs it. While others go on, a site that drops out is a warning."""

    def __init__(self, lines: Mapping[str, Line]) -> None:
        self._lines = dict(lines)
        self._said: dict[str, Progress] = {}  # the last that each site said, those that dropped out too
        self._poll = select.epoll()
        self._names = {line.fileno(): name for name, line in lines.items()}
        for line in lines.values():
            self._poll.register(line.fileno(), select.EPOLLIN)

    def fileno(self) -> int:
        return self._poll.fileno()

    def say(self, message: Request) -> None:
        for name in list(self._lines):
            try:
                self._lines[name].say(message)
            except HeadwayError as error:
                self._drop(name, error)

    def news(self) -> list[Response]:
        """What has come since it was last looked at, put together into how far all of them are."""
        found = list[Progress]()
        for handle, _ in self._poll.poll(0):
            name = self._names[handle]
            if name not in self._lines:
                continue
            try:
                for said in self._lines[name].news():
                    if isinstance(said, Progress):
                        self._said[name] = said
                        found.append(self._all(said))
            except HeadwayError as error:
                found.append(self._all(self._drop(name, error)))
        return list(found)

    def _drop(self, name: str, error: HeadwayError) -> Progress:
        """Goes on without a site, if there is another."""
        line = self._lines.pop(name)
        self._poll.unregister(line.fileno())
        line.close()
        if not self._lines:
            raise error
        before = self._said.get(name, Progress())
        self._said[name] = Progress(before.done, ended=True)
        return Progress(warnings=[f"going on without site {name}: {error}"])

    def _all(self, news: Progress) -> Progress:
        """How far all sites are; failures and warnings are those of one of them, which are told once."""
        there = [self._said[name] for name in self._lines if name in self._said]
        names = [name for one in there for name in one.names][:MOST_NAMES]
        troubles = [one.trouble for one in there if one.trouble]
        is_over = len(there) == len(self._lines) and all(one.ended or one.trouble for one in there)
        return replace(
            news,
            done=sum(one.done for one in self._said.values()),
            running=sum(one.running for one in there),
            names=names,
            trouble=troubles[0] if len(troubles) == len(self._lines) else "",
            ended=is_over and any(one.ended for one in there),
            others=all(one.others for one in there if one.ended),
        )

    def close(self) -> None:
        for line in self._lines.values():
            line.close()
        self._poll.close()
