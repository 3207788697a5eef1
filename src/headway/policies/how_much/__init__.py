"""How much to ask a batch queue for: allocations, and which jobs each of them is for.

A method is a function from a view to advice. A package of its own adds one by an entry point in the group
`headway.how_much`, which is looked for only when the name is none of those here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

from headway.model.errors import HeadwayError, UsageError, shown, unquoted
from headway.policies.how_much.outline import Advice, Ask, Limits, Outline, Outlines, View, WaitEstimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "Advice",
    "Ask",
    "Limits",
    "Method",
    "Outline",
    "Outlines",
    "View",
    "WaitEstimate",
    "method",
    "names",
    "problem",
]

Method = Callable[[View], Advice]

METHODS = {
    "individual": "headway.policies.how_much.individual",
    "giant": "headway.policies.how_much.giant",
    "hybrid": "headway.policies.how_much.hybrid",
    "hybrid+": "headway.policies.how_much.hybrid_plus",
}
GROUP = "headway.how_much"
_ROUNDING = 0.001  # seconds


def method(name: str) -> Method:
    """The method of that name: one of Headway's, or one that an installed package brings."""
    if name in METHODS:
        advice: Method = import_module(METHODS[name]).advice
        return advice
    found = _installed()
    if name not in found:
        raise UsageError(f"there is no method {shown(name)}.", f"There are {', '.join(names())}.")
    return _loaded(found[name])


def names() -> list[str]:
    """All methods there are."""
    return [*METHODS, *sorted(_installed().keys() - METHODS.keys())]


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Method:
    """A package's method, held to what the engine relies on."""
    try:
        theirs = point.load()
    except Exception as error:  # whatever a package does when it is loaded
        raise HeadwayError(
            f"the method {shown(point.name)} cannot be loaded from {point.value}: {_told(error)}.",
            "Install the package that brings it again, or take it out.",
        ) from error
    if not callable(theirs):
        raise HeadwayError(f"the method {shown(point.name)} is no function: {point.value}.", "Tell its author.")

    def advice(view: View) -> Advice:
        try:
            found = theirs(view)
        except Exception as error:  # whatever a package does
            raise HeadwayError(f"the method {shown(point.name)} failed: {_told(error)}.", "Tell its author.") from error
        wrong = problem(found, view)
        if wrong:
            raise HeadwayError(f"the method {shown(point.name)} {wrong}.", "Tell its author.")
        return found  # type: ignore[no-any-return]

    return advice


def problem(found: object, view: View) -> str:
    """Why advice cannot be followed; empty if it can."""
    if not isinstance(found, Advice):
        return "did not answer with advice"
    if not found.asks and not found.individually and not view.out:
        return "asks for nothing though jobs are left"
    left, seen = set(view.left.jobs(view.left.height)), set[int]()
    for ask in found.asks:
        try:
            wrong = _wrong(ask, view, left)
        except (TypeError, AttributeError) as error:
            return f"asks for what is no allocation: {_told(error)}"
        if wrong:
            return wrong
        if not seen.isdisjoint(ask.jobs):
            return "asks twice for a job"
        seen.update(ask.jobs)
    return ""


def _wrong(ask: Ask, view: View, left: set[int]) -> str:
    if not (isinstance(ask.width, int) and 0 < ask.width <= view.processors):
        return f"asks for {ask.width} of {view.processors} processors"
    if not 0 < ask.seconds < math.inf:
        return f"asks for {ask.seconds} seconds"
    if not ask.jobs:
        return "asks for an allocation without jobs"
    if not left.issuperset(ask.jobs) or len(set(ask.jobs)) < len(ask.jobs):
        return "asks twice for a job, or for one that is not left"
    longest = max(view.left.dag.seconds[job] for job in ask.jobs)
    if ask.seconds < longest - _ROUNDING:  # else that job would be cut off each time, for ever
        return f"asks for {ask.seconds:g} seconds for a job that is expected to take {longest:g}"
    return ""


def _told(error: Exception) -> str:
    return unquoted(f"{type(error).__name__}: {error}")
