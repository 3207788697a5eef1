"""Upper bounds on the sinks that x sources of a connected bipartite dag can make eligible.

A schedule that attains one of them at every x is proved IC-optimal, whatever family the dag belongs to. With X the
executed sources, K the eligible sinks and d(k) the parents of k:

- *cycles*: the arcs between X and K form a graph with at most as many independent cycles as the whole, so
  sum over K of (d(k) - 1) <= |X| - 1 + cycles;
- *arcs*: they are arcs of X, and not all of them while a source is missing: sum over K of d(k) <= out(X) - 1;
- *rest*: no child of a source outside X is in K: |K| <= sinks - out(any source outside X);
- *size*: no sink with more than |X| parents is in K.

A sink with one parent (a pendant) is in K only if that parent is in X: at most those of the |X| richest sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def attained(counts: Sequence[int], out: Sequence[int], into: Sequence[int], pendants: Sequence[int]) -> bool:
    """Whether a schedule's counts of eligible sinks after 0, 1, … sources meet the least of the bounds everywhere.

    `out` and `pendants` are the children and the pendants of each source, `into` the parents of each sink.
    """
    sources, sinks = len(out), len(into)
    cycles = sum(out) - (sources + sinks - 1)
    shared = sorted(count for count in into if count > 1)
    by_cycles = list(accumulate((count - 1 for count in shared), initial=0))
    by_arcs = list(accumulate(shared, initial=0))
    most_pendants = list(accumulate(sorted(pendants, reverse=True), initial=0))
    most_arcs = list(accumulate(sorted(out, reverse=True), initial=0))
    rising = sorted(out)
    fits_cycles = fits_arcs = fits_size = 0
    for executed in range(1, sources):
        own = most_pendants[executed]
        while fits_cycles < len(shared) and by_cycles[fits_cycles + 1] <= executed - 1 + cycles:
            fits_cycles += 1
        while fits_arcs < len(shared) and by_arcs[fits_arcs + 1] <= most_arcs[executed] - 1 - own:
            fits_arcs += 1
        while fits_size < len(shared) and shared[fits_size] <= executed:
            fits_size += 1
        rest = sinks - rising[sources - executed - 1]
        if counts[executed] < min(own + min(fits_cycles, fits_arcs, fits_size), rest):
            return False
    return True
