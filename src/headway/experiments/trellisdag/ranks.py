"""How long each job of the experiment takes: the paper does not say, so it is modelled by the positions of a rank.

A slice is divided by ranks: how far each side's leading man is, counted from its own side of the board, 0 to 6; None
for a side without men. A man only moves forwards, so a rank plays into those further on, and never back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import comb

BLACK, WHITE = 4, 3  # pieces
PAPER = 32_444.0  # seconds of the paper's minimal schedule
RANKS = 7  # on the eighth a man is a king

Slice = tuple[int, int, int, int]  # black kings, white kings, black men, white men
Rank = tuple[int | None, int | None]  # of the leading black man, and of the leading white man


def slices() -> list[Slice]:
    """All of 4 against 3 pieces, 20 of them (Fig. 4)."""
    return [(bk, wk, BLACK - bk, WHITE - wk) for bk in range(BLACK + 1) for wk in range(WHITE + 1)]


def ranks(of: Slice) -> list[Rank]:
    """Those of a slice that have positions."""
    _, _, black, white = of
    steps = [list(range(RANKS)) if men else [None] for men in (black, white)]
    return [(one, other) for one, other in product(*steps) if positions(of, (one, other))]


def after(rank: Rank) -> list[Rank]:
    """Where one step of a leading man leads, inside the slice."""
    black, white = rank
    found: list[Rank] = []
    if black is not None and black + 1 < RANKS:
        found.append((black + 1, white))
    if white is not None and white + 1 < RANKS:
        found.append((black, white + 1))
    return found


@cache
def positions(of: Slice, rank: Rank) -> int:
    """Placements of a slice's pieces with the leading men there. Whose move it is would double all of them."""
    bk, wk, black, white = of
    free = 32 - black - white
    return _men(black, white, rank) * comb(free, bk) * comb(free - bk, wk)


def _men(black: int, white: int, rank: Rank) -> int:
    """Placements of men with both leaders on their ranks: those up to there, less those not so far."""
    total = 0
    for less_black, less_white in product((0, 1), repeat=2):
        rows = [-1 if at is None else at - less for at, less in zip(rank, (less_black, less_white), strict=True)]
        if (less_black and rank[0] is None) or (less_white and rank[1] is None):
            continue
        total += (-1) ** (less_black + less_white) * _men_within(black, white, rows)
    return total


def _men_within(black: int, white: int, rows: Sequence[int]) -> int:
    """Placements of men of which none is further than these rows; no two on one square."""
    own, other = (4 * (row + 1) for row in rows)
    shared = max(0, own + other - 32)
    return sum(
        comb(shared, inside) * comb(own - shared, black - inside) * comb(other - inside, white)
        for inside in range(min(shared, black) + 1)
    )


@cache
def seconds_for_a_position() -> float:
    """Such that the minimal schedule takes as long as the paper's. A slice waits for whole slices (section 3.1)."""
    ends: dict[Slice, int] = {}
    for of in sorted(slices(), key=lambda each: -each[0] - each[1]):
        bk, wk, black, white = of
        before = [(bk + 1, wk, black - 1, white), (bk, wk + 1, black, white - 1)]
        ends[of] = max((ends[each] for each in before if each in ends), default=0) + _longest(of)
    return PAPER / max(ends.values())


def _longest(of: Slice) -> int:
    """Positions on the longest path through a slice's ranks."""
    ends: dict[Rank, int] = {}
    for rank in reversed(ranks(of)):
        ends[rank] = max((ends[each] for each in after(rank) if each in ends), default=0) + positions(of, rank)
    return max(ends.values())


def seconds(of: Slice, rank: Rank) -> float:
    """How long the job of a rank takes, as modelled."""
    return positions(of, rank) * seconds_for_a_position()
