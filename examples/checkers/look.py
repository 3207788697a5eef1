"""Says what a position is worth: python look.py W:WK32:BK1,K9 (first who is to move, then the pieces; K is a king)."""

import re
import sys

import slice_file
from retrograde import Values
from rules import turned, value
from slices import argument, folded

WORDS = ("loses", "draws", "wins")


def main(text):
    side, pieces = position(text)
    (black_men, black_kings), (white_men, white_kings) = pieces["B"], pieces["W"]
    numbers = folded([len(each) for each in (black_kings, white_kings, black_men, white_men)])
    table = Values([numbers])
    table.put(numbers, slice_file.read(numbers)[2])
    print(drawing(pieces))
    print(f"{'White' if side == 'W' else 'Black'} is to move and {WORDS[worth(side, pieces, table)]}.")


def worth(side, pieces, table):
    """What a position is worth to the side that is to move: that side is at the top for rules.py."""
    (men, kings), (other_men, other_kings) = pieces[side], pieces["W" if side == "B" else "B"]
    sets = [sum(1 << square for square in each) for each in (men, kings, other_men, other_kings)]
    if side == "W":
        sets = [turned(each) for each in sets]
    return value(*sets, table.starts, table.values)


def position(text):
    """Who is to move, and for each side the squares of its men and of its kings, counted from 0."""
    side, *parts = text.upper().split(":")
    found = {part[:1]: part[1:].split(",") for part in parts}
    if side not in ("B", "W") or len(parts) != 2 or set(found) != {"B", "W"}:
        raise SystemExit(
            f"{text}: expected something like W:WK32:BK1,K9, which is who is to move and both sides' pieces."
        )
    pieces, taken = {}, set()
    for colour, squares in found.items():
        men, kings = set(), set()
        for piece in squares:
            is_king, square = piece.startswith("K"), piece.removeprefix("K")
            if not re.fullmatch("[1-9]|[12][0-9]|3[0-2]", square) or square in taken:
                raise SystemExit(f"{text}: {piece!r} is not a free square from 1 to 32.")
            taken.add(square)
            (kings if is_king else men).add(int(square) - 1)
        if men & set(range(28, 32) if colour == "B" else range(4)):
            raise SystemExit(f"{text}: a man in the last row is a king. Write K before its square.")
        pieces[colour] = (men, kings)
    return side, pieces


def drawing(pieces):
    """The board with Black at the top, men small and kings large."""
    shown = {}
    for colour, (men, kings) in pieces.items():
        shown.update(dict.fromkeys(men, colour.lower()) | dict.fromkeys(kings, colour))
    rows = []
    for row in range(8):
        squares = [shown.get(4 * row + at, ".") for at in range(4)]
        rows.append("".join(f"  {each} " if row % 2 == 0 else f"{each}   " for each in squares).rstrip())
    return "\n".join(rows)


if __name__ == "__main__":
    try:
        main(argument(__doc__))
    except slice_file.BadSliceError as error:
        sys.exit(str(error))
