"""Runs a workflow here: starts the runner, submits, and watches until it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator

from headway.live.client.line import Line
from headway.live.client.messages import Failure, Progress, Stop
from headway.live.client.starter import Starter
from headway.live.home.folder import Home, far_log
from headway.model.errors import HeadwayError
from headway.model.flatten import Flat
from headway.model.messages import LOCAL, JobId, WorkflowId
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.client.lines import Lines
    from headway.live.store import Store

AGAIN = 5.0  # seconds after which sites are asked again that have ended while another one is waited for


def reports(
    line: Line | Lines, stops: Stops, tell: bool = False, between: Callable[[], float] | None = None
) -> Iterator[Progress]:
    """How far a workflow is, until it ends. `tell`: when its user wants it to stop, the runner is told.

    `between` is called before each wait, and says after how many seconds it wants to be called again.
    """
    trouble = ""  # what the runner waits for
    while True:
        pause = None if between is None else between()
        again = AGAIN if line.is_waiting else None
        ready, _, _ = select.select([line.fileno(), stops.fileno()], [], [], again if pause is None else pause)
        while stops.news():
            if not tell or stops.count > 2:
                raise KeyboardInterrupt
            if trouble:  # nobody knows for how long; the runner goes on without us, and begins nothing new
                raise KeyboardInterrupt
            line.say(Stop("gently" if stops.count == 1 else "now"))
            yield Progress(stops=stops.count)
        if line.is_waiting and not ready:
            line.ask_again()
        for said in line.news() if line.fileno() in ready else ():
            if isinstance(said, Progress):
                trouble = said.trouble
                yield said
                if said.ended:
                    return


def watched(home: Home, starter: Starter, patience: float = 20.0) -> Line:
    """A line to the runner, which stays as long as the line does; one is started if there is none."""
    deadline = time.monotonic() + patience
    while (line := Line.to(home, deadline - time.monotonic())) is None:
        if time.monotonic() > deadline:
            raise HeadwayError("the runner does not answer.", f"{home.talk} may tell why: {home.last_words()}")
        starter.see_to_it(deadline - time.monotonic())
    return line


class Stops:
    """Counts Ctrl-C and SIGTERM, and can be waited for: an exception at any place might lose what was just heard."""

    def __init__(self) -> None:
        self.count = self._told = 0
        self._out, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, frame: object) -> None:
        self.count += 1
        with contextlib.suppress(OSError):
            os.write(self._in, b"!")

    def fileno(self) -> int:
        return self._out

    def news(self) -> bool:
        """Whether there was one more since it was last asked."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._out, 64)
        if self._told == self.count:
            return False
        self._told = self.count
        return True


def failed_jobs(home: Home, store: Store, workflow: WorkflowId) -> list[Failure]:
    """The jobs that have failed: how, and where they say why. A node whose processes failed has no log of its own."""
    return [
        Failure(name, code, reason or "", place(home, site, folder, workflow, JobId(job), attempt) if attempt else None)
        for name, job, attempt, code, reason, site, folder in store.progress.failures(workflow)
    ]


def place(home: Home, site: str, folder: str, workflow: WorkflowId, job: JobId, attempt: int) -> str:
    """Where the log of an attempt is; at another site, SITE:PATH, and headway logs fetches it."""
    if site == LOCAL:
        return far_log(folder, workflow, job, attempt) if folder else home.log(workflow, job, attempt)
    return f"{site}:{far_log(folder, workflow, job, attempt)}"


@record
class Bounds:
    """What no run of these jobs can beat, from how long they took: the longest path, and the work over the slots."""

    minimal: float  # seconds of TrellisDAG's minimal schedule
    total: float  # seconds of work of all jobs
    slots: int
    attempts: int

    @property
    def work(self) -> float:
        """Seconds of work for each slot."""
        return self.total / self.slots

    @property
    def best(self) -> float:
        return max(self.minimal, self.work)


def bounds(store: Store, workflow: WorkflowId, flat: Flat, slots: int) -> Bounds:
    """The bounds of a run, by the last attempt at each job."""
    taken: dict[object, float] = {}
    attempts = store.progress.attempts(workflow)
    for name, _, _, started, ended, code, *_ in attempts:
        if code is not None and isinstance(started, float) and isinstance(ended, float):
            taken[name] = max(0.0, ended - started)
    dag = flat.dag
    seconds = [
        None if milestone else taken.get(name) for name, milestone in zip(dag.names, dag.milestones, strict=True)
    ]
    measured = dag.with_seconds(seconds)
    return Bounds(measured.minimal_schedule.makespan, measured.work, slots, len(attempts))
