"""One `headway run`: a runner, a store and a workflow in it, watched until it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from headway.engine.edited import REFUSE
from headway.live.client.messages import Failure, Progress, Run
from headway.live.client.outage import waited_out
from headway.live.client.watch import Bounds, Stops, bounds, failed_jobs, reports
from headway.live.failpoint import failpoint
from headway.live.home.environments import keep
from headway.live.home.folder import Home
from headway.live.runs.selection import Choice, Tally, tally
from headway.live.runs.submit import source_of, submitted, unheeded
from headway.live.store import PASSWORD, Store
from headway.live.store.spec import with_services
from headway.model.errors import UsageError
from headway.model.flatten import Flat
from headway.model.messages import LOCAL, NODES, WorkflowId
from headway.model.record import field, record
from headway.model.states import State
from headway.model.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.client.line import Line
    from headway.live.client.lines import Lines
    from headway.live.runs.dagman_files import DagmanFiles
    from headway.live.runs.deadline import Deadline
    from headway.live.sites.site import Site
    from headway.live.store.submission import Submission

INSIDE = "HEADWAY_INSIDE"  # in the environment of sub-DAGs
FAILED = 3  # the exit code of a run that left something undone
DAGMANS = 1  # the same as DAGMan says it, which is what the node of a sub-DAG sees


@record
class Wish:
    """What the user of a run wants."""

    slots: int
    order: str
    fail_fast: bool = False
    retry: bool = False
    fresh: bool = False
    edited: str = REFUSE
    memory: int = 0  # bytes; 0: all of the machine's
    named: Mapping[str, int] | None = field(default_factory=dict)  # None: not known here
    exported: Mapping[str, str] = field(default_factory=dict)  # what jobs on other hosts get of the environment
    place: str | None = None  # WORKFLOW.JOB of this store that it runs in place of
    inside: str = ""  # what of it holds for sub-DAGs as well; they read it


@record
class Outcome:
    """How a run ended."""

    tally: Tally
    seconds: float
    bounds: Bounds
    failures: Sequence[Failure]
    returned: int | None  # what the workflow itself says (FINAL, ABORT-DAG-ON)
    rescue: Path | None  # where what is done was written down for DAGMan
    failed: int = FAILED  # the exit code of one that is not done
    decided: bool = False  # it is not a node's own code that is returned, but how the final one ended
    disabled: Sequence[str] = ()  # jobs that were not run since their user does not want them to

    @property
    def exit_code(self) -> int:
        if self.returned is not None:
            return self.returned
        return 0 if not self.tally.failed and not self.tally.skipped else self.failed

    @property
    def dagmans_code(self) -> int:
        """What DAGMan would have exited with."""
        if self.returned is not None and not self.decided:
            return self.returned
        return DAGMANS if self.exit_code else 0


class Session:
    """A workflow in its store, ready to be run."""

    def __init__(
        self,
        home: Home,
        store: Store,
        line: Line | Lines | None,
        workflow: Workflow,
        arguments: Sequence[str],
        wish: Wish,
        choose: Callable[[Workflow], Choice],
        tell: Callable[[str], None],
        early: tuple[Submission, Flat] | None = None,  # what was made of the workflow before there was a store
        begun: float | None = None,  # when that was
    ) -> None:
        self.begun, self._since = begun or time.time(), store.clock()  # by the clock here, and by the store's
        self._home, self._store, self._line, self._wish = home, store, line, wish
        self._tell = tell
        self._arguments = arguments
        self.deadline: Deadline | None = None
        self.foreseen: Sequence[str] = ()  # what was said of it beforehand
        self._files: DagmanFiles | None = None
        if wish.place is not None:
            from headway.live.runs.sub_dag import sub_dag

            arguments = [*arguments, sub_dag(store, workflow, wish.place)]
        self._original = workflow
        self.rescue = None if wish.fresh or workflow.format != "dagman" else self._rescue(workflow)
        if self.rescue is not None:
            from headway.live.runs.rescue import rescued

            workflow = rescued(workflow, self.rescue)
        self._workflow = workflow
        self.warnings = [*home.remarks]  # what submitting it has to say comes on top, the file's own warnings too
        if workflow.format == "dagman":
            self.warnings += unheeded(workflow)
        choice = choose(workflow)

        def busy() -> frozenset[WorkflowId]:
            from headway.live.answers.which import running

            return running(store, home)

        def submit() -> tuple[WorkflowId, Flat]:
            return submitted(
                *(home, store, workflow, arguments, wish.order, wish.fresh, store.clock()),
                choose=choice.settler(store, busy),
                edited=choice.way(wish.edited),
                named=wish.named,
                heard=self.warnings,
                early=early,
            )

        # A second try at something new could be a second one of it.
        self.number, self._flat = submit() if wish.fresh else waited_out(submit, tell)
        if wish.retry:
            waited_out(lambda: store.submissions.retry_failed(self.number), tell)
        if wish.exported:
            waited_out(lambda: store.submissions.export(self.number, wish.exported), tell)
        waited_out(lambda: store.submissions.resume(self.number, wish.place is not None), tell)
        self.before = waited_out(lambda: tally(store, self.number), tell)
        self.total = self.before.done + self.before.failed + self.before.skipped

    def _rescue(self, workflow: Workflow) -> Path | None:
        """The rescue file to begin from: only for a DAG that the store does not know, or a sub-DAG as DAGMan does."""
        from headway.live.runs.rescue import rescue_of

        rescue, file = rescue_of(workflow), source_of(workflow, ())
        if rescue is None:
            return None
        store, place = self._store, self._wish.place
        known = any(one.source == file or one.source.startswith(f"{file} ") for one in store.watching.workflows())
        if known and place is not None:
            from headway.live.runs.sub_dag import is_tried_again

            known = not is_tried_again(store, place)
        return None if known else rescue

    def check_sites(self, sites: Sequence[Site]) -> None:
        """Refuses sub-DAGs at other sites: Headway, which runs them, is not there, and their jobs are in this store."""
        away = [site.name for site in sites if site.name != LOCAL]
        inside = [self._flat.dag.names[at] for at, job in enumerate(self._flat.jobs) if job and job.rules.subdag]
        if away and inside:
            what = f"{inside[0]} is a sub-DAG, which runs only where Headway is, not at site {away[0]}."
            raise UsageError(what, "Leave out --site, or include its file: SPLICE instead of SUBDAG EXTERNAL.")

    def declare(self, sites: Sequence[Site], warn: bool = True) -> None:
        """Has it known which files jobs need at sites that do not share ours."""
        from headway.live.sites.declared import declared, undeclared, unstaged, warning

        apart = [site.name for site in sites if site.directory and not site.stage]
        directory = self._store.leases.directory(self.number)
        files = list(declared(self._flat, directory))
        waited_out(lambda: self._store.files.declare(self.number, files), self._tell)
        without = undeclared(self._flat, files)
        if warn and apart and without:
            self.warnings.append(warning(apart, without))
        if warn:
            self.warnings += unstaged(sites, directory)

    def expect(self, sites: Sequence[str]) -> None:
        """Has it known what jobs run, and how long they may take at each site by what earlier runs have taken there."""
        from headway.live.runs.expected_times import noted

        store, number = self._store, self.number
        jobs = waited_out(lambda: list(noted(self._flat, store.leases.directory(number))), self._tell)
        learnt = waited_out(store.run_times.learnt, self._tell)
        given = [job is None or job.seconds is not None or job.resources.time is not None for job in self._flat.jobs]
        times = [
            (job, site, seconds)
            for job, program, size in jobs
            if not given[job]
            for site in sites
            if (seconds := learnt.expected(program, site, size)) is not None
        ]
        waited_out(lambda: store.run_times.note(number, jobs), self._tell)
        waited_out(lambda: store.run_times.expect(number, times), self._tell)

    def meet(self, deadline: Deadline) -> None:
        """Has a deadline: says what can be said of it beforehand, or refuses it."""
        from headway.live.runs.expected_times import run_times

        store, number = self._store, self.number
        times = run_times(store, source_of(self._workflow, self._arguments))
        self.foreseen = deadline.foresee(store, number, self._flat, times, self._wish.slots)
        self.deadline = deadline

    def start(self) -> None:
        """Tells the runner what is wanted."""
        failpoint("hello.before")
        environment = self._environment()
        is_kept = keep(self._home.folder, self.number, environment)
        assert self._line is not None
        self._line.say(
            Run(
                self.number,
                self._wish.slots,
                None if is_kept else environment,
                mark=os.environ.get("HEADWAY_LEASE", ""),
                fail_fast=self._wish.fail_fast,
                memory=self._wish.memory,
                named={name: count for name, count in (self._wish.named or {}).items() if name != NODES},
                recipes=self._workflow.format == "makefile",
            )
        )
        failpoint("hello.after")

    def _environment(self) -> dict[str, str]:
        """For jobs, sub-DAGs among them."""
        given = {**os.environ, "HEADWAY_ORDER": self._wish.order, INSIDE: self._wish.inside}
        if not self._wish.inside:
            del given[INSIDE]  # one of an outer run means nothing here
        given["PATH"] = with_services(given.get("PATH", os.defpath))
        if self._workflow.provisioner is not None:
            from headway.live.client.provisioner import chirping

            given["PATH"] = f"{chirping(self._home)}{os.pathsep}{given['PATH']}"
        if self._store.is_shared:
            given.pop(PASSWORD, None)  # of the store; what runs in jobs and needs it asks the runner
        return given

    def reports(self, stops: Stops, warn: Callable[[str], None]) -> Iterator[Progress]:
        """How far it is, until it ends. The files that a DAGMan file asks for are kept meanwhile."""
        files = None
        if self._workflow.settings.status_file is not None or self._workflow.settings.jobstate_log is not None:
            from headway.live.runs.dagman_files import DagmanFiles

            known = self._original, self._store, self.number, self._since
            files = waited_out(lambda: DagmanFiles(*known, warn), warn)
        assert self._line is not None
        between = None if files is None else files.update
        if self.deadline is not None:
            from headway.live.runs.deadline import watched

            between = watched(self.deadline, self._store, self.number, warn, between)
        yield from reports(self._line, stops, tell=True, between=between)
        if files is not None:
            self._files = files

    def ended(self, warn: Callable[[str], None]) -> Outcome:
        """How it ended; the files that a DAGMan file asks for are brought up to date for the last time."""
        outcome, files = waited_out(lambda: self.outcome, warn), self._files
        if files is not None:
            waited_out(lambda: files.end(outcome.dagmans_code), warn)
        if self.deadline is not None:
            self.deadline.settle(time.time(), not outcome.tally.failed and not outcome.tally.skipped)
        return outcome

    def _bounds(self) -> Bounds:
        """What no run of these jobs can beat. A node's scripts and processes are steps of its path."""
        if self._workflow.format != "dagman":
            return bounds(self._store, self.number, self._flat, self._wish.slots)
        from headway.live.runs.expected_times import measured, taken
        from headway.model.states import Step

        attempts = self._store.history.attempts(self.number)
        dag = measured(self._store.history.web(self.number), attempts)
        inside = {at for at, job in enumerate(self._flat.jobs) if job is not None and job.rules.subdag is not None}
        waits = sum(steps.get(Step.MAIN, 0.0) for job, steps in taken(attempts).items() if job in inside)
        work = max(0.0, dag.work - waits)  # a sub-DAG's node has no slot while the jobs of the sub-DAG run
        return Bounds(dag.minimal_schedule.makespan, work, self._wish.slots, len(attempts))

    @cached_property
    def outcome(self) -> Outcome:
        """How it ended, by what the store says; to be asked when it has."""
        store, number = self._store, self.number
        ended, failed = tally(store, number), FAILED if self._wish.place is None else DAGMANS
        returned, rescue, decided = store.progress.returned(number), None, False
        if self._workflow.format == "dagman":
            final = store.progress.final_state(number)
            if ended.done < self.total and (returned != 0 or final is State.FAILED):
                from headway.live.runs.rescue import write_rescue

                rescue = write_rescue(self._workflow, store, number, self._since)
            if final in (State.DONE, State.FAILED):  # it decides, whatever else happened
                returned, decided = (0 if final is State.DONE else failed), True
        return Outcome(
            ended,
            time.time() - self.begun,
            self._bounds(),
            failed_jobs(self._home, store, number) if ended.failed else [],
            returned,
            rescue,
            failed,
            decided,
            store.progress.disabled(number) if ended.skipped else (),
        )
