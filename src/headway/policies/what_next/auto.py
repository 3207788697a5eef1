"""The order that suits what is known: PRIO, and where run times are known, PRIO with weights."""

from __future__ import annotations

from collections.abc import Sequence

from headway.model.dag import Dag


def ranks(dag: Dag) -> Sequence[int]:
    """Those of the order chosen; where nothing is known and no job waits for another, first come, first served."""
    from headway.policies.what_next import order

    return order(chosen(dag))(dag)


def chosen(dag: Dag) -> str:
    """The name of the order that suits a dag."""
    if dag.timed:
        return "prio-weighted"
    return "prio" if len(dag.children) else "fifo"
