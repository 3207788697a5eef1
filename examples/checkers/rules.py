"""American checkers on 32 bits: what a position is worth, once the positions after each move are known.

A set of squares is a number whose bit n stands for square n + 1. Whoever is to move is at the top and moves down, to
greater squares: if that is White, the board is turned round first. So there is one kind of move to write, not two.
Captures are forced, and go on while they can; a man that reaches the last row is crowned, and its move ends there.
"""

import numpy as np
from numba import njit

LOSS, DRAW, WIN = 0, 1, 2  # for the side that is to move; the other side has 2 - value
NONE = -1
MOST = 8  # pieces of one kind and colour, less one: the size of tables
ALL = 0xFFFFFFFF


def _neighbours(distance):
    """Where each square leads to: down-left, down-right, up-left, up-right; -1 is off the board."""
    found = np.full((32, 4), -1, np.int64)
    for square in range(32):
        row, column = square // 4, 2 * (square % 4) + (square // 4 + 1) % 2
        for number, (down, right) in enumerate([(1, -1), (1, 1), (-1, -1), (-1, 1)]):
            there, across = row + distance * down, column + distance * right
            if 0 <= there < 8 and 0 <= across < 8:
                found[square, number] = 4 * there + across // 2
    return found


STEP, JUMP = _neighbours(1), _neighbours(2)
CHOOSE = np.array([[int(np.prod([(n - i) / (i + 1) for i in range(k)]) + 0.5) for k in range(MOST)] for n in range(33)])


@njit(cache=True)
def turned(squares):
    """The same squares, seen from the other side of the board: the bits in reverse order."""
    squares = (squares >> 1) & 0x55555555 | (squares & 0x55555555) << 1
    squares = (squares >> 2) & 0x33333333 | (squares & 0x33333333) << 2
    squares = (squares >> 4) & 0x0F0F0F0F | (squares & 0x0F0F0F0F) << 4
    squares = (squares >> 8) & 0x00FF00FF | (squares & 0x00FF00FF) << 8
    return squares >> 16 | (squares & 0xFFFF) << 16


@njit(cache=True)
def place(squares):
    """How many sets of as many squares come before this one, by their numbers; and how many squares it has."""
    before, count, square = 0, 0, 0
    while squares:
        if squares & 1:
            count += 1
            before += CHOOSE[square, count]
        squares >>= 1
        square += 1
    return before, count


@njit(cache=True)
def value(men, kings, other_men, other_kings, starts, values):
    """What a position is worth to the side that is to move, from the slices: `starts` says where each one begins."""
    if not men | kings:
        return LOSS
    first, m = place(men)
    second, om = place(other_men >> 4)
    third, k = place(kings)
    fourth, ok = place(other_kings)
    start = starts[k, ok, m, om]
    if start < 0:  # by symmetry: White has what Black has there, and is to move
        start = starts[ok, k, om, m]
        first, m, second, om = *place(turned(other_men)), *place(turned(men) >> 4)
        third, k, fourth, ok = *place(turned(other_kings)), *place(turned(kings))
        start += CHOOSE[28, m] * CHOOSE[28, om] * CHOOSE[32, k] * CHOOSE[32, ok]
    return values[start + ((first * CHOOSE[28, om] + second) * CHOOSE[32, k] + third) * CHOOSE[32, ok] + fourth]


@njit(cache=True)
def after(men, kings, other_men, other_kings, starts, values):
    """What a move was worth that led here: the other side is to move now."""
    return 2 - value(turned(other_men), turned(other_kings), turned(men), turned(kings), starts, values)


@njit(cache=True)
def best_capture(square, is_king, men, kings, other_men, other_kings, starts, values):
    """The best that a piece on a square can get by capturing; NONE if it cannot. The piece itself is in neither set."""
    best = NONE
    for direction in range(4 if is_king else 2):
        end = JUMP[square, direction]
        if end < 0 or (men | kings | other_men | other_kings) >> end & 1:
            continue
        over = 1 << STEP[square, direction]
        if not (other_men | other_kings) & over:
            continue
        left_men, left_kings = other_men & ~over, other_kings & ~over
        if not is_king and end >= 28:
            found = after(men, kings | 1 << end, left_men, left_kings, starts, values)
        else:
            found = best_capture(end, is_king, men, kings, left_men, left_kings, starts, values)
            if found == NONE and is_king:
                found = after(men, kings | 1 << end, left_men, left_kings, starts, values)
            elif found == NONE:
                found = after(men | 1 << end, kings, left_men, left_kings, starts, values)
        best = max(best, found)
    return best


@njit(cache=True)
def outcome(men, kings, other_men, other_kings, starts, values):
    """What a position is worth to the side that is to move, from what the positions after its moves are worth."""
    best = NONE
    for square in range(32):
        bit = 1 << square
        if (men | kings) & bit:
            is_king = kings & bit != 0
            found = best_capture(square, is_king, men & ~bit, kings & ~bit, other_men, other_kings, starts, values)
            best = max(best, found)
    if best != NONE:
        return best
    best = LOSS  # who cannot move has lost
    for square in range(32):
        bit = 1 << square
        if not (men | kings) & bit:
            continue
        is_king = kings & bit != 0
        for direction in range(4 if is_king else 2):
            end = STEP[square, direction]
            if end < 0 or (men | kings | other_men | other_kings) >> end & 1:
                continue
            if is_king:
                found = after(men, kings & ~bit | 1 << end, other_men, other_kings, starts, values)
            elif end >= 28:
                found = after(men & ~bit, kings | 1 << end, other_men, other_kings, starts, values)
            else:
                found = after(men & ~bit | 1 << end, kings, other_men, other_kings, starts, values)
            if found == WIN:
                return WIN
            best = max(best, found)
    return best
