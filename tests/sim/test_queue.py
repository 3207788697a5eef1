"""The simulated batch queue: the plain one, the fast one, and a third one written second by second, all agree."""

from __future__ import annotations

import lzma
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.queue import AllocationId, FairShare, Policy, Request, Scheduler
from headway.formats.swf import Log, parse
from headway.model.record import replace
from headway.sim.queue import BatchQueue, News, PlainQueue
from headway.sim.queue_policies import NAMES, policy
from headway.sim.replay import Replay
from tests.shell import ROOT
from tests.sim.queues import Reference, as_requested, log_of, logs, policies

DATA = (ROOT / "../shared/data/swf").resolve()
FIRST_COME = Policy("first come")


def plain_starts(log: Log, rules: Policy) -> list[float]:
    queue = PlainQueue(log, rules)
    queue.advance(math.inf)
    return list(queue.starts)


@settings(max_examples=300)
@given(logs(), policies())
def test_every_job_starts_when_the_rules_taken_literally_say(log: Log, rules: Policy) -> None:
    assert plain_starts(log, rules) == Reference(log, rules).played()


@settings(max_examples=300)
@given(logs(40), policies())
def test_the_kernel_starts_every_job_when_the_engine_does(log: Log, rules: Policy) -> None:
    assert Replay(log, rules).starts.tolist() == plain_starts(log, rules)


@settings(max_examples=200)
@given(logs(40), policies())
def test_no_job_starts_before_it_comes_and_never_more_run_than_fit(log: Log, rules: Policy) -> None:
    starts = Replay(log, rules).starts
    assert all(start >= submit for start, submit in zip(starts, log.submit, strict=True))
    ends = starts + np.array(log.run)
    for moment in starts:
        assert np.array(log.width)[(starts <= moment) & (moment < ends)].sum() <= log.processors


@settings(max_examples=200)
@given(logs(30), policies())
def test_backfill_never_delays_the_reservation(log: Log, rules: Policy) -> None:
    """Whatever starts beside the first in the queue, its reservation is not later than before."""
    scheduler = Scheduler(log.processors, rules)
    ends: list[tuple[float, AllocationId]] = []
    for job in range(len(log)):
        now = log.submit[job]
        for end, ended in sorted(ends):
            if end <= now:
                scheduler.end(ended, end)
                ends.remove((end, ended))
                _check_reservation(scheduler, log, end, ends)
        scheduler.submit(Request(AllocationId(job), log.width[job], log.request[job], now, log.user[job]))
        _check_reservation(scheduler, log, now, ends)


def _check_reservation(scheduler: Scheduler, log: Log, now: float, ends: list[tuple[float, AllocationId]]) -> None:
    while scheduler.waiting and scheduler.waiting[0][2].width <= scheduler.free:
        first = scheduler.waiting.pop(0)[2]
        scheduler._start(first, now)
        ends.append((now + log.run[first.id], first.id))
    if not scheduler.waiting:
        return
    before, _ = scheduler.reservation()
    first = scheduler.waiting[0][2]
    for request in scheduler.started(now):
        ends.append((now + log.run[request.id], request.id))
    assert scheduler.waiting[0][2] == first and scheduler.reservation()[0] <= before


Steps = list[tuple[str, int, int, int]]


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """What we do in the middle of a log: wait, ask, submit, cancel, end."""
    one = st.tuples(
        st.sampled_from(["wait", "ask", "submit", "cancel", "end", "settle", "ask half"]),
        st.integers(0, 9), st.integers(1, 8), st.integers(1, 40),
    )  # fmt: skip
    return draw(st.lists(one, min_size=1, max_size=12))


def done(queue: BatchQueue, log: Log, doing: Steps, begun: float) -> list[object]:
    """All that we hear while we do these things."""
    heard: list[object] = []
    waiting: list[AllocationId] = []
    running: list[AllocationId] = []
    target = begun

    def hear(news: list[News]) -> None:
        for one in sorted(news, key=lambda one: (one.id, one.began)):
            heard.append((queue.now, one.id, one.began))
            if one.began:
                waiting.remove(one.id)
                running.append(one.id)
            else:
                running.remove(one.id)

    for what, seconds, width, length in doing:
        if what == "wait":
            target += seconds
            while queue.now < target or seconds == 0:
                hear(queue.advance(target))
                seconds = 1
        elif what == "settle":
            hear(queue.settle())
        elif what == "submit":
            waiting.append(queue.submit(min(width, log.processors), length))
        elif what == "cancel" and waiting:
            queue.cancel(waiting.pop(0))
        elif what == "end" and running:
            queue.end(running.pop(0))
        elif what.startswith("ask"):
            used = 0.5 if what == "ask half" else 1.0
            heard.append(queue.showstart(width, length, used))
    while waiting or running:
        hear(queue.advance(math.inf))
    return heard


@settings(max_examples=500)
@given(logs(25), policies(), steps(), st.integers(0, 80))
def test_what_we_ask_and_do_in_a_log_is_answered_alike_from_a_checkpoint(
    log: Log, rules: Policy, doing: Steps, after: int
) -> None:
    begun = log.submit[0] + after
    plain = PlainQueue(log, rules)
    plain.advance(begun)
    checkpoint = Replay(log, rules, [begun]).checkpoints[begun]
    assert checkpoint.copied().now == plain.now == begun
    assert done(checkpoint.copied(), log, doing, begun) == done(plain, log, doing, begun)


@settings(max_examples=300)
@given(logs(25, within=8), policies(), st.integers(0, 30), st.sampled_from([1.0, 0.5, 0.25]))
def test_any_number_of_estimates_from_one_play_are_those_of_a_play_each(
    log: Log, rules: Policy, after: int, used: float
) -> None:
    now = log.submit[0] + after
    plain = PlainQueue(log, rules)
    plain.advance(now)
    fast = Replay(log, rules, [now]).checkpoints[now].copied()
    asked = [(width, seconds) for width in range(1, log.processors + 1) for seconds in (1, 7, 20, 60, 300)]
    assert [fast.showstart(*one, used) for one in asked] == [plain.showstart(*one, used) for one in asked]


@settings(max_examples=300)
@given(logs(within=20), policies(), st.integers(0, 40), st.integers(1, 8), st.integers(1, 60))
def test_an_estimate_is_what_the_rules_say_taken_literally(
    log: Log, rules: Policy, after: int, width: int, seconds: int
) -> None:
    rules = replace(rules, fair_share=None)  # what would be counted of a future that is only played, no rule says
    width, now = min(width, log.processors), int(log.submit[0]) + after
    starts = plain_starts(log, rules)
    there = as_requested(log, starts, now, width, seconds)
    reference = Reference(there, rules)
    mine = len(there) - 1
    reference.starts = {job: int(starts[job]) for job in range(mine) if starts[job] <= now}
    plain = PlainQueue(log, rules)
    plain.advance(now)
    plain.settle()
    assert plain.showstart(width, seconds) == reference.start_of(mine, now) - now


def test_an_estimate_is_kept_where_nobody_else_comes_and_all_use_their_requests() -> None:
    log = log_of([(0, 50, 4, 50, 0), (1, 30, 2, 30, 1), (2, 40, 3, 40, 1)], 4)
    for width, seconds in ((1, 5), (2, 100), (4, 10)):
        queue = PlainQueue(log, FIRST_COME)
        queue.advance(3)
        wait = queue.showstart(width, seconds)
        mine = queue.submit(width, seconds)
        assert queue.advance(math.inf) == [News(mine, True)]
        assert queue.now == 3 + (wait or 0)


def test_a_request_wider_than_the_machine_has_no_estimate() -> None:
    log = log_of([(0, 5, 1, 5, 0)], 4)
    assert PlainQueue(log, FIRST_COME).showstart(5, 10) is None
    assert Replay(log, FIRST_COME, [0.0]).checkpoints[0.0].copied().showstart(5, 10) is None


def test_who_uses_half_of_a_request_is_expected_to_end_by_then() -> None:
    queue = PlainQueue(log_of([(0, 100, 4, 100, 0)], 4), FIRST_COME)
    queue.advance(10)
    queue.settle()
    assert (queue.showstart(1, 5), queue.showstart(1, 5, 0.5), queue.showstart(1, 5, 0.05)) == (90, 40, 0)


def test_a_request_that_waits_can_be_asked_for_too() -> None:
    scheduler = Scheduler(4, FIRST_COME)
    for name, width in enumerate((4, 2, 4)):
        scheduler.submit(Request(AllocationId(name), width, 10, 0))
        scheduler.started(0)
    assert [scheduler.start_of(AllocationId(name), 0) for name in (1, 2, 3)] == [10, 20, None]


def test_the_reservation_decides_who_may_start_beside_it() -> None:
    """Four processors, three busy until 100; the first in the queue wants all four."""
    rows = [(0, 100, 3, 100, 0), (1, 10, 4, 10, 0), (2, 98, 1, 98, 0), (3, 99, 1, 99, 0)]
    assert plain_starts(log_of(rows, 4), FIRST_COME) == [0, 100, 2, 110]


def test_backfill_beside_the_reservation_is_an_option() -> None:
    """The first in the queue will leave one processor: a long job may have it with EASY's second condition only."""
    rows = [(0, 100, 3, 100, 0), (1, 10, 3, 10, 0), (2, 500, 1, 500, 0)]
    log = log_of(rows, 4)
    assert plain_starts(log, FIRST_COME) == [0, 100, 100]
    assert plain_starts(log, Policy("easy", beside=True)) == [0, 100, 2]


def test_large_jobs_first_small_jobs_first_and_longest_waiting_first() -> None:
    """A full machine falls free at 100; a small job came at 1, a large one at 2."""
    rows = [(0, 100, 100, 100, 0), (1, 50, 60, 200, 1), (2, 50, 80, 200, 2)]
    log = log_of(rows, 100)
    first = {name: plain_starts(log, policy(name)) for name in NAMES}
    assert first == {"FCFS": [0, 100, 150], "FL": [0, 100, 150], "FS": [0, 100, 150]}  # both at the cap: wait decides
    rows = [(0, 100, 100, 100, 0), (1, 50, 90, 200, 1), (2, 50, 20, 200, 2)]
    first = {name: plain_starts(log_of(rows, 100), policy(name)) for name in NAMES}
    assert first == {"FCFS": [0, 100, 150], "FL": [0, 100, 150], "FS": [0, 150, 100]}
    rows = [(0, 100, 100, 100, 0), (1, 50, 20, 200, 1), (2, 50, 90, 200, 2)]
    first = {name: plain_starts(log_of(rows, 100), policy(name)) for name in NAMES}
    assert first == {"FCFS": [0, 150, 100], "FL": [0, 150, 100], "FS": [0, 100, 150]}


def test_wait_has_no_cap_so_that_a_large_job_starts_even_if_small_ones_are_favoured() -> None:
    """Small jobs keep coming, one every hour for two weeks; the wide one is not passed over for ever."""
    small = [(3600.0 * at, 7000.0, 60, 7200.0, 1 + at % 5) for at in range(24 * 14)]
    log = log_of([*small, (10.0, 100.0, 100, 100.0, 9)], 100)
    starts = dict(zip(log.width, plain_starts(log, policy("FS")), strict=False))
    assert starts[100] < 24 * 7 * 3600


def test_who_has_used_the_machine_comes_later() -> None:
    """User 0 had the machine for a day; then both ask at once, user 0 first."""
    rules = Policy("fair", hour=1.0, fair_share=FairShare(1.0, interval=1000.0, depth=2, decay=0.5))
    rows = [(0, 990, 4, 990, 0), (5, 100, 4, 100, 7), (1005, 10, 4, 10, 0), (1006, 10, 4, 10, 1)]
    log = log_of(rows, 4)
    assert plain_starts(log, rules) == Replay(log, rules).starts.tolist() == [0, 990, 1100, 1090]
    assert FairShare(2.0, interval=10.0, decay=0.5).penalty([40.0, 20.0], 4) == 2.0 * 100 * 50 / 60


@pytest.mark.skipif(not DATA.is_dir(), reason="the logs of the Parallel Workloads Archive are not beside this checkout")
@pytest.mark.parametrize("name", NAMES)
def test_on_a_real_log_the_kernel_starts_all_28467_jobs_when_the_engine_does(name: str) -> None:
    with lzma.open(DATA / "KTH-SP2-1996-2.1-cln.swf.xz", "rt") as lines:
        log = parse("KTH", lines, jobs="all")
    assert len(log) == 28_467
    assert Replay(log, policy(name)).starts.tolist() == plain_starts(log, policy(name))


def test_shifts_say_how_much_later_others_start_because_of_us() -> None:
    log = log_of([(0, 10, 4, 10, 0), (5, 10, 4, 10, 0), (6, 10, 2, 10, 0)], 4)
    queue = Replay(log, Policy("large", percent=1.0), [3.0]).checkpoints[3.0].copied()
    mine = queue.submit(4, 7)
    assert queue.advance(math.inf) == [News(mine, True)] and queue.advance(16.0) == []
    # The second had started at 10 without us, and waits until 17.
    assert (queue.shifts.jobs, queue.shifts.held, queue.shifts.held_seconds) == (0, 1, 6.0)
    assert queue.advance(math.inf) == [News(mine, False)] and queue.advance(math.inf) == []
    assert (queue.shifts.held, queue.shifts.held_seconds) == (0, 0.0)
    assert (queue.shifts.jobs, queue.shifts.seconds, queue.shifts.most) == (2, 14.0, 7.0)


def test_places_of_all_jobs_at_once_are_those_of_each() -> None:
    log = log_of([(3.7 * at, 5, 1 + at % 7, 5, 0) for at in range(50)], 7)
    for name in NAMES:
        rules = policy(name)
        jobs = Replay(log, rules)._jobs
        assert jobs.place.tolist() == [rules.place(wide, at, 7) for wide, at in zip(log.width, log.submit, strict=True)]


@pytest.mark.parametrize("count", [1, 3])
def test_used_is_the_median_share_of_requests(count: int) -> None:
    log = log_of([(at, 10 * (at + 1), 1, 100, 0) for at in range(3)], 4)
    assert Replay(log, FIRST_COME).used(10.0 if count == 1 else 1000.0) == (0.1 if count == 1 else 0.2)
