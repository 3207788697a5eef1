"""Arcs in compressed rows (CSR): the ends of all arcs in one array, and where the row of each node begins in it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, islice, pairwise
from operator import le


def rows(size: int, arcs_from: Sequence[int], arcs_to: Sequence[int]) -> tuple[array[int], array[int]]:
    """Arcs as compressed rows, in order of mention, doubles left out."""
    if len(arcs_from) != len(arcs_to):
        raise ValueError("an arc has two ends")
    starts = _row_starts(size, arcs_from)
    if all(map(le, arcs_from, islice(arcs_from, 1, None))):  # in order already
        return _without_doubles(starts, array("i", arcs_to))
    fill = starts[:]
    row = array("i", bytes(4 * len(arcs_to)))
    for node, child in zip(arcs_from, arcs_to, strict=True):
        at = fill[node]
        row[at] = child
        fill[node] = at + 1
    return _without_doubles(starts, row)


def _row_starts(size: int, nodes: Sequence[int]) -> array[int]:
    """Where the row of each node begins, and at last where all end."""
    counts = array("i", bytes(4 * (size + 1)))
    for node in nodes:
        counts[node + 1] += 1
    return array("i", accumulate(counts))


def _without_doubles(starts: array[int], row: array[int]) -> tuple[array[int], array[int]]:
    if not any(len(set(row[first:end])) < end - first for first, end in pairwise(starts) if end - first > 1):
        return starts, row
    kept = array("i")
    new_starts = array("i", [0])
    for first, end in pairwise(starts):
        kept.extend(dict.fromkeys(row[first:end]))
        new_starts.append(len(kept))
    return new_starts, kept


def turned_rows(size: int, starts: array[int], row: array[int]) -> tuple[array[int], array[int]]:
    """The rows of the same arcs seen from their other end."""
    turned_starts = _row_starts(size, row)
    fill = turned_starts[:]
    ends = array("i", bytes(4 * len(row)))
    for node, (first, end) in enumerate(pairwise(starts)):
        for child in row[first:end]:
            at = fill[child]
            ends[at] = node
            fill[child] = at + 1
    return turned_starts, ends
