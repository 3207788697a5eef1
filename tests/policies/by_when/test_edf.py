from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headway.policies.by_when.edf import done_by, holes, keeps, latest_starts, next_job

Job = tuple[int, int, int, int]  # deadline, cost, when its inputs are promised, when they come


def starts_of(due: list[int], cost: list[int], off: list[tuple[int, int]]) -> list[int]:
    starts = [0] * len(due)
    latest_starts(due, cost, len(due), [one for one, _ in off], [one for _, one in off], len(off), starts)
    return starts


def accepted(queue: list[Job], new: Job, busy: int, off: list[tuple[int, int]]) -> bool:
    jobs = sorted([*queue, new])
    starts = starts_of([job[0] for job in jobs], [job[1] for job in jobs], off)
    return keeps([job[2] for job in jobs], starts, len(jobs), busy)


@given(st.integers(0, 10**9), st.booleans())
def test_no_accepted_job_ever_ends_after_its_deadline(seed: int, withheld: bool) -> None:
    """Jobs come at any time, with inputs that come early, or as late as promised; some hours are withheld."""
    rng = Random(seed)
    off = [(400, 520), (900, 930)] if withheld else []
    queue: list[Job] = []
    running: Job | None = None
    busy = now = 0
    while now < 1500:
        if running and busy <= now:
            assert now <= running[0]
            running = None
        if now < 1000 and rng.random() < 0.1:
            release = now + rng.randint(0, 200)
            cost = rng.randint(5, 60)
            new = (release + cost + rng.randint(0, 250), cost, release, rng.randint(now, release))
            if accepted(queue, new, max(busy, now), off):
                queue = sorted([*queue, new])
        if not running and queue:
            due, cost_of = [job[0] for job in queue], [job[1] for job in queue]
            starts = starts_of(due, cost_of, off)
            froms, tos = [one for one, _ in off], [one for _, one in off]
            chosen = next_job([job[3] <= now for job in queue], cost_of, starts, len(queue), now, froms, tos, len(off))
            if chosen >= 0:
                running = queue.pop(chosen)
                busy = now + running[1]
                assert all(not (begin < busy and now < end) for begin, end in off)
        now += 1
    assert not queue


def found_holes(
    due: list[int], cost: list[int], busy: int, horizon: int, off: list[tuple[int, int]]
) -> set[tuple[int, int]]:
    starts, begins, ends = starts_of(due, cost, off), [0] * 50, [0] * 50
    froms, tos = [one for one, _ in off], [one for _, one in off]
    count = holes(due, starts, len(due), busy, horizon, froms, tos, len(off), begins, ends)
    return set(zip(begins[:count], ends[:count], strict=True))


def test_holes_are_those_of_figure_3() -> None:
    """T1 runs until 10. The others are pushed to their deadlines; T4 must have begun when T3 is due: no hole there."""
    assert found_holes([30, 60, 70], [10, 15, 15], 10, 100, []) == {(10, 20), (30, 40), (70, 100)}


def test_an_idle_node_is_one_hole() -> None:
    assert found_holes([], [], 5, 100, []) == {(5, 100)}


def test_withheld_hours_are_cut_out_of_holes() -> None:
    assert found_holes([30], [10], 0, 100, [(5, 8), (50, 60)]) == {(0, 5), (8, 20), (30, 50), (60, 100)}


@given(st.integers(0, 10**9))
def test_what_a_hole_says_fits_in_it(seed: int) -> None:
    """A job as long as a hole, with its end for a deadline and its beginning for a startline, is accepted."""
    rng = Random(seed)
    queue: list[Job] = []
    for _ in range(rng.randint(0, 6)):
        release = rng.randint(0, 100)
        cost = rng.randint(1, 30)
        new = (release + cost + rng.randint(0, 100), cost, release, release)
        if accepted(queue, new, 5, []):
            queue = sorted([*queue, new])
    for begin, end in found_holes([job[0] for job in queue], [job[1] for job in queue], 5, 400, []):
        assert accepted(queue, (end, end - begin, begin, begin), 5, [])


@given(st.integers(0, 10**9))
def test_from_when_a_queue_can_be_done_all_the_time_is_free_for_what_is_due_later(seed: int) -> None:
    rng = Random(seed)
    queue: list[Job] = []
    for _ in range(rng.randint(0, 6)):
        release = rng.randint(0, 100)
        cost = rng.randint(1, 30)
        new = (release + cost + rng.randint(0, 100), cost, release, release)
        if accepted(queue, new, 5, []):
            queue = sorted([*queue, new])
    begin = done_by([job[2] for job in queue], [job[1] for job in queue], len(queue), 5)
    assert accepted(queue, (1000, 1000 - begin, begin, begin), 5, [])


def test_a_job_that_can_run_does_not_take_the_time_of_an_urgent_one() -> None:
    """The first is due first but not ready; only what ends before it must begin may pass."""
    assert next_job([False, True], [10, 15], [20, 40], 2, 0, [], [], 0) == 1
    assert next_job([False, True], [10, 25], [20, 40], 2, 0, [], [], 0) == -1
