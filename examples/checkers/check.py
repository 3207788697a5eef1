"""Compares the databases with those that the independent program plain.py computed: python check.py 4

Every slice up to so many pieces must be there, whole, and have the values that trusted.json has the digest of.
"""

import json
import sys
from pathlib import Path

import slice_file
from slices import MOST, argument, name, slices

TRUSTED = json.loads((Path(__file__).parent / "trusted.json").read_text())["slices"]


def compared(numbers):
    """What comparing a slice gives: BadSliceError if its values are others."""
    _, head, values = slice_file.read(numbers)
    trusted = TRUSTED.get(name(numbers))
    if trusted is None:
        return "there is no other database to compare it with"
    if (len(values), head["values"]) != (2 * trusted["placements"], trusted["sha256"]):
        raise slice_file.BadSliceError(f"{slice_file.path_of(numbers)}: its values are not those of trusted.json.")
    return "its values are those of trusted.json"


def main(most):
    """Prints what was compared; exits 1 if something is missing or different."""
    wrong = 0
    wanted = slices(most)
    for numbers in wanted:
        try:
            compared(numbers)
        except slice_file.BadSliceError as error:
            print(error)
            wrong += 1
    if wrong:
        sys.exit(f"{wrong} of {len(wanted)} slices are missing or wrong.")
    known = [TRUSTED[name(numbers)] for numbers in wanted if name(numbers) in TRUSTED]
    placements = sum(each["placements"] for each in known)
    print(f"{len(known)} of {len(wanted)} slices, {placements} placements: all are as in trusted.json.")


if __name__ == "__main__":
    pieces = argument(__doc__)
    if not (pieces.isdecimal() and 2 <= int(pieces) <= MOST):
        sys.exit(f"{pieces!r} is no number of pieces from 2 to {MOST}. Say up to how many: python check.py 4")
    main(int(pieces))
