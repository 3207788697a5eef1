"""PRIO: as many jobs eligible as can be, at every step.

The heuristic of section 3.1 of "A Tool for Prioritizing DAGMan Jobs and Its Evaluation" (Malewicz, Foster, Rosenberg,
Wilde, 2006): reduce, decompose, schedule each component, combine by priorities.
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.model.dag import Dag


def ranks(dag: Dag) -> Sequence[int]:
    """The place of each job in PRIO's schedule."""
    from headway.policies.what_next.prio.plan import Plan

    return Plan(dag).ranks
