"""What a policy does after a job that waits long: its choices one by one, from the slow world."""

from __future__ import annotations

from itertools import pairwise

from headway.experiments.opportunistic.measuring import SEED
from headway.policies.where import where
from headway.sim.rng import key
from headway.sim.sites import Model, Strategy
from headway.sim.slow_sites import Run

LONG = 600.0  # seconds in a queue


def followed(model: Model, strategy: Strategy, runs: int, first_level: int) -> tuple[list[float], int]:
    """By run, the share of jobs sent to the site of the job planned just before, if that one waits long there.

    Jobs of the first level, numbered below `first_level`, are left out: they are sent before anything is known.
    """
    shares, cases = [], 0
    for number in range(runs):
        run = Run(model, where(strategy.policy), strategy, key(SEED, "sites"), number)
        run.measured()
        later = [one for one in run.planned if one.lease.job >= first_level]
        same = [following.site == one.site for one, following in pairwise(later) if one.began - one.queued >= LONG]
        cases += len(same)
        if same:
            shares.append(sum(same) / len(same))
    return shares, cases
