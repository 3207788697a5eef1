"""Retrograde analysis of one slice: all positions with so many black kings, white kings, black men and white men."""

from itertools import combinations

import numpy as np
from numba import njit
from rules import CHOOSE, DRAW, MOST, outcome, turned


def sets(count, squares, first=0):
    """All sets of so many of the squares, as numbers, the smallest first."""
    return np.array(sorted(sum(1 << first + n for n in chosen) for chosen in combinations(range(squares), count)))


def kinds(piece_counts):
    """The sets of squares that each kind of piece may have: men of both colours, then kings."""
    bk, wk, bm, wm = piece_counts
    return sets(bm, 28), sets(wm, 28, first=4), sets(bk, 32), sets(wk, 32)


class Values:
    """Slices side by side in one array, each with Black to move and then with White to move.

    There is an entry for each combination of sets of squares, also if two pieces would share one: the place of a
    position is a formula then. Such entries, a few in a hundred, stay what they are.
    """

    def __init__(self, slices):
        self.starts = np.full((MOST,) * 4, -1)
        size = 0
        for each in slices:
            self.starts[each] = size
            size += 2 * entries(each)
        self.values = np.full(size, DRAW, np.int8)

    def of(self, piece_counts):
        """The values of one slice."""
        start = self.starts[piece_counts]
        return self.values[start : start + 2 * entries(piece_counts)]

    def put(self, piece_counts, packed):
        """Values of a slice, those of placements only."""
        self.of(piece_counts)[np.tile(placements(*kinds(piece_counts)), 2)] = np.frombuffer(packed, np.int8)

    def packed(self, piece_counts):
        """The same back again."""
        return self.of(piece_counts)[np.tile(placements(*kinds(piece_counts)), 2)]

    def solve(self, piece_counts):
        """Goes through a slice until nothing is found any more; how often. What is left then is a draw."""
        sweeps = 1
        while self._sweep(piece_counts, True):
            sweeps += 1
        return sweeps

    def mistakes(self, piece_counts):
        """How many values of a slice do not follow from those of the positions after each move."""
        return self._sweep(piece_counts, False)

    def _sweep(self, piece_counts, settles):
        start = self.starts[piece_counts]
        return sweep(*kinds(piece_counts), start, start + entries(piece_counts), self.starts, self.values, settles)


def entries(piece_counts):
    """How many combinations of sets of squares there are."""
    bk, wk, bm, wm = piece_counts
    return int(CHOOSE[28, bm] * CHOOSE[28, wm] * CHOOSE[32, bk] * CHOOSE[32, wk])


@njit(cache=True)
def placements(black_men, white_men, black_kings, white_kings):
    """Which combinations of sets have no square in common."""
    found = np.zeros(len(black_men) * len(white_men) * len(black_kings) * len(white_kings), np.bool_)
    at = 0
    for bm in black_men:
        for wm in white_men:
            for bk in black_kings:
                for wk in white_kings:
                    found[at] = not (bm & wm or (bm | wm) & bk or (bm | wm | bk) & wk)
                    at += 1
    return found


@njit(cache=True)
def sweep(black_men, white_men, black_kings, white_kings, black, white, starts, values, settles):
    """Derives each value from those of the positions after each move; how many are not what they were.

    `black` and `white`: where the values with that side to move begin. If it settles, values that are not known yet,
    draws so far, become what was found. If not, nothing is changed.
    """
    different = 0
    for bm in black_men:
        for wm in white_men:
            for bk in black_kings:
                for wk in white_kings:
                    if not (bm & wm or (bm | wm) & bk or (bm | wm | bk) & wk):
                        if not settles or values[black] == DRAW:
                            found = outcome(bm, bk, wm, wk, starts, values)
                            if found != values[black]:
                                different += 1
                                if settles:
                                    values[black] = found
                        if not settles or values[white] == DRAW:
                            found = outcome(turned(wm), turned(wk), turned(bm), turned(bk), starts, values)
                            if found != values[white]:
                                different += 1
                                if settles:
                                    values[white] = found
                    black += 1
                    white += 1
    return different
