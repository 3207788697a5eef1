"""Whether PRIO's schedule is proved IC-optimal: as many jobs eligible at every step as any schedule can have.

*Yes*, if every component has a schedule proved IC-optimal, each has priority 1 over the next in the order of execution
(the relation is transitive), and no arc leaves a component from its inside, so that the eligible jobs of the whole are
those of the components. This holds wherever the algorithm of section 2.2 succeeds. Small dags are settled by looking
at every set of jobs that can have been executed. *No*, if that, or a schedule with more eligible jobs at some step,
shows it. Otherwise nobody knows, and the first component that stood in the way is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from headway.model.dag import Dag
from headway.model.errors import unquoted
from headway.model.record import record
from headway.policies.what_next.eligible import eligible
from headway.policies.what_next.prio.exhaustive import most_eligible
from headway.policies.what_next.prio.plan import Plan
from headway.policies.what_next.prio.priority import exact, priorities

MOST_JOBS = 24  # of a dag, or non-sinks of a component, that every set of executed jobs is looked at
MOST_SETS = 20_000


@record
class Certificate:
    """What is proved of a schedule, why, and the component (by its place in the order) that stood in the way."""

    ic_optimal: bool | None
    reason: str
    component: int | None = None


def certificate(
    dag: Dag, plan: Plan, order: Sequence[int] | None = None, rivals: Iterable[tuple[str, Sequence[int]]] = ()
) -> Certificate:
    """Of the dag's plan, or of another order; `rivals` are schedules, with names, that may have more eligible jobs."""
    obstacle = _obstacle(dag, plan)
    curve = eligible(dag, plan.order if order is None else order)
    if obstacle is None:
        if order is None:
            return Certificate(True, _praise(plan))
        return _compared(curve, eligible(dag, plan.order), "it keeps up with prio, of which that is proved", "", None)
    what, component = obstacle
    if plan.graph.size <= MOST_JOBS and not plan.graph.barriers:
        best = _best(plan)
        if best is not None:
            return _compared(curve, best, f"every set of executed jobs was looked at, though {what}", what, component)
    for name, rival in rivals:
        for step, (ours, theirs) in enumerate(zip(curve, eligible(dag, rival), strict=True)):
            if ours < theirs:
                reason = f"{_after(step)} {name} has {theirs} eligible jobs, here {ours}: {what}"
                return Certificate(False, reason, component)
    return Certificate(None, what, component)


def _compared(curve: list[int], best: list[int], praise: str, blame: str, component: int | None) -> Certificate:
    """Against the most that can be."""
    for step, (ours, most) in enumerate(zip(curve, best, strict=True)):
        if ours < most:
            reason = f"{_after(step)} {most} jobs can be eligible, here {ours}" + (f": {blame}" if blame else "")
            return Certificate(False, reason, component)
    return Certificate(True, praise, component)


def _praise(plan: Plan) -> str:
    count = len(plan.sequence)
    if not count:
        return "no job waits for another"
    each = "the only component has" if count == 1 else f"each of the {count} components has"
    return f"{each} an IC-optimal schedule" + ("" if count == 1 else " and priority over the next")


def _after(step: int) -> str:
    return f"after {step} job{'' if step == 1 else 's'}"


def _obstacle(dag: Dag, plan: Plan) -> tuple[str, int | None] | None:
    """What keeps the theory from saying yes, and the place of the component that does."""
    if plan.graph.barriers:
        count = plan.graph.barriers
        who = "a barrier stands" if count == 1 else f"{count} barriers stand"
        return f"{who} for too many arcs to be taken apart", None
    for place, component in enumerate(plan.sequence):
        if component in plan.parts.strays:
            return f"{_called(dag, plan, place)} does not hold all children of its jobs", place
        proved = plan.proved[component]
        if proved is None and component in plan.parts.tangled:
            proved = _tangle_proved(plan, component)
        if proved is False:
            return f"{_called(dag, plan, place)} has no IC-optimal schedule", place
        if proved is None:
            return f"{_called(dag, plan, place)} has no schedule known to be IC-optimal", place
    return _disorder(dag, plan)


def _disorder(dag: Dag, plan: Plan) -> tuple[str, int | None] | None:
    """The first component without priority over the next."""
    known: dict[tuple[int, int], bool | None] = {}
    for place, (one, two) in enumerate(pairwise(plan.sequence)):
        pair = plan.profile_of[one], plan.profile_of[two]
        if pair not in known:
            first, second = plan.profiles[pair[0]], plan.profiles[pair[1]]
            has = priorities(first, second)[0] == 1.0
            known[pair] = has if not has or exact(first, second) else None
        if known[pair] is not True:
            how = "has no priority over" if known[pair] is False else "is too large to be compared with"
            return f"{_called(dag, plan, place)} {how} the next, {_called(dag, plan, place + 1)}", place
    return None


def _called(dag: Dag, plan: Plan, place: int) -> str:
    component = plan.sequence[place]
    first = dag.names[plan.graph.nodes[plan.parts.nonsinks[component][0]]]
    jobs = len(plan.parts.nonsinks[component]) + len(plan.parts.sinks[component])
    return f"component {place + 1} ({plan.kinds[component]}, {jobs} jobs, from {unquoted(first)})"


def _best(plan: Plan) -> list[int] | None:
    """The most eligible jobs after each step, over all schedules; None: there are too many sets."""
    graph = plan.graph
    rows = [graph.parents[graph.parent_start[node] : graph.parent_start[node + 1]] for node in range(graph.size)]
    return most_eligible([sum(1 << parent for parent in row) for row in rows], MOST_SETS)


def _tangle_proved(plan: Plan, component: int) -> bool | None:
    """Whether the schedule of a small component that is not bipartite is best at every step; None: nobody knows."""
    graph, parts = plan.graph, plan.parts
    nonsinks = parts.nonsinks[component]
    if len(nonsinks) > MOST_JOBS:
        return None
    members = [*nonsinks, *parts.sinks[component]]
    number = {node: at for at, node in enumerate(members)}
    masks = [0] * len(members)
    for node in nonsinks:
        for child in graph.children[graph.child_start[node] : graph.child_start[node + 1]]:
            masks[number[child]] |= 1 << number[node]
    best = most_eligible(masks, MOST_SETS, len(nonsinks))
    if best is None:
        return None
    return True if best == plan.profiles[plan.profile_of[component]].eligible else None
