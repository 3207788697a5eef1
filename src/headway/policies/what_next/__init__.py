"""What runs next: a rank for every job, smaller first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from headway.model.errors import UsageError

if TYPE_CHECKING:  # the names of orders are asked for before there is any dag
    from headway.model.dag import Dag

Order: TypeAlias = "Callable[[Dag], Sequence[int]]"  # equal ranks run in the order they became eligible

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
