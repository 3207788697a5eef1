from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headway.policies.by_when.cells import usable
from headway.policies.by_when.reference_points import MINUTE, of_epoch
from headway.policies.by_when.routing import BEST, EARLIEST, WORST, one_hole, several_holes
from headway.policies.by_when.summary import POWER_OF, class_needed, class_of, summary

DAY = 1440 * MINUTE
FREE = summary(0, [(0, 3 * DAY, 1000, 0)]).counts
SHORT = summary(0, [(0, 30 * MINUTE, 1000, 0)]).counts
LATE = summary(0, [(60 * MINUTE, 3 * DAY, 3000, 0)]).counts


def test_the_smallest_hole_that_is_enough_is_taken() -> None:
    work = 10 * MINUTE * 1000
    parts = [FREE, SHORT, LATE]
    assert (one_hole(parts, 0, work, 0, 240 * MINUTE) or (9, 9))[0] == 1
    assert (one_hole(parts, 0, work, 0, 240 * MINUTE, fit=EARLIEST) or (9, 9))[0] == 0
    assert (one_hole(parts, 0, work, 0, 240 * MINUTE, fit=WORST) or (9, 9))[0] == 2


def test_what_fits_nowhere_is_found_nowhere() -> None:
    assert one_hole([SHORT, {}], 0, 40 * MINUTE * 1000, 0, DAY) is None
    assert one_hole([FREE], 0, MINUTE * 1000, 0, DAY, needed=class_needed(1 << 40, 0)) is None


def test_memory_is_looked_at() -> None:
    large = summary(0, [(0, 3 * DAY, 1000, class_of(8 << 30, 0))]).counts
    assert (one_hole([FREE, large], 0, 1, 0, DAY, needed=class_needed(8 << 30, 0)) or (9, 9))[0] == 1


def test_among_equal_holes_the_nearest_child_is_taken() -> None:
    for near in range(4):
        assert (one_hole([FREE] * 4, 0, 1000, 0, DAY, nearest=near) or (9, 9))[0] == near


def test_a_sequence_too_long_for_one_hole_is_cut_at_reference_points() -> None:
    """Two holes of half an hour's work, one after the other."""
    early = summary(0, [(0, 30 * MINUTE, 1000, 0)]).counts
    late = summary(0, [(30 * MINUTE, 60 * MINUTE, 1000, 0)]).counts
    works = [8 * MINUTE * 1000] * 4
    assert one_hole([early, late], 0, sum(works), 0, 60 * MINUTE) is None
    pieces = several_holes([early, late], 0, works, [(0, 0)] * 4, 0, 60 * MINUTE, 2000)
    assert pieces is not None and [piece.child for piece in pieces] == [0, 1]
    assert [(piece.first, piece.end) for piece in pieces] == [(0, 2), (2, 4)]
    assert pieces[0].deadline in of_epoch(0) and pieces[1].start == pieces[0].deadline + 2000


def test_bounds_inside_a_sequence_are_kept_by_its_pieces() -> None:
    early = summary(0, [(0, 30 * MINUTE, 1000, 0)]).counts
    late = summary(0, [(30 * MINUTE, 60 * MINUTE, 1000, 0)]).counts
    works = [8 * MINUTE * 1000] * 4
    bounds = [(0, 5 * MINUTE), (0, 0), (0, 0), (0, 0)]
    assert several_holes([early, late], 0, works, bounds, 0, 60 * MINUTE, 2000) is None


@given(st.integers(0, 10**9))
def test_pieces_cover_a_sequence_in_order_and_each_fits_its_hole(seed: int) -> None:
    rng = Random(seed)
    parts = []
    for _ in range(4):
        holes = []
        for _ in range(rng.randint(0, 3)):
            begin = rng.randint(0, 100) * MINUTE
            holes.append((begin, begin + rng.randint(1, 60) * MINUTE, 1000, 0))
        parts.append(summary(0, holes).counts)
    works = [rng.randint(1, 20) * MINUTE * 1000 for _ in range(rng.randint(1, 5))]
    deadline = 200 * MINUTE
    pieces = several_holes(parts, 0, works, [(0, 0)] * len(works), 0, deadline, 2000)
    if pieces is None:
        return
    points, at, begun = of_epoch(0), 0, 0
    taken: dict[tuple[int, int], int] = {}
    for piece in pieces:
        assert piece.first == at and piece.start >= begun and piece.deadline > piece.start
        work = sum(works[piece.first : piece.end])
        assert usable(piece.cell, piece.start, piece.deadline, points, POWER_OF) >= work
        taken[piece.child, piece.cell] = taken.get((piece.child, piece.cell), 0) + 1
        assert taken[piece.child, piece.cell] <= parts[piece.child][piece.cell]
        at, begun = piece.end, piece.deadline + 2000
    assert at == len(works) and pieces[-1].deadline == deadline and len(pieces) > 1


def test_best_is_the_default() -> None:
    assert one_hole([FREE, SHORT], 0, 1000, 0, DAY) == one_hole([FREE, SHORT], 0, 1000, 0, DAY, fit=BEST)
