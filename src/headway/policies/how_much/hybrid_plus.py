"""hybrid+: what hybrid asks for, trimmed, looked further ahead from, and with more than one request out. Ours.

hybrid asks for the widest level, looks one level further, and has one request out at a time. Here its group is asked
for with fewer processors where it would be done as soon; another cut into two groups is taken where all would be done
clearly earlier; and what follows is asked for at once where it would wait for longer than the first group takes. Limits
of the site and a budget are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from headway.model.messages import Seconds
from headway.model.record import record
from headway.policies.how_much import hybrid
from headway.policies.how_much.outline import MINUTE, Advice, Ask, View, whole_minutes

CUTS = 10  # of how many levels the first group may be: at most so many choices
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25)  # of the widest level
CLEARLY = 0.05  # earlier, so that another cut than hybrid's is taken
AS_SOON = MINUTE  # later, so that fewer processors are as good
SOONER = 0.5  # of its estimated wait after which a request may begin: most who run end before their limits


@record
class Group:
    """Some levels as one request."""

    first: int
    below: int
    width: int
    run: Seconds
    wait: Seconds  # if it were asked for now
    cost: float  # core hours, as long as it runs


@record
class Plan:
    """What to ask for now, and when all would be done."""

    levels: int
    done: Seconds
    cost: float
    asks: tuple[Ask, ...]


def advice(view: View) -> Advice:
    base = hybrid.advice(view)
    if base.individually:
        return base
    levels = _levels(view, base.asks[0])
    plans = [plan for plan in _plans(view, {*_cuts(view.left.height), levels}) if _allowed(view, plan)]
    own = [plan for plan in plans if plan.levels == levels]
    if not plans:
        # While others run or wait there is no room for more: later there is. A budget does not come back.
        return Advice() if view.out and _affordable(view) else Advice(individually=True)
    best = min(plans, key=lambda plan: plan.done)
    if own:
        soonest = min(plan.done for plan in own)
        if best.done > soonest - CLEARLY * soonest:
            plans, best = own, min(own, key=lambda plan: plan.done)
    good = [plan for plan in plans if plan.levels == best.levels and plan.done <= best.done + AS_SOON]
    return Advice(min(good, key=lambda plan: (plan.cost, plan.done)).asks)


def _levels(view: View, ask: Ask) -> int:
    """How many levels a request is for."""
    count, levels = 0, 0
    while count < len(ask.jobs):
        count += len(view.left.levels[levels])
        levels += 1
    return levels


def _plans(view: View, cuts: set[int]) -> Iterator[Plan]:
    height = view.left.height
    for below in sorted(cuts):
        rests = list(_groups(view, below, height)) if below < height else []
        for group in _groups(view, 0, below):
            ends = max(group.wait, view.busy) + group.run
            mine = _ask(view, group, view.busy)
            if below == height:
                yield Plan(below, ends, group.cost, (mine,))
            for rest in rests:
                cost = group.cost + rest.cost
                # Asked for when the first begins, its wait hides behind the run; asked for now, behind the wait too.
                yield Plan(below, ends + max(0.0, rest.wait - group.run) + rest.run, cost, (mine,))
                held = ends - SOONER * rest.wait
                if held <= 0:
                    yield Plan(below, max(ends, rest.wait) + rest.run, cost, (mine, _ask(view, rest, ends)))


def _cuts(height: int) -> list[int]:
    """Numbers of levels for the first group: all of them, or some, closer to each other where they are few."""
    if height <= CUTS:
        return list(range(1, height + 1))
    return sorted({round(height ** (at / (CUTS - 1))) for at in range(CUTS)})


def _groups(view: View, first: int, below: int) -> Iterator[Group]:
    """Some levels at several widths; those that take no less time with more processors are left out."""
    widest = view.widest(view.left.width(below, first))
    least = view.widest(view.left.narrowest(below, first))
    last = math.inf
    for width in sorted({max(least, round(widest * share)) for share in SHARES}):
        run = view.left.run_time(below, width, first)
        wait = view.wait(width, whole_minutes(run)) if run < last else None
        if wait is not None:
            last = run
            yield Group(first, below, width, run, max(0.0, wait), width * run / 3600)


def _ask(view: View, group: Group, before: Seconds) -> Ask:
    """Long enough to last until it is done, though it may begin before what it follows has ended."""
    early = max(0.0, before - group.wait)
    return Ask(group.width, whole_minutes(group.run + early), view.left.jobs(group.below, group.first))


def _affordable(view: View) -> bool:
    """Whether the budget leaves room for some first group: if not, none will ever be asked for."""
    hours = view.limits.core_hours
    return hours is None or any(
        group.width * whole_minutes(group.run) <= 3600 * hours
        for below in _cuts(view.left.height)
        for group in _groups(view, 0, below)
    )


def _allowed(view: View, plan: Plan) -> bool:
    """Whether a site's limits and the budget leave room for what a plan asks for."""
    limits = view.limits
    if limits.requests is not None and len(view.out) + len(plan.asks) > limits.requests:
        return False
    wide = sum(width for width, _ in view.out) + sum(ask.width for ask in plan.asks)
    if limits.processors is not None and wide > limits.processors:
        return False
    hours = sum(ask.width * ask.seconds for ask in plan.asks) / 3600
    return limits.core_hours is None or hours <= limits.core_hours
