"""Starts the runner: every run waits for it, so it goes its way as soon as both have imported what both need."""

from __future__ import annotations

import os
import select
import time

import headway.live.client.messages
import headway.live.home.environments
import headway.live.store.spec  # noqa: F401 - these three for the runner too, before it goes its way
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PAUSE = 0.0005  # seconds until a runner is looked for again that is not the one we have started


def keep_runner(folder: Path, told: int, become_runner: Callable[[], int]) -> int:
    """Makes this process, a fresh child in a session of its own, the keeper of a runner; its exit code in the end.

    A run waits for the runner, so that is forked before anything of the keeper is imported. What is done to the process
    group of one of the two is not done to the other. A session for the runner would do that too, but Linux puts each
    session into a scheduling group of its own, and a process new in its group may wait 4 ms for the CPU.
    """
    runner = os.fork()
    if runner == 0:
        os.setpgid(0, 0)
        return become_runner()
    os.close(told)
    from headway.live.placeholder.keeper import keep

    return keep(folder, runner)


class Starter:
    """Sees to it that there is a runner. Made and used before the store is opened: SQLite does not bear a fork."""

    def __init__(self, home: Home, sync: str, server: str | None = None) -> None:
        self._home = home
        self._server = server  # the store's, if it is not in the folder
        self._sync = sync
        self._fork()

    def _fork(self) -> None:
        """A child that goes at once if there is a runner already. It imports what it needs while we import ours.

        The pipe between us is closed by the runner when it can be spoken to, or by its death.
        """
        self._ready, told = os.pipe()
        while told < 3:  # the child gives these another meaning
            told = os.dup(told)
        self._is_coming = True
        self._child = os.fork()
        if self._child == 0:
            code = 1
            try:
                os.setsid()  # before anything else: Ctrl-C is meant for our client
                code = self._become(told)
            finally:
                os._exit(code)
        os.close(told)

    def _become(self, told: int) -> int:
        """The life of the child: a keeper, and its child is the runner."""
        return keep_runner(self._home.folder, told, lambda: self._become_runner(told))

    def _become_runner(self, told: int) -> int:
        from headway.live.placeholder.process import become_runner

        return become_runner(self._home, self._sync, self._server, told)

    def see_to_it(self, patience: float) -> None:
        """Waits for the runner. A child that went because one was there, or none was needed, gets a successor."""
        if self._is_coming:
            self._is_coming = not select.select([self._ready], [], [], patience)[0]
            if not self._is_coming:
                os.close(self._ready)
            return
        time.sleep(_PAUSE)
        try:
            ended, status = os.waitpid(self._child, os.WNOHANG)
        except ChildProcessError:
            ended, status = self._child, 0
        if not ended:
            return
        if os.WIFSIGNALED(status):
            raise HeadwayError("the runner was killed.", "Run again: what was done stays done.")
        if status:
            raise HeadwayError("the runner cannot work.", f"{self._home.talk} ends with: {self._home.last_words()}")
        time.sleep(0.01)
        self._fork()
