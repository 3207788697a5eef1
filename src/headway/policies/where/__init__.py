"""Where a job runs: the site for the next job, judged by what its own workflow has seen of each site.

A policy is a function of a view, the time and a source of random numbers. A package of its own adds one by an entry
point in the group `headway.where`, which is looked for only when the name is none of those here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from operator import index

from headway.model.errors import HeadwayError, UsageError, shown, unquoted
from headway.model.record import mutable
from headway.policies.where.seen import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from typing import Protocol, TypeAlias
else:
    Protocol = object


class Rng(Protocol):
    """A source of random numbers; random.Random is one."""

    def random(self) -> float:
        """At least 0 and less than 1."""


@mutable
class View:
    """What a policy may look at when it chooses a site for a job."""

    candidates: Sequence[int]  # places of the sites that are up, have its program and are large enough; never none
    seen: Rows  # by this workflow (seen.py)
    processors: Sequence[float]  # of every site
    present: Sequence[float]  # how many of the job's input files each site has


Where: TypeAlias = "Callable[[View, float, Rng], int]"  # the view, the time, random numbers; the place of a site
Pick: TypeAlias = "Callable[[Sequence[int], Rows, Sequence[float], Sequence[float], float, float], int]"

POLICIES = {
    "opportunistic": "headway.policies.where.opportunistic",
    "prompt": "headway.policies.where.prompt",
    "weighted": "headway.policies.where.weighted",
    "round-robin": "headway.policies.where.round_robin",
    "last-used": "headway.policies.where.last_used",
    "data-present": "headway.policies.where.data_present",
    "random": "headway.policies.where.at_random",
}
GROUP = "headway.where"


def where(name: str) -> Where:
    """The policy of that name: one of Headway's, or one that an installed package brings."""
    if name in POLICIES:
        return _told_by(rule(name))
    found = _installed()
    if name not in found:
        raise UsageError(f"there is no policy {shown(name)} for sites.", f"There are {', '.join(names())}.")
    return _loaded(found[name])


def rule(name: str) -> Pick:
    """What one of Headway's own policies does, as a function of rows and numbers that a kernel can compile."""
    pick: Pick = import_module(POLICIES[name]).pick
    return pick


def names() -> list[str]:
    """All policies there are."""
    return [*POLICIES, *sorted(_installed().keys() - POLICIES.keys())]


def _told_by(pick: Pick) -> Where:
    """A rule as a policy: each choice takes one random number, whether or not it is used."""

    def choose(view: View, now: float, rng: Rng) -> int:
        return pick(view.candidates, view.seen, view.processors, view.present, now, rng.random())

    return choose


def _installed() -> dict[str, EntryPoint]:
    """The policies that other packages bring, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Where:
    """A package's policy, held to what its caller relies on: it answers with one of the candidates."""
    try:
        theirs = point.load()
    except Exception as error:  # whatever a package does when it is loaded
        raise HeadwayError(
            f"the policy {shown(point.name)} cannot be loaded from {point.value}: {_told(error)}.",
            "Install the package that brings it again, or take it out.",
        ) from error
    if not callable(theirs):
        raise HeadwayError(f"the policy {shown(point.name)} is no function: {point.value}.", "Tell its author.")

    def choose(view: View, now: float, rng: Rng) -> int:
        try:
            answer = theirs(view, now, rng)
        except Exception as error:  # whatever a package does
            raise HeadwayError(f"the policy {shown(point.name)} failed: {_told(error)}.", "Tell its author.") from error
        try:
            site = index(answer)
        except TypeError:
            site = -1
        if site not in view.candidates:
            raise HeadwayError(
                f"the policy {shown(point.name)} did not answer with the place of one of the candidates.",
                "Tell its author.",
            )
        return site

    return choose


def _told(error: Exception) -> str:
    """What an error of somebody else's says, in one line."""
    return unquoted(f"{type(error).__name__}: {error}")
