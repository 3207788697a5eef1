"""Why a claim does not hold, as far as the runs show it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headway.experiments.opportunistic.measuring import BASELINES, OPPORTUNISTIC, Group, told
from headway.experiments.opportunistic.osg import PATIENCE, world
from headway.experiments.report import Claim
from headway.model.quantities import duration
from headway.model.record import replace
from headway.sim.sites import Strategy


def given(found: Sequence[Claim], group: Group, every: Group, unmoved: Group) -> list[Claim]:
    """The claims with reasons where they do not hold, or are open."""
    return [
        claim if claim.holds else replace(claim, reason=_reason(claim.id, group, every, unmoved)) for claim in found
    ]


def _reason(name: str, group: Group, every: Group, unmoved: Group) -> str:
    if name == "speedup":
        return (
            f"It depends on the patience, which the paper does not tell: here it is {duration(PATIENCE)}, and jobs that"
            " meet a full site wait for about that long. *How long to be patient* shows which one gives 25."
        )
    if name in ("higher-speedup-of-runs", "higher-speedup-median", "better-time-median"):
        present = BASELINES[3]
        half = group.summary(present)["median"] / group.summary(OPPORTUNISTIC)["median"]
        most = group.summary(present)["max"] / group.summary(OPPORTUNISTIC)["max"]
        places = world().places
        none = math.prod(1 - place.load.full for place in places)
        return (
            f"In {none:.0%} of runs no site is full at the start. The median of data-present is {half:.2f} times that"
            f" of opportunistic, its maximum {most:.1f} times: the gain is in the slow runs, and statistics that give"
            " those little weight show little of it."
        )
    if name == "data-present-no-benefit":
        weighted, present = BASELINES[0], BASELINES[3]
        patient = every.over(Strategy(present.policy, PATIENCE), Strategy(weighted.policy, PATIENCE))
        return (
            "It does gain, but not by shorter transfers: where nothing has to be moved at all, the ratio is"
            f" {told(unmoved.over(present, weighted))}. We think that it gains by staying: the second and third job of"
            " a pipeline go where the one before has just run, so that site was not full a moment ago, while weighted"
            f" draws another site each time. With patience for both the ratio is {told(patient)}."
        )
    if name == "last-used-stays":
        return (
            "We think: a site where a job has just ended lets jobs begin, and as soon as a job ends elsewhere the next"
            " one goes there, so that few follow one that waits. Such waits are rare here, hence the wide interval."
        )
    return ""
