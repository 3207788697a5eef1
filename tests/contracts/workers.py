"""Processes that work on one store at the same time, and processes that die at it."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import FrameType
from typing import Any

from headway.engine.ready import Room
from headway.live.store import Store, opened
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, WorkflowId
from tests.contracts.crew import Crew, all_done, flow, layered

LAYERS, WIDTH, WORKERS = 8, 50, 4


def crowd(place: str, folder: Path) -> None:
    """Four processes do a layered workflow: every job once, and none before those it waits for."""
    submission, arcs = layered(LAYERS, WIDTH)
    store = opened(place)
    workflow = store.submissions.add(submission, 1.0)
    spawning = multiprocessing.get_context("spawn")
    start = spawning.Barrier(WORKERS)
    workers = [
        spawning.Process(target=_work, args=(place, workflow, folder / f"ledger-{number}", 1 + number, start))
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    ledger = [json.loads(line) for path in folder.glob("ledger-*") for line in path.read_text().splitlines()]
    assert Counter(job for job, *_ in ledger).most_common(1)[0][1] == 1 and len(ledger) == LAYERS * WIDTH
    assert all_done(store, workflow) and store.history.events() == []
    assert [attempt[1] for attempt in store.progress.attempts(workflow)] == [1] * LAYERS * WIDTH
    begun = {job: begin for job, begin, _ in ledger}
    ended = {job: end for job, _, end in ledger}
    assert all(ended[parent] <= begun[child] for parent, child in arcs)
    assert all(path.stat().st_size for path in folder.glob("ledger-*"))


def _work(place: str, workflow: WorkflowId, ledger: Path, want: int, start: Barrier) -> None:
    """Takes its first jobs, waits until all have theirs, and goes on to the end."""
    store = opened(place)
    placeholder = store.placeholders.enter("here", os.getpid(), 1.0)
    finished, lines = list[Finish](), list[str]()
    while finished or not all_done(store, workflow):
        leases = store.leases.exchange(placeholder, finished, Room(want, 10), [workflow], 1.0).leases
        begun = time.monotonic_ns()
        finished = [Finish(lease.id, 0, 1.0, 2.0) for lease in leases]
        if not lines:
            start.wait()
        lines += [json.dumps((lease.job, begun, time.monotonic_ns())) for lease in leases]
    ledger.write_text("".join(line + "\n" for line in lines))


def steered_crowd(place: str) -> None:
    """Three processes work while somebody steers: in the end all is done, in order, and every counter is right."""
    submission, arcs = layered(4, 12)
    store = opened(place)
    workflow = store.submissions.add(submission, 1.0)
    jobs = [job.job for job in store.progress.jobs(workflow)]
    spawning = multiprocessing.get_context("spawn")
    workers = [spawning.Process(target=_drudge, args=(place, workflow)) for _ in range(3)]
    for worker in workers:
        worker.start()
    chance, refused = random.Random(3), 0
    for _ in range(40):
        first = chance.choice(jobs)
        try:
            store.steering.steer(chance.choice(["disable", "enable", "stop", "redo"]), workflow, [(first, first + 5)])
        except HeadwayError as error:
            assert "cannot be run again" in str(error)
            refused += 1
    store.steering.steer("enable", workflow, [(0, max(jobs))])
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    assert refused < 40 and store.steering.miscounted(workflow) == [] and store.history.events() == []
    places = {job.name: int(job.job) for job in store.progress.jobs(workflow)}
    last = {places[str(attempt[0])]: at for at, attempt in enumerate(store.progress.attempts(workflow))}
    assert all(last[parent] < last[child] for parent, child in arcs)


def _drudge(place: str, workflow: WorkflowId) -> None:
    store = opened(place)
    placeholder = store.placeholders.enter("here", os.getpid(), 1.0)
    finished = list[Finish]()
    while finished or not all_done(store, workflow):
        leases = store.leases.exchange(placeholder, finished, Room(2, 10), [workflow], 1.0).leases
        finished = [Finish(lease.id, 0, 1.0, 2.0) for lease in leases]


def killed_in_steer(place: str) -> None:
    crew = Crew.on(place, flow("abMcd", "aM", "bM", "Mc", "ad~"))
    crew.take(2)
    crew.end("a", exit_code=1)
    crew.end("b")
    crew.run("d")

    def seen() -> object:
        return crew.store.progress.jobs(crew.workflow), crew.store.steering.miscounted(crew.workflow)

    assert _deaths(place, lambda mine: mine.steering.steer("redo", crew.workflow, [(0, 1)]), seen) >= 6
    assert crew.states() == "a:e b:e c:w d:w" and crew.store.steering.miscounted(crew.workflow) == []


def killed_in_exchange(place: str) -> None:
    """Dies before each of its statements in turn: what is seen from outside stays as it was, until one lives."""
    crew = Crew.on(place, flow("abcMde", "aM", "bM", "Md", "ad", "ce~"))
    crew.take(3)
    finished = [crew.finish("a"), crew.finish("b"), crew.finish("c", 1)]

    def work(store: Store) -> None:
        store.leases.exchange(crew.placeholder, finished, Room(4, 4), [crew.workflow], 9.0)

    def seen() -> object:
        return (
            crew.store.progress.jobs(crew.workflow),
            crew.store.progress.attempts(crew.workflow),
            crew.store.history.events(),
        )

    assert _deaths(place, work, seen) >= 6
    assert crew.states() == "a:d b:d c:f d:r e:r"


def killed_in_add(place: str) -> None:
    store = opened(place)
    submission = flow("abc", "ac", "bc")
    assert (
        _deaths(
            place, lambda mine: mine.submissions.add(submission, 1.0), lambda: store.submissions.latest("/flow.dag")
        )
        >= 2
    )
    latest = store.submissions.latest("/flow.dag")
    assert latest is not None and len(store.progress.jobs(latest[0])) == 3


def killed_in_forget(place: str) -> None:
    crew = Crew.on(place, flow("ab", "ab"))
    crew.run("a", "b")

    def seen() -> object:
        return (
            crew.store.history.runs(),
            crew.store.history.attempts(crew.workflow),
            crew.store.history.web(crew.workflow),
        )

    assert _deaths(place, lambda mine: mine.history.forget([crew.workflow]), seen) >= 10
    assert crew.store.history.runs() == []


def _deaths(place: str, work: Callable[[Store], object], seen: Callable[[], object]) -> int:
    """How often a process died at the work before one came through."""
    before = seen()
    for deaths in range(100):
        child = os.fork()
        if not child:
            try:
                store = opened(place)
                _die_at(deaths)
                work(store)
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            return deaths
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        assert seen() == before
    raise AssertionError("it never came through")


def _die_at(statement: int) -> None:
    """Ends this process, as kill -9 does, before it runs its n-th statement."""
    count = 0

    def watch(frame: FrameType, event: str, what: Any) -> None:
        nonlocal count
        if event == "c_call":
            runs = getattr(what, "__name__", "") in ("execute", "executemany") and "sqlite3" in repr(what)
        else:
            code = frame.f_code
            runs = event == "call" and code.co_name in ("execute", "copy") and "psycopg" in code.co_filename
        if runs:
            if count == statement:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

    sys.setprofile(watch)
