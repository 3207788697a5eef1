"""How a workflow comes into a store: made ready to run, compared with what an earlier run has left, and taken in."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from headway.engine.edited import REFUSE
from headway.engine.intake import Outside
from headway.live.failpoint import failpoint
from headway.live.home.folder import Home
from headway.live.reading.files import Files
from headway.live.store.relative import resolved
from headway.live.store.sub_dags import is_sub_dag
from headway.live.store.submission import AlreadySubmittedError, Submission
from headway.model.errors import HeadwayError, InputError, UsageError, shown
from headway.model.flatten import Flat, flatten
from headway.model.job import HERE, PLAIN, Job
from headway.model.messages import NODES, WorkflowId
from headway.model.record import replace
from headway.model.states import Kind
from headway.model.workflow import Workflow
from headway.policies.what_next import order, settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from headway.live.store import Store

Earlier: TypeAlias = tuple[WorkflowId, str]
BY_TIMES = frozenset(("auto", "critical-path", "prio-weighted"))  # orders that ask how long jobs take


def submitted(
    home: Home,
    store: Store,
    workflow: Workflow,
    arguments: Sequence[str],
    order_name: str,
    fresh: bool,
    now: float,
    choose: Callable[[WorkflowId, Flat], None] | None = None,
    edited: str = REFUSE,
    named: Mapping[str, int] | None = None,  # None: not known yet, so not checked
    heard: list[str] | None = None,
    early: tuple[Submission, Flat] | None = None,
) -> tuple[WorkflowId, Flat]:
    """The workflow's number in the store: taken in now, or the one that an earlier run of the same left.

    The same is the same file with the same arguments: other goals of a Makefile are another workflow. `choose` says
    which of its jobs this run is about, before any other run can look; `edited` what to do if the file has changed;
    `heard` gets the warnings of submit files; `early` is what `submission_of` made before there was a store.
    """
    times = {} if early else _run_times(store, workflow, arguments, order_name)
    submission, flat = early or submission_of(workflow, arguments, order_name, times=times)
    if named is not None:
        check_resources(flat, named, submission.directory)
    if heard is not None:
        heard += [warning for warning in submission.warnings if warning not in heard]
    with home.submitting():
        while True:
            latest = latest_of(store, submission.source, workflow, arguments)
            if latest is not None and latest[1] == submission.digest and not fresh:
                number = latest[0]
                break
            before, off = WorkflowId(0) if latest is None else latest[0], frozenset[str]()
            new, new_flat = submission, flat
            if latest is not None and not fresh:
                from headway.live.runs.earlier import carried_over, disabled

                done = carried_over(store, before, workflow, arguments, submission, flat, edited)
                new, new_flat = submission_of(workflow, arguments, order_name, done, times)
                off = disabled(store, before)
            failpoint("submit.before")
            try:
                number = store.submissions.add(new, now, before)
            except AlreadySubmittedError:  # by a run on another host, or one that spells the store otherwise
                continue
            failpoint("submit.after")
            flat = new_flat
            if off:
                places = [(node, node) for node, name in enumerate(flat.dag.names) if name in off]
                store.steering.steer("disable", number, places)
            break
        if choose is not None:
            choose(number, flat)
    return number, flat


def _run_times(
    store: Store,
    workflow: Workflow,
    arguments: Sequence[str],
    order_name: str,
) -> dict[str, float]:
    """How long jobs took in earlier runs of the same file, where the order asks for it."""
    source = source_of(workflow, arguments)
    if order_name not in BY_TIMES or (store.submissions.latest(source) is None and not is_sub_dag(source)):
        return {}
    from headway.live.runs.expected_times import run_times

    return run_times(store, source)


def check_resources(flat: Flat, named: Mapping[str, int], directory: str = ".") -> None:
    """Refuses a job that wants more of a named resource, of the disk, or more hosts than there are: it could never run.

    `named` has the hosts of one allocation as well, where there are several.
    """
    for name, job in zip(flat.dag.names, flat.jobs, strict=True):
        if job is None or not (job.resources.counted or job.parts or job.attributes):
            continue
        if job.resources.nodes > named.get(NODES, 1):
            what = (
                f"{shown(name)} runs on {job.resources.nodes} nodes at once, which none of the sites of this run has."
            )
            raise UsageError(what, "Run it at a site with Slurm: --site NAME (docs/hosts.md).")
        for part in job.parts or (job,):
            if "request_disk" in part.attributes:
                from headway.live.home.disk import check_disk

                check_disk(name, part, directory)
            for resource, count in part.resources.named:
                if count > named.get(resource, 0):
                    raise UsageError(
                        f"{shown(name)} wants {count} of {shown(resource)}, and there are {named.get(resource, 0)}.",
                        f"Say how many there are: --resource {resource}=N.",
                    )


def source_of(workflow: Workflow, arguments: Sequence[str]) -> str:
    """What a workflow is known by in its store: its file, and the arguments it was read with."""
    return shlex.join([resolved(workflow.source), *arguments])


def latest_of(store: Store, source: str, workflow: Workflow, arguments: Sequence[str]) -> Earlier | None:
    """The last workflow of a source, and its digest; earlier versions did not follow links on the way to a file."""
    before = shlex.join([os.path.abspath(workflow.source), *arguments])  # noqa: PTH100
    return store.submissions.latest(source) or (
        store.submissions.latest(before) if before != source_of(workflow, arguments) else None
    )


def submission_of(
    workflow: Workflow,
    arguments: Sequence[str],
    order_name: str,
    done: Container[str] = (),
    times: Mapping[str, float] | None = None,
) -> tuple[Submission, Flat]:
    """A workflow as it goes into a store, with jobs that are done already; what cannot be run is refused."""
    workflow = prepared(workflow, arguments)
    flat = flatten(workflow)
    for name, job in zip(flat.dag.names, flat.jobs, strict=True) if done else ():
        if job is not None and name in done:
            job.rules = replace(job.rules, done=True)
    dag = flat.dag
    if times:
        from headway.live.runs.expected_times import with_history

        dag = with_history(dag, times)
    name = settled(order_name, dag)  # which is what people are told that it ran by
    submission = _submission(workflow, flat, arguments, name, order(name)(dag))
    submission.warnings = workflow.warnings
    beside = [(name, job) for kind, name, job in _outside(workflow) if kind is not Kind.FINAL]
    if beside or any(job is not None and (job.setting is not HERE or job.outputs or job.parts) for job in flat.jobs):
        from headway.live.runs.writers import shared_outputs

        submission.warnings = [*workflow.warnings, *shared_outputs(flat, beside)]
    return submission, flat


def _submission(
    workflow: Workflow, flat: Flat, arguments: Sequence[str], order_name: str, ranks: Sequence[int]
) -> Submission:
    file = Path(workflow.source).absolute()
    folder = file.parent if file.is_file() else Path.cwd()  # what comes through a pipe has no folder of its own
    source = source_of(workflow, arguments)
    outside = Outside(list(_outside(workflow)), workflow.throttles)
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


def prepared(workflow: Workflow, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow with all that the engine needs to run it; what cannot be run is refused by name and line."""
    if workflow.format == "submit" and Path(workflow.source).is_file():
        from headway.formats.submit import parse  # once more, as it is run

        again = parse(workflow.source, Files(), arguments, runs=True)
        workflow = replace(workflow, groups=again.groups, warnings=again.warnings)
    if _has_descriptions(workflow):
        from headway.formats.submit import runnable  # costs more than most other workflows need to start

        workflow = runnable(workflow, Files())
    if workflow.format == "makefile":
        from headway.live.reading.recipes import declare_outputs

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
    if workflow.provisioner is not None:
        from headway.live.client.provisioner import refuse_own_chirp

        refuse_own_chirp(workflow, _line(workflow, workflow.provisioner.name))
    for group in workflow.special():
        if len(group.jobs) != 1 or group.jobs[0].parts:
            what, fix = (
                f"{shown(group.name)} queues several processes, which a node outside the order cannot.",
                "Queue one.",
            )
            if len(group.jobs[0].parts) == 1:
                what = f"max_retries, success_exit_code or retry_until in the submit file of {shown(group.name)}, which"
                what += " has scripts or RETRY or stands outside the order, cannot be honoured."
                fix = "Take them out; max_retries alone is honoured where there is neither a script nor RETRY."
            raise InputError(workflow.source, _line(workflow, group.name), what, fix)


def unheeded(workflow: Workflow) -> Iterator[str]:
    """What the file says and a run here takes no notice of, since it is HTCondor's: a sentence each."""
    if workflow.format != "dagman":
        return
    for path, group in chain(workflow.walk(), ((group.name, group) for group in workflow.special())):
        for job in group.all_jobs():
            if job.rules.hold is not None:
                line = _line(workflow, path, r"SCRIPT\b.*\bHOLD")
                what = f"no job is ever held here, so the HOLD script of {shown(path)} never runs."
                yield f"{workflow.source}:{line}: {what}"
    settings = workflow.settings
    for keyword, value in (
        ("CONFIG", settings.config),
        ("DOT", settings.dot),
        ("SET_JOB_ATTR", settings.job_attributes),
        ("ENV", settings.environment_get or settings.environment_set),
    ):
        if value:
            line = _line(workflow, "", keyword)
            yield f"{workflow.source}:{line}: {keyword} is for HTCondor's own DAGMan, and not heeded here."


def _line(workflow: Workflow, path: str, keyword: str = "JOB|FINAL|PROVISIONER|SERVICE|SUBDAG\\s+EXTERNAL") -> int:
    """The line of a DAGMan file that speaks of a node; the first where it cannot be told."""
    if workflow.format != "dagman":
        return 1
    end = r"(?:\s|$)" if path else ""
    wanted = re.compile(rf"\s*(?:{keyword})\s+{re.escape(path)}{end}", re.IGNORECASE)
    try:
        lines = Files().lines(workflow.source)
        return next((number for number, line in enumerate(lines, 1) if wanted.match(line)), 1)
    except HeadwayError:
        return 1
