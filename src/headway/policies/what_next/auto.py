"""The order that suits what is known: PRIO, and where run times are known, PRIO with weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from headway.model.dag import Dag


def ranks(dag: Dag) -> Sequence[int]:
    """Those of the order chosen; where nothing is known and there is nothing to choose, first come, first served."""
    from headway.policies.what_next import order

    return order(chosen(dag))(dag)


def chosen(dag: Dag) -> str:
    """The name of the order that suits a dag."""
    if dag.timed:
        return "prio-weighted"
    return "prio" if len(dag.children) and not _is_chain(dag) else "fifo"


def _is_chain(dag: Dag) -> bool:
    """Whether there is only one order at all."""
    if len(dag.children) != len(dag) - 1:
        return False
    return all(b - a < 2 for starts in (dag.child_start, dag.parent_start) for a, b in pairwise(starts))
