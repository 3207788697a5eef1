"""Runs a workflow here: starts the runner, submits, and watches until it ends."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from headway.formats.submit import resolved
from headway.live.files import Files
from headway.live.home import Home
from headway.live.store.sqlite import SqliteStore
from headway.live.store.submission import Submission
from headway.model.errors import HeadwayError, InputError, shown
from headway.model.flatten import Flat, flatten
from headway.model.messages import WorkflowId
from headway.model.states import State
from headway.model.workflow import PLAIN, Rules, Workflow
from headway.policies.what_next import order

# Rules that the engine carries out so far; a workflow that asks for others is refused before anything runs.
_HONOURED = {"retries", "noop", "done", "priority"}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the runner is with a workflow."""

    done: int  # in this run
    running: int
    failures: list[dict[str, Any]]
    ended: bool


def start_runner(home: Home, sync: str) -> None:
    """Forks a runner, which goes at once if there is one already. It shares what this process has imported."""
    from headway.live.placeholder.runner import become_runner

    if os.fork():
        return
    try:
        become_runner(home, sync)
    finally:
        os._exit(0)


def submitted(
    store: SqliteStore, workflow: Workflow, order_name: str, fresh: bool, now: float
) -> tuple[WorkflowId, Flat]:
    """The workflow's number in the store: taken in now, or the one that an earlier run of the same file left."""
    workflow = resolved(workflow, Files())
    refuse(workflow)
    flat = flatten(workflow)
    source = Path(workflow.source).absolute()
    submission = Submission(workflow.name, str(source), str(source.parent), flat, order(order_name)(flat.dag))
    earlier = None if fresh else store.latest(str(source))
    if earlier is None:
        return store.add(submission, now), flat
    number, digest = earlier
    if digest != submission.digest:
        raise HeadwayError(
            f"{workflow.source} was changed since it was last run; its jobs are not those in the store.",
            "Run it with --fresh to start from the beginning.",
        )
    return number, flat


def refuse(workflow: Workflow) -> None:
    """Raises for what would be left out in silence: a command not known, a rule not honoured."""
    for group in workflow.special():
        raise InputError(
            workflow.source, 1, f"node {shown(group.name)} is a kind that cannot be run yet.", "Take it out."
        )
    if workflow.throttles:
        raise InputError(workflow.source, 1, "throttles (MAXJOBS) cannot be honoured yet.", "Take them out.")
    for path, group in workflow.walk():
        for job in group.all_jobs():
            if job.command is None and not job.rules.noop:
                why = f": submit file {shown(job.description)} is not there" if job.description else ""
                raise InputError(workflow.source, 1, f"the command of {shown(path)} is not known{why}.", "Give it one.")
            if job.rules is not PLAIN:
                for rule in fields(Rules):
                    if rule.name not in _HONOURED and getattr(job.rules, rule.name) != getattr(PLAIN, rule.name):
                        what = f"{rule.name} of {shown(path)} cannot be honoured yet."
                        raise InputError(workflow.source, 1, what, "Take it out.")


class Watch:
    """A line to the runner."""

    def __init__(self, home: Home, sync: str, patience: float = 20.0) -> None:
        deadline = time.monotonic() + patience
        self._heard = b""
        while True:
            line = home.connect()
            if line is not None:
                break
            if time.monotonic() > deadline:
                raise HeadwayError("the runner does not answer.", f"See {home.talk}.")
            time.sleep(0.002)
            if time.monotonic() > deadline - patience / 2:
                start_runner(home, sync)
                time.sleep(0.2)
        self._line: socket.socket = line

    def say(self, message: Mapping[str, object]) -> None:
        self._line.sendall(json.dumps(message).encode() + b"\n")

    def progress(self, interrupted: Callable[[], None]) -> Iterator[Progress]:
        """Reports until the workflow ends. `interrupted` is called on Ctrl-C; the watch goes on."""
        while True:
            try:
                data = self._line.recv(1 << 16)
            except KeyboardInterrupt:
                interrupted()
                continue
            if not data:
                raise HeadwayError("the runner has died.", "Run again: what was done stays done.")
            self._heard += data
            while b"\n" in self._heard:
                text, _, self._heard = self._heard.partition(b"\n")
                said = json.loads(text)
                yield Progress(said["done"], said["running"], said["failures"], said["ended"])
                if said["ended"]:
                    return


def tally(store: SqliteStore, workflow: WorkflowId) -> tuple[int, int, int]:
    """Jobs done, failed, and not run."""
    counts = store.counts(workflow)
    done, failed = counts.get(State.DONE, 0), counts.get(State.FAILED, 0)
    return done, failed, sum(counts.values()) - done - failed
