"""A runner whose store is at the other end of a slow connection, and a client beside the runner."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from headway.live.client.line import Line
from headway.live.client.messages import Progress, Run
from headway.live.client.watch import Stops, reports
from headway.live.home.folder import Home
from headway.live.store import Store, opened
from headway.model.messages import WorkflowId
from tests.contracts.crew import groups
from tests.infra import relay

_SERVE = """
import sys
from headway.live.doors.serving import serve
from headway.live.store import opened
serve(lambda: opened(sys.argv[1]), 0, 1)
"""


class FarRunner:
    """`delay`: seconds that each message takes on its way."""

    def __init__(self, folder: Path, delay: float = 0.0) -> None:
        self.delay = delay
        self.place = folder / "store" / "store.db"
        self.place.parent.mkdir()
        self.store: Store = opened(self.place)
        self.home = Home(folder / "far")
        self.relays = folder / "relays"  # the numbers of the processes between
        self.work = folder / "work"
        self.work.mkdir()
        self.pid = 0

    def add(self, text: str) -> WorkflowId:
        """A workflow of lines of mqsub."""
        new = groups(text, source=str(self.work / "w.sh"))
        new.directory = str(self.work)
        return self.store.submissions.add(new, time.time())

    def start(self) -> None:
        """Starts the runner: a process of its own, as on another host."""
        ready, told = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.setsid()
                os.close(ready)
                self._run(told)
            finally:
                os._exit(1)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)

    def _run(self, told: int) -> None:
        from headway.live.doors.pipe import Pipe
        from headway.live.placeholder.runner import Runner

        signal.signal(signal.SIGTERM, lambda number, frame: None)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        lock = self.home.locked()
        assert lock is not None
        Runner(self.home, Pipe(self._connect)).run(told)
        os._exit(0)

    def _connect(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        server = [sys.executable, "-c", _SERVE, str(self.place)]
        between = subprocess.Popen(
            [sys.executable, relay.__file__, str(self.delay), *server], stdin=theirs.fileno(), stdout=theirs.fileno()
        )
        theirs.close()
        with self.relays.open("a") as stream:
            stream.write(f"{between.pid}\n")
        return ours

    def cut(self) -> None:
        """Breaks the connection that there is now."""
        if self.relays.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(self.relays.read_text().split()[-1]), signal.SIGKILL)

    def kill(self) -> None:
        """The runner dies; its jobs go on."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.cut()

    def watch(self, workflow: WorkflowId, slots: int = 2, gives: bool = True) -> Iterator[Progress]:
        """Has a workflow run, until it ends. Without `gives` nobody here knows its environment."""
        line = None
        while line is None:
            line = Line.to(self.home, patience=20.0)
        environment = {"PATH": os.environ["PATH"]} if gives else None
        line.say(Run(workflow, slots, environment))
        yield from reports(line, Stops())
        line.close()

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)
