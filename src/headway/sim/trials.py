"""A workflow submitted to a replayed queue at many moments, by several methods: the same moments for each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from threading import Thread
from typing import TypeVar

from headway.engine.queue import Policy
from headway.formats.swf import Log
from headway.model.errors import HeadwayError, UsageError
from headway.model.messages import Seconds
from headway.model.record import record
from headway.policies.how_much import Limits, method
from headway.sim.estimates import check, estimate
from headway.sim.heap import Streams
from headway.sim.replay import Replay, Shifts
from headway.sim.submission import Case, Outcome, Submission

WARM_UP = 0.1  # of a log's time: before, the queue is emptier than it ever was; at its end nothing comes any more


def moments(log: Log, count: int, seed: int) -> list[Seconds]:
    """When a workflow is submitted: uniform over the log, without a tenth at either end."""
    if len(log) < 2 or log.submit[-1] == log.submit[0]:
        raise UsageError(
            f"{log.name}: a log of {len(log)} jobs has no time to submit anything at."
            + "".join(f" {said[0].upper()}{said[1:]}" for said in log.warnings),
            "Choose another log.",
        )
    first, last = log.submit[0], log.submit[-1]
    span = last - first
    draws = Streams(seed).of("starts", log.name)
    return [first + span * (WARM_UP + (1 - 2 * WARM_UP) * draws.random()) for _ in range(count)]


@record
class Trial:
    """What one submission measured."""

    wait: Seconds
    relative_wait: float
    makespan: Seconds
    core_hours: float
    allocation_wait: Seconds
    allocations: int
    cancelled: int
    cut: int
    individually: bool  # whether it ended with an allocation for each job
    estimates: int  # allocations whose wait was estimated
    error: Seconds  # estimated less real waits, of all of them together
    absolute_error: Seconds
    estimated_waits: Seconds  # real waits of these
    unknown: int  # estimates that could not be given
    shifted: int  # jobs of the log that started at another time because of us
    shift: Seconds  # later, all together
    log_jobs: int  # that came meanwhile
    held: int  # jobs of the log that still waited at the end, and without us had started
    held_seconds: Seconds  # for how long, all together: the least, as they went on waiting


METRICS = ("wait", "relative_wait", "makespan", "core_hours", "allocation_wait")


@record
class Setting:
    """A queue, and what is known of it."""

    log: Log
    policy: Policy
    estimate: str = "requested"
    limits: Limits = Limits()
    loose: bool = False  # allocations run guests beside their own jobs


class Trials:
    """A log replayed once, with checkpoints at all moments."""

    def __init__(self, setting: Setting, starts: Sequence[Seconds]) -> None:
        check(setting.estimate)
        self.setting, self.starts = setting, list(starts)
        self.replay = Replay(setting.log, setting.policy, starts)

    def trial(self, case: Case, how: str, start: int, told: str | None = None, loose: bool | None = None) -> Trial:
        """One submission by a method, at the so many-th moment; `told`, `loose`: other than the setting has it."""
        moment = self.starts[start]
        queue = self.replay.checkpoints[moment].copied()
        before, unknown = queue.come, 0
        told_wait = estimate(told or self.setting.estimate, queue, self.replay, moment)

        def wait_of(width: int, seconds: Seconds) -> Seconds | None:
            nonlocal unknown
            found = told_wait(width, seconds)
            unknown += found is None
            return found

        setting, guests = self.setting, self.setting.loose if loose is None else loose
        processors = setting.log.processors
        found = Submission(queue, case, method(how), processors, wait_of, setting.limits, guests).outcome()
        return _trial(found, unknown, queue.shifts, queue.come - before)


def _trial(found: Outcome, unknown: int, shifts: Shifts, log_jobs: int) -> Trial:
    errors = [
        (one.estimate - (one.began - one.asked), one.began - one.asked)
        for one in found.allocations
        if one.began is not None and one.estimate is not None
    ]
    return Trial(
        found.wait,
        found.relative_wait,
        found.makespan,
        found.core_hours,
        found.allocation_wait,
        len(found.allocations),
        found.cancelled,
        found.cut,
        found.individually,
        len(errors),
        sum(error for error, _ in errors),
        sum(abs(error) for error, _ in errors),
        sum(real for _, real in errors),
        unknown,
        shifts.jobs,
        shifts.seconds,
        log_jobs,
        shifts.held,
        shifts.held_seconds,
    )


Item = TypeVar("Item")
Found = TypeVar("Found")
_work: Callable[[object], object] | None = None  # what children of this process do, who inherit it


def on_all_cores(
    work: Callable[[Item], Found], items: Sequence[Item], cores: int | None = None
) -> Iterator[tuple[int, Found]]:
    """Does something with each item in processes that inherit all there is now; results with places, as they come."""
    global _work
    cores = min(cores or len(os.sched_getaffinity(0)), len(items))
    if cores <= 1:
        yield from ((at, work(item)) for at, item in enumerate(items))
        return
    _work = work  # type: ignore[assignment]
    ours, theirs = os.pipe()  # its end is the end of this process, whatever ended it
    pool = ProcessPoolExecutor(
        cores, multiprocessing.get_context("fork"), initializer=_end_with, initargs=(ours, theirs)
    )
    try:
        yield from _results(pool, items, 4 * cores)
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, (HeadwayError, KeyboardInterrupt, GeneratorExit)):
            raise
        raise HeadwayError(f"a process of the simulation failed: {error}.", "Tell Headway's authors.") from error
    finally:
        pool.shutdown()
        _work = None
        os.close(ours)
        os.close(theirs)


def _results(pool: ProcessPoolExecutor, items: Sequence[Item], most: int) -> Iterator[tuple[int, Found]]:
    """What comes of the items, of which at most so many are handed out at a time."""
    todo, ahead = iter(enumerate(items)), dict[Future[object], int]()
    while True:
        for at, item in islice(todo, most - len(ahead)):
            ahead[pool.submit(_done, item)] = at
        if not ahead:
            return
        for future in wait(ahead, return_when=FIRST_COMPLETED).done:
            yield ahead.pop(future), future.result()  # type: ignore[misc]


def _end_with(pipe: int, parents: int) -> None:
    """In a child: ends it when its parent has been killed, which the pool's own queues do not tell."""
    os.close(parents)

    def watch() -> None:
        os.read(pipe, 1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _done(item: object) -> object:
    assert _work is not None
    return _work(item)
