"""A line to a runner that others have started: to watch how far a workflow is, or to stop it."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from types import TracebackType

from headway.live.answers.which import chosen
from headway.live.client.asking import GLANCE, asked_all, doors
from headway.live.client.line import Line
from headway.live.client.lines import Lines
from headway.live.client.messages import Cancel, Progress, Watch
from headway.live.client.watch import Stops, reports
from headway.live.home.folder import Home
from headway.live.home.store_location import found_store, home_of
from headway.live.store import Store
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import WorkflowId
from headway.model.states import State

PAUSE = 0.1  # seconds between two looks at a workflow whose placeholders are not on this host


def handed_in(store: str | None, workflow: str | None) -> tuple[Store, WorkflowId] | None:
    """The workflow that a command means, if placeholders run it that nobody waits for; None if it is not such a one."""
    home, database = found_store(store, to_look=True)
    run = chosen(database, workflow, home)
    if not database.watching.is_wanted(run.id):
        return None
    folder = home_of(home, store, database, run.id)
    said = None if folder is None else asked_all(folder, GLANCE)
    return None if said is not None and run.id in said.workflows else (database, run.id)


def followed(store: Store, workflow: WorkflowId) -> Iterator[Progress]:
    """How far a workflow is whose placeholders may be anywhere, until nothing of it runs or can; by what is stored."""
    stops = Stops()
    while True:
        running = store.progress.counts(workflow).get(State.RUNNING, 0)
        is_over = not store.progress.is_under_way(workflow)
        yield Progress(running=running, ended=is_over)
        if is_over:
            return
        ready, _, _ = select.select([stops.fileno()], [], [], PAUSE)
        if ready:
            raise KeyboardInterrupt


def called_off(store: str | None, workflow: WorkflowId, gently: bool) -> None:
    """Has placeholders begin nothing more of a workflow; what runs of it ends, unless gently. Waits for that."""
    _, database = found_store(store)
    database.submissions.unwant(workflow)
    if not gently:
        database.steering.call_off(workflow)
    while database.progress.counts(workflow).get(State.RUNNING, 0):
        time.sleep(PAUSE)


def chosen_run(store: str | None, workflow: str | None) -> tuple[Home, Store, WorkflowId]:
    """The workflow that a command means, and the folder of its runner."""
    home, database = found_store(store, to_look=True)
    run = chosen(database, workflow, home)
    home = home_of(home, store, database, run.id)
    if home is None:
        raise NotFoundError(
            f"nobody runs workflow {run.id} on this computer.", "Go to the one where headway run was started."
        )
    return home, database, run.id


def check_running(home: Home, store: Store, workflow: WorkflowId) -> None:
    """Refuses a workflow that nobody runs: there is nothing to stop."""
    said = asked_all(home, GLANCE)
    if said is not None and workflow not in said.runs | store.watching.leased():
        raise NotFoundError(f"workflow {workflow} is not being run.", "headway runs shows which one is.")


def _call_again(home: Home, store: Store, workflow: WorkflowId) -> None:
    """Starts the processes of sites where jobs of a workflow run, if they have died: hosts hear of nobody else."""
    for one in doors(home)[1:]:
        site = one.folder.name
        if any(of == workflow for of, _ in store.allocations.running(site)) and Line.to(one, GLANCE) is None:
            from headway.live.sites.start import start

            start(home, store.place, site)


class Attached:
    """Lines to the runner of a store and the processes of its sites, for a workflow that they may be running."""

    def __init__(self, home: Home, store: Store, workflow: WorkflowId) -> None:
        self._workflow = workflow
        if home.is_foreign:
            raise HeadwayError("what runs in this store is another user's.", "headway status shows how far it is.")
        home.check()
        _call_again(home, store, workflow)
        lines = {one.folder.name: line for one in doors(home) if (line := Line.to(one, GLANCE)) is not None}
        if not lines:
            raise NotFoundError("nothing is being run in this store.", "headway run W goes on with a workflow.")
        self._line = Lines(lines)

    def __enter__(self) -> Attached:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.close()

    def cancel(self, at_once: bool) -> None:
        """Has the workflow stopped for everybody; its jobs too, if at once."""
        self._line.say(Cancel(self._workflow, at_once))

    def progress(self) -> Iterator[Progress]:
        """Reports until nobody runs the workflow any more, or its user has seen enough."""
        self._line.say(Watch(self._workflow))
        stops = Stops()
        yield from reports(self._line, stops)
