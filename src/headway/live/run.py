"""Runs a workflow here: starts the runner, submits, and watches until it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shlex
import signal
import socket
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from headway.live.failpoint import here
from headway.live.files import Files
from headway.live.home import Home
from headway.live.placeholder.clients import GREETING
from headway.live.starter import Starter
from headway.live.store.protocol import Store
from headway.live.store.submission import Outside, Submission
from headway.model.errors import HeadwayError, InputError, shown
from headway.model.flatten import Flat, flatten
from headway.model.job import PLAIN, Job
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind, State
from headway.model.workflow import Workflow
from headway.policies.what_next import order


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the runner is with a workflow."""

    done: int = 0  # in this run
    running: int = 0
    names: list[str] = field(default_factory=list)  # some of the jobs that run
    failures: list[dict[str, Any]] = field(default_factory=list)
    trouble: str = ""  # why nothing can be written or started just now
    ended: bool = False
    others: bool = False  # other runs go on with it
    stops: int = 0  # how often its user has asked it to stop


def submitted(
    home: Home,
    store: Store,
    workflow: Workflow,
    arguments: Sequence[str],
    order_name: str,
    fresh: bool,
    now: float,
    choose: Callable[[WorkflowId, Flat], None] | None = None,
) -> tuple[WorkflowId, Flat]:
    """The workflow's number in the store: taken in now, or the one that an earlier run of the same left.

    The same is the same file with the same arguments: other goals of a Makefile are another workflow. `choose` says
    which of its jobs this run is about, before any other run can look.
    """
    submission, flat = submission_of(workflow, arguments, order_name)
    with home.submitting():
        earlier = None if fresh else store.latest(submission.source)
        if earlier is None:
            here("submit.before")
            number = store.add(submission, now)
            here("submit.after")
        else:
            number, digest = earlier
            if digest != submission.digest:
                if workflow.format != "array":
                    raise changed(workflow)
                # Another list: lines that are done stay done.
                submission, flat = submission_of(workflow, arguments, order_name, carried(store, number, arguments))
                number = store.add(submission, now)
        if choose is not None:
            choose(number, flat)
    return number, flat


def carried(store: Store, workflow: WorkflowId, command: Sequence[str]) -> frozenset[str]:
    """Lines of a list that stay done when it is changed: those that are, unless the command has their numbers in it."""
    if any("{#}" in word for word in command):
        return frozenset()
    return frozenset(job.name for job in store.jobs(workflow) if job.state is State.DONE)


def changed(workflow: Workflow) -> HeadwayError:
    return HeadwayError(
        f"{workflow.source} was changed since it was last run; its jobs are not those in the store.",
        "Run it with --fresh to start from the beginning.",
    )


def source_of(workflow: Workflow, arguments: Sequence[str]) -> str:
    """What a workflow is known by in its store: its file, and the arguments it was read with."""
    return shlex.join([str(Path(workflow.source).absolute()), *arguments])


def submission_of(
    workflow: Workflow, arguments: Sequence[str], order_name: str, done: Container[str] = ()
) -> tuple[Submission, Flat]:
    """A workflow as it goes into a store, with jobs that are done already; what cannot be run is refused."""
    workflow = prepared(workflow)
    flat = flatten(workflow)
    for name, job in zip(flat.dag.names, flat.jobs, strict=True) if done else ():
        if job is not None and name in done:
            job.rules = replace(job.rules, done=True)
    return _submission(workflow, flat, arguments, order_name), flat


def _submission(workflow: Workflow, flat: Flat, arguments: Sequence[str], order_name: str) -> Submission:
    file = Path(workflow.source).absolute()
    folder = file.parent if file.is_file() else Path.cwd()  # what comes through a pipe has no folder of its own
    source = source_of(workflow, arguments)
    outside = Outside(list(_outside(workflow)), workflow.throttles)
    ranks = order(order_name)(flat.dag)
    submission = Submission(workflow.name, source, str(folder), flat, ranks, outside, order_name)
    if not file.is_file():
        submission.source += f" {submission.digest}"
    return submission


def _outside(workflow: Workflow) -> Iterator[tuple[Kind, str, Job]]:
    """The nodes outside the order, in the order they are started."""
    kinds = [(Kind.PROVISIONER, workflow.provisioner), *((Kind.SERVICE, group) for group in workflow.services)]
    for kind, group in [*kinds, (Kind.FINAL, workflow.final)]:
        if group is not None:
            yield kind, group.name, group.jobs[0]


def prepared(workflow: Workflow) -> Workflow:
    """The workflow with all that the engine needs to run it; what cannot be run is refused by name and line."""
    if _has_descriptions(workflow):
        from headway.formats.submit import runnable  # costs more than most other workflows need to start

        workflow = runnable(workflow, Files())
    if workflow.format == "makefile":
        from headway.live.recipes import declare_outputs

        declare_outputs(workflow)
    refuse(workflow)
    return workflow


def _has_descriptions(workflow: Workflow) -> bool:
    """Whether some job says what it runs in a submit description, or is none of its own (a NOOP, a sub-DAG)."""
    groups = chain((group for _, group in workflow.walk()), workflow.special())
    return any(job.description or job.rules is not PLAIN for group in groups for job in group.all_jobs())


def refuse(workflow: Workflow) -> None:
    """Raises for what would be left out in silence: a command not known, a rule that only HTCondor can honour."""
    outside = ((group.name, group) for group in workflow.special())
    for path, group in chain(workflow.walk(), outside):
        for job in group.all_jobs():
            if job.command is None and not job.rules.noop:
                why = f": submit file {shown(job.description)} is not there" if job.description else ""
                what = f"the command of {shown(path)} is not known{why}."
                raise InputError(workflow.source, _line(workflow, path), what, "Give it one.")
            if job.rules.save_point is not None:
                what = f"SAVE_POINT_FILE of {shown(path)} cannot be honoured: only HTCondor can start from one."
                raise InputError(workflow.source, _line(workflow, path, "SAVE_POINT_FILE"), what, "Take it out.")
    for group in workflow.special():
        if len(group.jobs) != 1 or group.jobs[0].parts:
            what = f"{shown(group.name)} queues several processes, which a node outside the order cannot."
            raise InputError(workflow.source, _line(workflow, group.name), what, "Queue one.")


def _line(workflow: Workflow, path: str, keyword: str = "JOB|FINAL|PROVISIONER|SERVICE|SUBDAG\\s+EXTERNAL") -> int:
    """The line of a DAGMan file that speaks of a node; the first where it cannot be told."""
    if workflow.format != "dagman":
        return 1
    wanted = re.compile(rf"\s*(?:{keyword})\s+{re.escape(path)}(?:\s|$)", re.IGNORECASE)
    try:
        lines = Files().lines(workflow.source)
        return next((number for number, line in enumerate(lines, 1) if wanted.match(line)), 1)
    except HeadwayError:
        return 1


class Line:
    """A line to a runner: JSON in both directions."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._heard = b""

    @classmethod
    def to(cls, home: Home, patience: float) -> Line | None:
        """A line on which a runner has answered: one that was about to leave does not. None if there is none."""
        line = home.connect()
        if line is None:
            return None
        line.settimeout(max(0.1, patience))
        greeting = b""
        with contextlib.suppress(OSError):
            greeting = line.recv(len(GREETING))
        if greeting != GREETING:
            line.close()
            return None
        line.settimeout(None)
        return cls(line)

    def close(self) -> None:
        self._line.close()

    def say(self, message: Mapping[str, object]) -> None:
        try:
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            raise _dead() from None

    def reports(self, stops: Stops, tell: bool = False) -> Iterator[Progress]:
        """Reports until the workflow ends. `tell`: when its user wants it to stop, the runner is told."""
        while True:
            ready, _, _ = select.select([self._line.fileno(), stops.fileno()], [], [])
            while stops.news():
                if not tell or stops.count > 2:
                    raise KeyboardInterrupt
                self.say({"stop": "gently" if stops.count == 1 else "now"})
                yield Progress(stops=stops.count)
            if self._line.fileno() not in ready:
                continue
            for said in self._news():
                yield Progress(**said)
                if said["ended"]:
                    return

    def _news(self) -> Iterator[dict[str, Any]]:
        """What has come since it was last looked at."""
        try:
            data = self._line.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            raise _dead()
        self._heard += data
        while b"\n" in self._heard:
            text, _, self._heard = self._heard.partition(b"\n")
            yield json.loads(text)


def watched(home: Home, starter: Starter, patience: float = 20.0) -> Line:
    """A line to the runner, which stays as long as the line does; one is started if there is none."""
    deadline = time.monotonic() + patience
    while (line := Line.to(home, deadline - time.monotonic())) is None:
        if time.monotonic() > deadline:
            raise HeadwayError("the runner does not answer.", f"{home.talk} may tell why: {home.last_words()}")
        time.sleep(0.002)
        starter.see_to_it()
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


def _dead() -> HeadwayError:
    return HeadwayError("the runner has died.", "Run again: what was done stays done.")


def failed_jobs(home: Home, store: Store, workflow: WorkflowId) -> list[dict[str, Any]]:
    """The jobs that have failed: how, and where they say why. A node whose processes failed has no log of its own."""
    return [
        {
            "job": name,
            "exit_code": code,
            "reason": reason,
            "log": home.log(workflow, JobId(job), attempt) if attempt else None,
        }
        for name, job, attempt, code, reason in store.failures(workflow)
    ]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no run of these jobs can beat, from how long they took: the longest path, and the work over the slots."""

    minimal: float  # seconds of TrellisDAG's minimal schedule
    work: float  # seconds of work for each slot
    attempts: int

    @property
    def best(self) -> float:
        return max(self.minimal, self.work)


def bounds(store: Store, workflow: WorkflowId, flat: Flat, slots: int) -> Bounds:
    """The bounds of a run, by the last attempt at each job."""
    taken: dict[object, float] = {}
    attempts = store.attempts(workflow)
    for name, _, _, started, ended, code, *_ in attempts:
        if code is not None and isinstance(started, float) and isinstance(ended, float):
            taken[name] = max(0.0, ended - started)
    dag = flat.dag
    seconds = [
        None if milestone else taken.get(name) for name, milestone in zip(dag.names, dag.milestones, strict=True)
    ]
    measured = dag.with_seconds(seconds)
    return Bounds(measured.minimal_schedule.makespan, measured.work / slots, len(attempts))
