"""Slices: their names, which of them are computed, and which others the positions of one play into.

A slice is four numbers, as in the paper: black kings, white kings, black men (checkers) and white men.
"""

import sys
from itertools import product

MOST = 7  # pieces: rules.py has tables for no more


def argument(usage):
    """The one word that a program was given; without it, what the program is for."""
    if len(sys.argv) != 2:
        raise SystemExit(usage.strip())
    return sys.argv[1]


def named(text):
    """The slice of a name such as 2100."""
    if len(text) != 4 or not (text.isascii() and text.isdecimal()):
        raise SystemExit(f"{text!r} is no slice. Name one by four digits: kings, then men, Black's first, as in 2100.")
    numbers = tuple(map(int, text))
    if sum(numbers) > MOST:
        raise SystemExit(f"{text} is not computed: it has {sum(numbers)} pieces, and {MOST} are the most.")
    if numbers != folded(numbers) or not has_both(numbers):
        raise SystemExit(
            f"{text} is not computed: by symmetry it is {name(folded(numbers))}, or one side has no piece."
        )
    return numbers


def name(numbers):
    """As the paper writes it."""
    return "".join(map(str, numbers))


def has_both(numbers):
    """Whether both sides have a piece. If not, the game is over and there is nothing to compute."""
    bk, wk, bm, wm = numbers
    return bk + bm > 0 and wk + wm > 0


def folded(numbers):
    """Of a slice and the one with the colours exchanged, the one that is computed: Fig. 14's choice."""
    bk, wk, bm, wm = numbers
    is_needed = bk + bm > wk + wm or (bk + bm == wk + wm and bm >= wm)
    return tuple(numbers) if is_needed else (wk, bk, wm, bm)


def slices(most):
    """All that are computed up to so many pieces, each after those it plays into."""
    found = [
        numbers
        for numbers in product(range(most), repeat=4)
        if sum(numbers) <= most and has_both(numbers) and folded(numbers) == numbers
    ]
    return sorted(found, key=lambda numbers: (sum(numbers), -numbers[0] - numbers[1]))


def plays_into(numbers):
    """The other slices that one move can lead to: a man is crowned, pieces are captured, or both."""
    bk, wk, bm, wm = numbers
    found = set()
    for own_kings, kings, own_men, men in ((bk, wk, bm, wm), (wk, bk, wm, bm)):
        for crowned in range(2 if own_men else 1):
            for left_kings, left_men in product(range(kings + 1), range(men + 1)):
                there = (own_kings + crowned, left_kings, own_men - crowned, left_men)
                if has_both(there):
                    found.add(folded(there))
    return sorted(found - {tuple(numbers)})
