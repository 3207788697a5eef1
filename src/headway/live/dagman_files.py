"""Keeps the files that a DAGMan file asks for while it runs: NODE_STATUS_FILE and JOBSTATE_LOG."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from headway.formats.dagman.status import NodeLine, NodeStatus, Trial, began_lines, ended_lines, status_text
from headway.live.read import write_whole
from headway.live.store.protocol import Store
from headway.live.store.standing import Standing
from headway.model.errors import HeadwayError
from headway.model.messages import LeaseId, WorkflowId
from headway.model.states import State, Step
from headway.model.workflow import Workflow

_STATUS = {
    State.WAITING: NodeStatus.NOT_READY,
    State.ELIGIBLE: NodeStatus.READY,
    State.RUNNING: NodeStatus.SUBMITTED,
    State.DONE: NodeStatus.DONE,
    State.FAILED: NodeStatus.ERROR,
    State.LATER: NodeStatus.READY,
    State.DISABLED: NodeStatus.READY,
}
_STEPS = {Step.PRE: "PRE_SCRIPT", Step.POST: "POST_SCRIPT", Step.MAIN: "JOB"}
_AT = {Step.PRE: NodeStatus.PRERUN, Step.POST: NodeStatus.POSTRUN, Step.MAIN: NodeStatus.SUBMITTED}
_PACE = 1.0  # seconds between two looks at the store


class DagmanFiles:
    """The files of one run. What cannot be written is told once and keeps nothing else from going on."""

    def __init__(self, workflow: Workflow, store: Store, number: WorkflowId, warn: Callable[[str], None]) -> None:
        settings, folder = workflow.settings, Path(workflow.source).absolute().parent
        self._store, self._number, self._warn = store, number, warn
        self._dag = Path(workflow.source).name
        self._status = None if settings.status_file is None else folder / settings.status_file[0]
        self._least = 0.0 if settings.status_file is None else float(settings.status_file[1])
        self._log = None if settings.jobstate_log is None else folder / settings.jobstate_log
        self._next_status = self._next_look = 0.0
        self._began: set[LeaseId] = set()
        self._ended: set[LeaseId] = set()
        self._append([f"{int(time.time())} INTERNAL *** DAGMAN_STARTED {number}.0 ***"])
        self._skip_what_was()

    @classmethod
    def of(
        cls, workflow: Workflow, store: Store, number: WorkflowId, warn: Callable[[str], None]
    ) -> DagmanFiles | None:
        """None if the workflow asks for no such file."""
        asked = workflow.settings.status_file is not None or workflow.settings.jobstate_log is not None
        return cls(workflow, store, number, warn) if asked else None

    def _skip_what_was(self) -> None:
        """Attempts of earlier runs are in the log already."""
        if self._log is not None:
            known = self._store.history(self._number)
            self._began = {attempt.lease for attempt in known}
            self._ended = {attempt.lease for attempt in known if attempt.ended is not None}

    def update(self, ended: bool = False, code: int = 0) -> None:
        """Brings the files up to date, if it is time."""
        now = time.time()
        if not ended and now < self._next_look:
            return
        self._next_look = now + _PACE
        if self._log is not None:
            self._append(self._news())
            if ended:
                self._append([f"{int(now)} INTERNAL *** DAGMAN_FINISHED {code} ***"])
        if self._status is not None and (ended or now >= self._next_status):
            self._next_status = now + self._least
            self._write_status(now, ended)

    def _news(self) -> list[str]:
        lines: list[str] = []
        for attempt in self._store.history(self._number):
            trial = Trial(
                attempt.name,
                attempt.lease,
                _STEPS[attempt.step],
                attempt.started,
                attempt.ended,
                attempt.exit_code,
                attempt.number,
            )
            if attempt.lease not in self._began:
                self._began.add(attempt.lease)
                lines += began_lines(trial)
            if attempt.ended is not None and attempt.lease not in self._ended:
                self._ended.add(attempt.lease)
                lines += ended_lines(trial)
        return lines

    def _append(self, lines: list[str]) -> None:
        if self._log is None or not lines:
            return
        try:
            with self._log.open("a", errors="surrogateescape") as stream:
                stream.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            self._warn(f"{self._log} cannot be written: {error.strerror}.")
            self._log = None

    def _write_status(self, now: float, ended: bool) -> None:
        at = {run.job: run.step for run in self._store.history(self._number) if run.ended is None}
        nodes = [self._line(job, at.get(job.job)) for job in self._store.jobs(self._number)]
        shown = time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now))
        text = status_text(self._dag, nodes, int(now), shown, ended, int(now + self._least))
        try:
            write_whole(str(self._status), text)
        except HeadwayError as error:
            self._warn(str(error))
            self._status = None

    def _line(self, job: Standing, step: Step | None) -> NodeLine:
        status = _STATUS[job.state] if step is None else _AT[step]
        return NodeLine(job.name, status, "", max(0, job.attempts - 1), int(job.state is State.RUNNING))
