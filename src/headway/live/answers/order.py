"""The answer of `headway order`: who runs when, how many are eligible at every step, and what is proved of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain

from headway.model.dag import Dag
from headway.model.record import asdict, record
from headway.policies.what_next import order, settled
from headway.policies.what_next.eligible import eligible, schedule
from headway.policies.what_next.prio.certificate import Certificate, certificate
from headway.policies.what_next.prio.plan import Plan

RIVALS = ("fifo", "critical-path")  # whose schedules may show that another is not best


@record
class Ordered:
    """A dag under one order."""

    by: str
    ranks: list[int]
    jobs: list[int]  # in the order in which one worker executes them
    eligible: list[int]
    seconds: float


@record
class Compared:
    """A dag under an order, and under others; and what is known of the order."""

    wanted: str  # the order that was asked for, which may be `auto`
    plan: Plan
    ordered: Ordered
    others: list[Ordered]
    certificate: Certificate


def compared(dag: Dag, by: str, others: Sequence[str]) -> Compared:
    """Puts a dag in an order, and in others."""
    name = settled(by, dag)
    begun = time.process_time()
    plan = Plan(dag)
    ordered = _ordered(dag, name) if name != "prio" else _executed(dag, name, plan.ranks, begun)
    rest = [_ordered(dag, settled(other, dag)) for other in others]
    return Compared(by, plan, ordered, rest, _certificate(dag, plan, ordered))


def _ordered(dag: Dag, name: str) -> Ordered:
    begun = time.process_time()
    return _executed(dag, name, order(name)(dag), begun)


def _executed(dag: Dag, name: str, ranks: Sequence[int], begun: float) -> Ordered:
    seconds = time.process_time() - begun
    jobs = schedule(dag, ranks)
    return Ordered(name, list(ranks), jobs, eligible(dag, jobs), seconds)


def _certificate(dag: Dag, plan: Plan, ordered: Ordered) -> Certificate:
    rivals = ((name, schedule(dag, order(name)(dag))) for name in RIVALS if name != ordered.by)
    if ordered.by == "prio":
        return certificate(dag, plan, None, rivals)
    return certificate(dag, plan, ordered.jobs, chain([("prio", plan.order)], rivals))


def answer(dag: Dag, found: Compared) -> dict[str, object]:
    """As docs/json.md says."""
    names, ordered = dag.names, found.ordered
    return {
        "by": found.wanted,
        "chosen": ordered.by,
        "order": [names[node] for node in ordered.jobs],
        "ranks": {names[node]: ordered.ranks[node] for node in dag.jobs()},
        "eligible": ordered.eligible,
        "seconds": ordered.seconds,
        "certificate": asdict(found.certificate),
        "components": [asdict(component) for component in found.plan.components],
        "compared": [_comparison(dag, ordered, other) for other in found.others],
    }


def _comparison(dag: Dag, ordered: Ordered, other: Ordered) -> dict[str, object]:
    difference = [ours - theirs for ours, theirs in zip(ordered.eligible, other.eligible, strict=True)]
    return {
        "by": other.by,
        "order": [dag.names[node] for node in other.jobs],
        "eligible": other.eligible,
        "seconds": other.seconds,
        "more": sum(value > 0 for value in difference),
        "fewer": sum(value < 0 for value in difference),
        "most": max(difference),
        "least": min(difference),
        "mean": sum(difference) / len(difference),
    }
