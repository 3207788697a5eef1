"""Longest remaining path first: what holds up the end most runs first."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from headway.model.dag import Dag


def ranks(dag: Dag) -> Sequence[int]:
    """Rank 0 for the longest way to the end; by number of jobs where no run time is known."""
    size = len(dag)
    timed = bool(dag.timed)
    left = array("d", bytes(8 * size))
    for node in reversed(dag.order):
        own = dag.seconds[node] if timed else float(not dag.milestones[node])
        left[node] = own + max((left[child] for child in dag.children_of(node)), default=0.0)
    place = {length: rank for rank, length in enumerate(sorted(set(left), reverse=True))}
    return array("i", [place[length] for length in left])
