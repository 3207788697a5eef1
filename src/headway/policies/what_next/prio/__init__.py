"""PRIO: as many jobs eligible as can be, at every step.

The heuristic of section 3.1 of "A Tool for Prioritizing DAGMan Jobs and Its Evaluation" (Malewicz, Foster, Rosenberg,
Wilde, 2006): reduce, decompose, schedule each component, combine by priorities.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from headway.model.dag import Dag


def ranks(dag: Dag) -> Sequence[int]:
    """The place of each job in PRIO's schedule; milestones, which need no worker, come first."""
    from headway.policies.what_next.prio.plan import Plan

    place = array("i", bytes(4 * len(dag)))
    for rank, node in enumerate(Plan(dag).order):
        place[node] = rank
    return place
