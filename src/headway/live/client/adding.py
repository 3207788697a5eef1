"""A job that `mqsub` adds to a workflow in the store, which may be running."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from headway.formats.mqsub import Call, label_of
from headway.model import attributes
from headway.model.errors import NotFoundError, UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Submitted
    from headway.model.job import Job
    from headway.model.messages import WorkflowId

NAME = "mqsub"  # of a workflow that begins with a job that is added
_WHOLE = "Give a script of such lines to headway submit instead."
_SHOWN = 8  # workflows that are listed


def added(place: str, call: Call, wanted: str | None, environment: Mapping[str, str]) -> tuple[str, WorkflowId]:
    """Adds what a call says to the workflow that it means, or to a new one; the job's name, and the workflow."""
    _check(call)
    job = attributes.from_pairs(call.command, call.attributes)
    home, store = _opened(place)
    from headway.live.store.submission import AlreadySubmittedError

    try:
        name, number = _put(store, call, job, _meant(store, wanted, environment))
    except AlreadySubmittedError:  # somebody else has begun a workflow at this moment
        name, number = _put(store, call, job, _meant(store, wanted, environment))
    from headway.live.client.services import tell_runner
    from headway.live.home.store_location import home_of

    tell_runner(home_of(home, place, store, number))
    return name, number


def _put(store: Store, call: Call, job: Job, workflow: Submitted | None) -> tuple[str, WorkflowId]:
    """Adds the job to a workflow; None: to a new one."""
    group = call.path[0]
    deps = ["/".join(dep) for dep in call.deps]
    if workflow is not None:
        return store.growth.add(workflow.id, group, deps, job), workflow.id
    if deps:
        raise NotFoundError(
            f"{shown(group)} depends on {shown(deps[0])}, and there is no workflow in the store.",
            "Submit what it depends on first.",
        )
    return group, _begun(store, group, job)


def _check(call: Call) -> None:
    """Refuses what can only be said of a whole workflow."""
    if len(call.path) > 1:
        raise UsageError(f"{shown(label_of(call.path))}: groups inside groups are not added to a store.", _WHOLE)
    if call.command is None:
        raise UsageError("-c is missing: in a store there are no groups without jobs.", _WHOLE)
    if call.array is not None or call.part != "jobs":
        raise UsageError("-array, -prologue and -epilogue are not for jobs that are added to a store.", _WHOLE)


def _opened(place: str) -> tuple[Home | None, Store]:
    """The store; one that is not there is made."""
    from headway.live.store import is_server, opened

    if is_server(place):
        return None, opened(place)
    from headway.live.home.folder import Home
    from headway.live.home.store_location import found_store
    from headway.live.sites.opening import prepare

    try:
        home, store = found_store(place)
    except NotFoundError:
        home = Home(Path(place.removeprefix("sqlite:///")))
        prepare(home)
        store = opened(home.database)
    return home, store


def _meant(store: Store, wanted: str | None, environment: Mapping[str, str]) -> Submitted | None:
    """The workflow that a job is added to: the one that is named, that of the job which calls, or the only one that
    can be meant. None: there is none yet.
    """
    from headway.live.answers.which import chosen
    from headway.live.store.sub_dags import is_sub_dag

    if wanted is not None:
        return chosen(store, wanted)
    there = [one for one in store.watching.workflows() if not is_sub_dag(one.source)]
    mark, _, lease = environment.get("HEADWAY_LEASE", "").rpartition(".")
    if mark.partition("-")[0] == store.id and lease.isdecimal():
        from headway.model.messages import LeaseId

        given = store.callers.given(LeaseId(int(lease)))
        mine = [one for one in store.watching.workflows() if given is not None and one.id == given.workflow]
        if mine:
            return mine[0]
    if len(there) < 2:
        return there[0] if there else None
    under_way = [one for one in there if store.progress.is_under_way(one.id)]
    if len(under_way) == 1:
        return under_way[0]
    some = under_way or there
    known = ", ".join(f"{one.id} ({one.name})" for one in some[:_SHOWN]) + (", …" if len(some) > _SHOWN else "")
    what = "are under way" if under_way else "are in the store, and none of them is under way"
    raise UsageError(f"which workflow is meant is not known: {known} {what}.", "Say which one: mqsub -w NUMBER …")


def _begun(store: Store, group: str, job: Job) -> WorkflowId:
    """A new workflow with one job, which every placeholder may run."""
    from headway.live.store.growth import alone
    from headway.live.store.relative import resolved
    from headway.live.store.submission import Submission
    from headway.model.messages import WorkflowId

    flat = alone(group, job).flat
    folder = os.path.realpath(".")
    new = Submission(NAME, resolved(os.path.join(folder, NAME)), folder, flat, [0])  # noqa: PTH118
    number = store.submissions.add(new, store.clock(), WorkflowId(0))
    store.submissions.want(number, [""])
    return number
