"""A part of a workflow: what some jobs need (`--until`), or what follows from a group on (`--from`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from headway.model.errors import NotFoundError, shown
from headway.model.flatten import Flat
from headway.model.record import field, record

_MOST_SEARCHED = 10_000  # names among which one that was perhaps meant is looked for


@record
class Part:
    """The nodes that a run is about, by their place; the others stay as they are."""

    wanted: frozenset[int] | None = None  # None: all
    anew: frozenset[int] = field(default_factory=frozenset)  # done or not, they are not any more
    begun: frozenset[int] = field(default_factory=frozenset)  # those of them that were asked for by name
    assumed: frozenset[int] = field(default_factory=frozenset)  # before them: count as done though they may not be

    def wants(self, node: int) -> bool:
        return self.wanted is None or node in self.wanted


WHOLE = Part()


def part(flat: Flat, until: Sequence[str] = (), since: Sequence[str] = ()) -> Part:
    """What is left of a workflow that is to run until some jobs are done, from some groups on, or both.

    From a group on: its jobs and all that follow run, done or not (with `until` some of them only later). What comes
    before the group counts as done. What else the jobs that follow need runs first, if it is not done.
    """
    if not until and not since:
        return WHOLE
    dag = flat.dag
    wanted = None if not until else reached(named(flat, until), dag.parents_of)
    if not since:
        return Part(wanted)
    begun = named(flat, since) if wanted is None else named(flat, since) & wanted
    anew = reached(begun, dag.children_of)
    assumed = reached(begun, dag.parents_of) - anew
    needed = reached(anew if wanted is None else anew & wanted, dag.parents_of) - assumed
    return Part(needed if wanted is None else needed & wanted, anew, begun, assumed)


def named(flat: Flat, names: Sequence[str]) -> frozenset[int]:
    """The jobs of that name, or of the group of that name."""
    groups = {path: (first, last) for path, first, last in flat.groups}
    jobs = {name: node for node, name in enumerate(flat.dag.names) if not flat.dag.milestones[node]}
    found: set[int] = set()
    for name in names:
        if name in groups:
            first, last = groups[name]
            found.update(range(first, last + 1))
        elif name in jobs:
            found.add(jobs[name])
        else:
            raise _unknown(name, [*groups, *jobs])
    return frozenset(found)


def reached(start: Iterable[int], next_to: Callable[[int], Sequence[int]]) -> frozenset[int]:
    """The nodes, and all that can be reached from them."""
    seen = set(start)
    stack = list(seen)
    while stack:
        for node in next_to(stack.pop()):
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return frozenset(seen)


def _unknown(name: str, known: Sequence[str]) -> NotFoundError:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1) if len(name) <= 100 and len(known) <= _MOST_SEARCHED else []
    hint = f"Did you mean {shown(close[0])}?" if close else "headway show lists what there is."
    return NotFoundError(f"the workflow has no job or group {shown(name)}.", hint)
