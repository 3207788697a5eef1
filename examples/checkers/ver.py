"""Verifies a slice: python ver.py 2100. Its file must be whole, every value must follow from those of the positions
after each move, and all of them must be those of the independent program plain.py, as far as trusted.json has them."""

import sys

import slice_file
from check import compared
from retrograde import Values
from slices import argument, name, named, plays_into


def main(text):
    numbers = named(text)
    known = [numbers, *plays_into(numbers)]
    table = Values(known)
    for each in known:
        table.put(each, slice_file.read(each)[2])
    mistakes = table.mistakes(numbers)
    if mistakes:
        sys.exit(f"{name(numbers)}: {mistakes} values do not follow from those after each move.")
    print(f"{name(numbers)}: every value follows from those after each move; {compared(numbers)}.")


if __name__ == "__main__":
    try:
        main(argument(__doc__))
    except slice_file.BadSliceError as error:
        sys.exit(str(error))
