"""What runs next: a rank for every job, smaller first.

An order is a function from a dag to ranks. A package of its own adds one by an entry point in the group
`headway.what_next`, which is looked for only when the name is none of those here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from headway.model.errors import HeadwayError, UsageError, shown

if TYPE_CHECKING:  # the names of orders are asked for before there is any dag
    from importlib.metadata import EntryPoint

    from headway.model.dag import Dag

Order: TypeAlias = "Callable[[Dag], Sequence[int]]"  # equal ranks run in the order they became eligible

ORDERS = {
    "auto": "headway.policies.what_next.auto",
    "fifo": "headway.policies.what_next.fifo",
    "critical-path": "headway.policies.what_next.critical_path",
    "prio": "headway.policies.what_next.prio",
    "prio-weighted": "headway.policies.what_next.prio_weighted",
}
GROUP = "headway.what_next"


def order(name: str) -> Order:
    """The order of that name: one of Headway's, or one that an installed package brings."""
    if name in ORDERS:
        ranks: Order = import_module(ORDERS[name]).ranks
        return ranks
    found = _installed()
    if name not in found:
        raise UsageError(f"there is no order {shown(name)}.", f"There are {', '.join(names())}.")
    return _loaded(found[name])


def names() -> list[str]:
    """All orders there are."""
    return [*ORDERS, *sorted(_installed())]


def _installed() -> dict[str, EntryPoint]:
    """The orders that other packages bring, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Order:
    """A package's order, held to what the engine relies on: one whole number for each node."""
    try:
        theirs = point.load()
    except (ImportError, AttributeError) as error:
        raise HeadwayError(
            f"the order {shown(point.name)} cannot be loaded from {point.value}: {error}.",
            "Install the package that brings it again, or take it out.",
        ) from error
    if not callable(theirs):
        raise HeadwayError(f"the order {shown(point.name)} is no function: {point.value}.", "Tell its author.")

    def ranks(dag: Dag) -> Sequence[int]:
        answer = theirs(dag)
        if len(answer) != len(dag) or not all(isinstance(rank, int) for rank in answer):
            raise HeadwayError(
                f"the order {shown(point.name)} did not answer with one whole number for each of {len(dag)} nodes.",
                "Tell its author.",
            )
        return list(answer)

    return ranks
