"""Keeps the files that a DAGMan file asks for while it runs: NODE_STATUS_FILE and JOBSTATE_LOG."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from headway.formats.dagman.status import NodeLine, NodeStatus, Trial, Tries, status_text
from headway.live.placeholder.running import CALLED_OFF, OVER
from headway.live.reading.read import write_whole
from headway.live.store import Store
from headway.live.store.views import Attempt, JobRow
from headway.model.errors import HeadwayError, UnreachableError
from headway.model.job import PLAIN
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind, State, Step
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
_STARTED = re.compile(r"INTERNAL \*\*\* DAGMAN_STARTED .* \*\*\*")
_PACE = 1.0  # seconds between two looks at the store
_SHARE = 20  # and never more than one in so many seconds is spent on them


class DagmanFiles:
    """The files of one run. What cannot be written is told once and keeps nothing else from going on."""

    def __init__(
        self, workflow: Workflow, store: Store, number: WorkflowId, since: float, warn: Callable[[str], None]
    ) -> None:
        settings, folder = workflow.settings, Path(workflow.source).absolute().parent
        self._since = since  # when this run began, by the store's clock
        self._store, self._number, self._warn = store, number, warn
        self._dag = Path(workflow.source).name
        self._status = None if settings.status_file is None else folder / settings.status_file[0]
        self._least = 0.0 if settings.status_file is None else float(settings.status_file[1])
        self._log = None if settings.jobstate_log is None else folder / settings.jobstate_log
        self._next_status = self._next_look = 0.0
        self._web = store.history.web(number)
        self._processes = Counter(member.owner for member in self._web.members if member.owner is not None)
        groups = chain(workflow.walk(), ((group.name, group) for group in workflow.special()))
        self._rules = {path: group.jobs[0].rules for path, group in groups if group.jobs}
        self._own = store.history.part_rules(number)
        self._started = f"INTERNAL *** DAGMAN_STARTED {number}.0 ***"
        self._logged = self._in_the_log()
        self._append([f"{int(time.time())} {self._started}"])

    def _in_the_log(self) -> Counter[str]:
        """What earlier runs have written of this workflow; times left out, which are known better afterwards.

        A sub-DAG that is tried again is another workflow, which may have ended in the second in which this one began.
        """
        if self._log is None or not self._log.is_file():
            return Counter()
        begun = next((int(one.submitted) for one in self._store.watching.workflows() if one.id == self._number), 0)
        try:
            lines = self._log.read_text(errors="surrogateescape").splitlines()
        except OSError:
            return Counter()
        found, whose = Counter[str](), ""
        for when, _, text in (line.partition(" ") for line in lines):
            if _STARTED.fullmatch(text):
                whose = text
            elif when.isdecimal() and int(when) >= begun and whose == self._started:
                found[text] += 1
        return found

    def update(self) -> float:
        """Brings the files up to date if it is time; how long until it is time again."""
        now = time.time()
        if now >= self._next_look:
            with contextlib.suppress(UnreachableError):  # the next look catches up
                self._look(now, ended=False)
            self._next_look = time.time() + max(_PACE, _SHARE * (time.time() - now))
        return max(0.0, self._next_look - time.time())

    def end(self, code: int) -> None:
        """Brings the files up to date for the last time; `code` is what DAGMan would have exited with."""
        now = time.time()
        self._look(now, ended=True, code=code)
        self._append([f"{int(now)} INTERNAL *** DAGMAN_FINISHED {code} ***"])

    def _look(self, now: float, ended: bool, code: int = 0) -> None:
        due = self._status is not None and (ended or now >= self._next_status)
        if self._log is None and not due:
            return
        runs, tries = self._store.history.attempts(self._number), Tries(self._since)
        told = [line for run in sorted(runs, key=lambda run: run.lease) for line in tries.lines(self._trial(run))]
        self._append(self._news(sorted(told, key=lambda line: line[0])))
        if due:
            self._next_status = now + self._least
            self._write_status(now, code if ended else None, runs, tries)

    def _trial(self, run: Attempt) -> Trial:
        """An attempt by its node: a process of one is known by its number among them."""
        owner = self._web.members[run.job].owner
        node = run.job if owner is None else owner
        name, processes = self._web.members[node].name, self._processes[node] or 1
        return Trial(
            name,
            0 if owner is None else int(run.name.rpartition("/")[2]),
            processes,
            self._rules.get(name, PLAIN),
            run.lease,
            _STEPS[run.step],
            run.ended if run.started is None and (run.reason or "").startswith("lost") else run.started,
            run.ended,
            run.exit_code,
            run.reason == OVER or (run.exit_code is None and run.reason == CALLED_OFF),
            self._own.get(run.job, PLAIN),
        )

    def _news(self, told: list[tuple[int, str]]) -> list[str]:
        """The lines that are not in the log yet."""
        there, lines = self._logged.copy(), list[str]()
        for when, text in told:
            if there[text] > 0:
                there[text] -= 1
            else:
                lines.append(f"{when} {text}")
                self._logged[text] += 1
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

    def _write_status(self, now: float, code: int | None, runs: list[Attempt], tries: Tries) -> None:
        at: dict[str, Step] = {}
        queued: Counter[str] = Counter()
        for run in runs:
            if run.ended is None:
                name = self._trial(run).node
                at[name] = run.step
                queued[name] += run.step is Step.MAIN
        jobs = self._store.progress.jobs(self._number)
        futile = self._futile(jobs, tries)
        nodes = []
        for job in jobs:
            if self._web.members[job.job].kind is Kind.SERVICE:  # of which DAGMan says nothing here
                continue
            status = _AT[at[job.name]] if job.name in at else _STATUS[job.state]
            if job.job in futile:
                status = NodeStatus.FUTILE
            elif code is not None and status is NodeStatus.READY and tries.is_removed(job.name):
                status = NodeStatus.ERROR
            retries = max(0, tries.count[job.name] - 1)
            nodes.append(NodeLine(job.name, status, self._details(job.name, status, tries), retries, queued[job.name]))
        shown = time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now))
        text = status_text(self._dag, nodes, int(now), shown, code, int(now + self._least))
        try:
            write_whole(str(self._status), text)
        except HeadwayError as error:
            self._warn(str(error))
            self._status = None

    def _details(self, name: str, status: NodeStatus, tries: Tries) -> str:
        """What DAGMan says of a node beside its state."""
        rules = self._rules.get(name, PLAIN)
        if status is NodeStatus.ERROR:
            return tries.details(name, rules)
        if status is NodeStatus.FUTILE:
            return "Had an ancestor node fail"
        if status is NodeStatus.SUBMITTED:
            return "not_idle"
        return "User defined as DONE" if status is NodeStatus.DONE and rules.done else ""

    def _futile(self, jobs: Sequence[JobRow], tries: Tries) -> set[JobId]:
        """Nodes that will not run, because one before them has failed; not where UNLESS-EXIT says so, as in DAGMan."""
        failures = [job for job in jobs if job.state is State.FAILED]
        failed = [job.job for job in failures if not tries.gave_up(job.name, self._rules.get(job.name, PLAIN))]
        if not failed:
            return set()
        children: dict[JobId, list[JobId]] = {}
        for parent, child in self._web.arcs:
            children.setdefault(parent, []).append(child)
        kinds = {member.job: member.kind for member in self._web.members}
        waiting = {job.job for job in jobs if job.state is State.WAITING}
        found: set[JobId] = set()
        while failed:
            for child in children.get(failed.pop(), ()):
                is_futile = child in waiting or kinds[child] is Kind.MILESTONE
                if is_futile and kinds[child] is not Kind.FINAL and child not in found:
                    found.add(child)
                    failed.append(child)
        return found
