"""What runs next: a rank for every job, smaller first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from headway.model.dag import Dag
from headway.model.errors import UsageError

Order = Callable[[Dag], Sequence[int]]  # equal ranks run in the order they became eligible

ORDERS = {
    "fifo": "headway.policies.what_next.fifo",
    "critical-path": "headway.policies.what_next.critical_path",
}


def order(name: str) -> Order:
    """The order of that name."""
    if name not in ORDERS:
        raise UsageError(f'there is no order "{name}".', f"Headway knows {', '.join(ORDERS)}.")
    ranks: Order = import_module(ORDERS[name]).ranks
    return ranks
