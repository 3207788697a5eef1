"""Computes a slice: python comp.py 2100. The slices that it plays into must have been computed."""

import sys

import slice_file
from retrograde import Values
from slices import argument, name, named, plays_into


def main(text):
    numbers = named(text)
    known = plays_into(numbers)
    table = Values([numbers, *known])
    digests = {}
    for each in known:
        digests[each], _, values = slice_file.read(each)
        table.put(each, values)
    sweeps = table.solve(numbers)
    values = table.packed(numbers).tobytes()
    slice_file.write(numbers, values, digests)
    counts = ", ".join(f"{values.count(value)} {word}" for value, word in enumerate(("lost", "drawn", "won")))
    print(f"{name(numbers)}: {len(values) // 2} placements after {sweeps} sweeps. For the side to move: {counts}.")


if __name__ == "__main__":
    try:
        main(argument(__doc__))
    except slice_file.BadSliceError as error:
        sys.exit(str(error))
