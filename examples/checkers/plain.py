"""The endgame databases once more, by a plain and slow program that shares nothing with the fast one.

    python plain.py 4 > trusted.json

It knows no symmetry, no bits and no sweeps: the board is a list with a border, positions of both colours are computed
each for itself, and values travel backwards along the moves, from positions that are decided to those that lead there.
What it prints is what the databases of the workflow are compared with: for each slice how many placements it has, and
the SHA-256 of its values, as README.md defines them. 3 pieces take 6 s, 4 pieces 4 minutes and 180 MB.
"""

import hashlib
import itertools
import json
import sys
from array import array

BLACK, WHITE = 0, 1
MAN, KING = 1, 2
LOSS, DRAW, WIN = 0, 1, 2
UNKNOWN, NOWHERE = 8, 9
WIDTH = 10  # of the board with a border on both sides
EMPTY, OUTSIDE = 0, 99

# Squares 1 to 32 as in the books: black begins at the top, on 1 to 12, and moves down.
PLACE = [(1 + row) * WIDTH + 1 + 2 * column + (row + 1) % 2 for row in range(8) for column in range(4)]
SQUARE = {place: square for square, place in enumerate(PLACE)}
DOWN, UP = (WIDTH - 1, WIDTH + 1), (-WIDTH - 1, -WIDTH + 1)
STEPS = {(BLACK, MAN): DOWN, (WHITE, MAN): UP, (BLACK, KING): DOWN + UP, (WHITE, KING): DOWN + UP}
CROWN = {BLACK: set(PLACE[28:]), WHITE: set(PLACE[:4])}
KINDS = [(BLACK, MAN), (WHITE, MAN), (BLACK, KING), (WHITE, KING)]  # in the order in which a position lists them


def main(most):
    """Prints the digests of all slices up to so many pieces."""
    database = {}
    slices = {}
    for pieces in range(1, most + 1):
        for counts in slices_of(pieces):
            database[counts] = values = solved(counts, database)
            slices[name(counts)] = described(counts, values)
            print(name(counts), slices[name(counts)]["placements"], file=sys.stderr)
    lines = ",\n".join(f"{json.dumps(each)}: {json.dumps(found)}" for each, found in slices.items())
    print(f'{{"made by": "python plain.py {most}", "slices": {{\n{lines}\n}}}}')


def name(counts):
    """Black kings, white kings, black checkers, white checkers, as the paper writes it."""
    black_men, white_men, black_kings, white_kings = counts
    return f"{black_kings}{white_kings}{black_men}{white_men}"


def slices_of(pieces):
    """Those with so many pieces, most kings first: a man may become a king, and never the other way."""
    found = [counts for counts in itertools.product(range(pieces + 1), repeat=4) if sum(counts) == pieces]
    return sorted(found, key=lambda counts: counts[0] + counts[1])


def placements(counts):
    """All ways to put the pieces on the board, each as four tuples of squares."""
    black_men, white_men, black_kings, white_kings = counts
    for men in combinations(range(28), black_men):
        for others in combinations(range(4, 32), white_men):
            if set(men) & set(others):
                continue
            for kings in combinations(range(32), black_kings):
                if set(kings) & {*men, *others}:
                    continue
                for other_kings in combinations(range(32), white_kings):
                    if not set(other_kings) & {*men, *others, *kings}:
                        yield men, others, kings, other_kings


def combinations(squares, number):
    """In the order of README.md: by the greatest square, then the next greatest, …"""
    return sorted(itertools.combinations(squares, number), key=lambda chosen: chosen[::-1])


def node(squares, side):
    """The place of a position in its slice: squares are digits."""
    at = 0
    for square in itertools.chain(*squares):
        at = at * 32 + square
    return 2 * at + side


def described(counts, values):
    """How many placements there are, and the digest of the values: first those with black to move, then with white."""
    order = list(placements(counts))
    told = bytes(values[node(each, side)] for side in (BLACK, WHITE) for each in order)
    return {"placements": len(order), "sha256": hashlib.sha256(told).hexdigest()}


def solved(counts, database):
    """The values of a slice, where those that its positions play into are known."""
    size = 2 * 32 ** sum(counts)
    values = bytearray([NOWHERE]) * size
    open_moves = bytearray(size)  # of each position: moves that are not known to lose
    first = array("i", [-1]) * size  # of each position: its last move that comes in; moves are chained
    following, origin = array("i"), array("i")
    known = []
    for squares in placements(counts):
        board = [OUTSIDE] * WIDTH * WIDTH
        for place in PLACE:
            board[place] = EMPTY
        for kind, places in zip(KINDS, squares, strict=True):
            for square in places:
                board[PLACE[square]] = kind
        for side in (BLACK, WHITE):
            here = node(squares, side)
            values[here] = UNKNOWN
            won = drawn = False
            waiting = 0
            for after in moves(board, squares, side):
                other = tuple(map(len, after))
                if other == counts:
                    there = node(after, 1 - side)
                    following.append(first[there])
                    first[there] = len(origin)
                    origin.append(here)
                    waiting += 1
                else:
                    value = database[other][node(after, 1 - side)]
                    won = won or value == LOSS
                    drawn = drawn or value == DRAW
            open_moves[here] = waiting + drawn  # a draw at hand stays one: it is never lost
            if won:
                values[here] = WIN
            elif not any(squares[side::2]):
                values[here] = LOSS
            elif not any(squares[1 - side :: 2]):
                values[here] = WIN  # the game is over: there is nobody left to move against
            elif not open_moves[here]:
                values[here] = LOSS
            if values[here] != UNKNOWN:
                known.append(here)
    while known:
        there = known.pop()
        move = first[there]
        while move >= 0:
            here = origin[move]
            move = following[move]
            if values[here] != UNKNOWN:
                continue
            if values[there] == LOSS:
                values[here] = WIN
                known.append(here)
            else:
                open_moves[here] -= 1
                if not open_moves[here]:
                    values[here] = LOSS
                    known.append(here)
    return values.replace(bytes([UNKNOWN]), bytes([DRAW]))


def moves(board, squares, side):
    """Positions after each move of a side. Who can capture must, and goes on while he can."""
    own = [(PLACE[square], kind) for kind in KINDS if kind[0] == side for square in squares[KINDS.index(kind)]]
    captures = [after for place, kind in own for after in jumps(board, squares, place, kind)]
    if captures:
        return captures
    found = []
    for place, kind in own:
        for step in STEPS[kind]:
            if board[place + step] == EMPTY:
                found.append(moved(squares, kind, place, place + step, ()))
    return found


def jumps(board, squares, place, kind):
    """Positions after each whole capture by one piece."""
    found = []
    board[place] = EMPTY
    paths = [(place, ())]
    while paths:
        at, taken = paths.pop()
        goes_on = False
        if not (taken and kind[1] == MAN and at in CROWN[kind[0]]):  # a man that is crowned stops there
            for step in STEPS[kind]:
                over = board[at + step]
                if over in (EMPTY, OUTSIDE) or over[0] == kind[0] or at + step in taken:
                    continue
                if board[at + 2 * step] == EMPTY:
                    paths.append((at + 2 * step, (*taken, at + step)))
                    goes_on = True
        if taken and not goes_on:
            found.append(moved(squares, kind, place, at, taken))
    board[place] = kind
    return found


def moved(squares, kind, start, end, taken):
    """The position where a piece has gone from one place to another and captured what stood on some."""
    after = list(squares)
    own = KINDS.index(kind)
    after[own] = tuple(square for square in after[own] if square != SQUARE[start])
    if kind[1] == MAN and end in CROWN[kind[0]]:
        own = KINDS.index((kind[0], KING))
    after[own] = tuple(sorted((*after[own], SQUARE[end])))
    if taken:
        gone = {SQUARE[place] for place in taken}
        for each in (kind_at for kind_at, (colour, _) in enumerate(KINDS) if colour != kind[0]):
            after[each] = tuple(square for square in after[each] if square not in gone)
    return tuple(after)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit("Say up to how many pieces: python plain.py 4")
    main(int(sys.argv[1]))
