"""What runs next: a rank for every job, smaller first.

An order is a function from a dag to ranks. A package of its own adds one by an entry point in the group
`headway.what_next`, which is looked for only when the name is none of those here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import index

from headway.model.errors import HeadwayError, UsageError, shown, unquoted

TYPE_CHECKING = False
if TYPE_CHECKING:  # the names of orders are asked for before there is any dag
    from importlib.metadata import EntryPoint
    from typing import TypeAlias

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
MOST = 2**31 - 2  # that a rank may be, either side of 0: a store has its services before all others at -2**31


def order(name: str) -> Order:
    """The order of that name: one of Headway's, or one that an installed package brings."""
    if name in ORDERS:
        ranks: Order = import_module(ORDERS[name]).ranks
        return ranks
    found = _installed()
    if name not in found:
        raise UsageError(f"there is no order {shown(name)}.", f"There are {', '.join(names())}.")
    return _loaded(found[name])


def settled(name: str, dag: Dag) -> str:
    """The order that a name stands for with this dag: another only for auto, which chooses one."""
    if name != "auto":
        return name
    from headway.policies.what_next.auto import chosen

    return chosen(dag)


def names() -> list[str]:
    """All orders there are."""
    return [*ORDERS, *sorted(_installed().keys() - ORDERS.keys())]


def _installed() -> dict[str, EntryPoint]:
    """The orders that other packages bring, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Order:
    """A package's order, held to what the engine relies on: one whole number for each node."""
    try:
        theirs = point.load()
    except Exception as error:  # whatever a package does when it is loaded
        raise HeadwayError(
            f"the order {shown(point.name)} cannot be loaded from {point.value}: {_told(error)}.",
            "Install the package that brings it again, or take it out.",
        ) from error
    if not callable(theirs):
        raise HeadwayError(f"the order {shown(point.name)} is no function: {point.value}.", "Tell its author.")

    def ranks(dag: Dag) -> Sequence[int]:
        try:
            answer = theirs(dag)
        except Exception as error:  # whatever a package does
            raise HeadwayError(f"the order {shown(point.name)} failed: {_told(error)}.", "Tell its author.") from error
        try:
            found = [index(rank) for rank in answer]
        except TypeError:
            found = []
        if len(found) != len(dag) or not all(-MOST <= rank <= MOST for rank in found):
            raise HeadwayError(
                f"the order {shown(point.name)} did not answer with one whole number, of at most {MOST:,}, for each of"
                f" {len(dag)} nodes.",
                "Tell its author.",
            )
        return found

    return ranks


def _told(error: Exception) -> str:
    """What an error of somebody else's says, in one line."""
    return unquoted(f"{type(error).__name__}: {error}")
