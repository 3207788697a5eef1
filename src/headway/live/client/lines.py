"""Lines to the runners of several sites, as one: what is said goes to all, and what they say is put together."""

from __future__ import annotations

import os
import select
from collections.abc import Mapping

from headway.live.client.line import Line
from headway.live.client.messages import Progress, Run, Stop
from headway.model.errors import HeadwayError
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.client.messages import Request, Response

MOST_NAMES = 4  # running jobs that are named


class Lines:
    """Keeps to Line, as far as watching a run needs it. While others go on, a site that drops out is a warning.

    So is one that cannot be used just now. Once the others have nothing more to do it is waited for, if jobs are left:
    they may be bound to its host.
    """

    def __init__(self, lines: Mapping[str, Line]) -> None:
        self._lines = dict(lines)
        self._said: dict[str, Progress] = {}  # the last that each site said, those that dropped out too
        self._warned: set[str] = set()  # troubles that the user knows of
        self._run: Run | None = None  # what sites are asked again whose work was over too early
        self._dropped: list[Progress] = []  # sites that dropped out while something was said to them
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # rings when there are such
        self._poll = select.epoll()
        self._names = {line.fileno(): name for name, line in lines.items()}
        for handle in (self._bell, *self._names):
            self._poll.register(handle, select.EPOLLIN)

    def fileno(self) -> int:
        return self._poll.fileno()

    def say(self, message: Request) -> None:
        """To all sites. That one drops out of it is news."""
        if isinstance(message, (Run, Stop)):
            self._run = message if isinstance(message, Run) else None
        for name in list(self._lines):
            self._say_to(name, message)

    def _say_to(self, name: str, message: Request) -> None:
        try:
            self._lines[name].say(message)
        except HeadwayError as error:
            self._dropped.append(self._drop(name, error))
            os.eventfd_write(self._bell, 1)

    def news(self) -> list[Response]:
        """What has come since it was last looked at, put together into how far all of them are."""
        found = list[Progress]()
        for handle, _ in self._poll.poll(0):
            name = self._names.get(handle)
            if name not in self._lines:
                continue
            try:
                for said in self._lines[name].news():
                    if isinstance(said, Progress):
                        found.append(self._take(name, said))
            except HeadwayError as error:
                found.append(self._all(self._drop(name, error)))
        if self._run is not None and self._run.fail_fast and any(job.final for one in found for job in one.failures):
            self.say(Stop("gently"))  # the others have not heard of it
        if self._dropped:
            os.eventfd_read(self._bell)
            found += map(self._all, self._dropped)
            self._dropped = []
        return list(found)

    def _take(self, name: str, said: Progress) -> Progress:
        """How far a site is: what that means for all of them."""
        before = self._said.get(name, Progress())
        self._said[name] = said
        is_last = bool(said.failures) and self._run is not None and self._run.fail_fast
        is_busy = said.running or said.done > before.done or said.failures
        if is_busy and not is_last:
            self._call_back(name)
        news = self._all(said)
        if said.trouble and not news.ended and said.trouble not in self._warned:
            self._warned.add(said.trouble)
            if said.trouble != news.trouble:
                news = replace(news, warnings=[*news.warnings, said.trouble])
        return news

    @property
    def is_waiting(self) -> bool:
        """Whether a site is waited for while others have ended that were not given what is left."""
        return any(one.trouble and not one.ended for one in self._said.values()) and any(
            one.ended and one.left for one in self._said.values()
        )

    def ask_again(self) -> None:
        """Asks those others again: somebody may have added a job, or redone one."""
        self._call_back("")

    def _call_back(self, busy: str) -> None:
        """One site is at work on what others were not given: there may soon be something for them again."""
        for name, one in list(self._said.items()):
            if self._run is not None and name != busy and name in self._lines and one.ended and one.left:
                self._said[name] = replace(one, ended=False, left=False)
                self._say_to(name, self._run)

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
        ended = [one for one in there if one.ended]
        troubles = [one.trouble for one in there if one.trouble and not one.ended]
        # What the others can do is done or under way.
        is_settled = len(ended) + len(troubles) == len(self._lines)
        is_over = is_settled and bool(ended) and not (troubles and all(one.left for one in ended))
        return replace(
            news,
            done=sum(one.done for one in self._said.values()),
            running=sum(one.running for one in there),
            names=names,
            trouble=troubles[0] if is_settled and troubles and not is_over else "",
            ended=is_over,
            others=all(one.others for one in there if one.ended),
            left=False,
        )

    def close(self) -> None:
        for line in self._lines.values():
            line.close()
        self._poll.close()
        os.close(self._bell)
