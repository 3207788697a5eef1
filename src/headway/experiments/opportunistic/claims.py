"""The claims of opportunistic.txt and the rules they are judged by. Both were fixed before the policy was run.

A claim holds if the 95% interval of what was measured lies wholly on its side. Intervals are over all runs, or over
sets of twenty runs where a claim is on the least or the greatest of twenty. Words are numbers here: *almost the same*
is within a quarter (ALIKE), *about* within a fifth (ABOUT), *probably* more often than not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.experiments.opportunistic.measuring import (
    BASELINES,
    OPPORTUNISTIC,
    PAPERS,
    TWENTY,
    Group,
    Interval,
    arrivals,
)
from headway.experiments.report import Claim
from headway.sim.ratios import paired
from headway.sim.sites import Strategy

ALIKE = 1.25
ABOUT = 0.2
FASTER = 1.2  # "improvement up to 120%": so much more time
HIGHER = 2.5  # "more than 150% higher"
SPEEDUP = 25.0
BASELINE_SPEEDUP = 10.0
FIRST = 100  # jobs


def judged(group: Group) -> list[Claim]:
    """All claims that one group of runs decides."""
    return [
        better_time(group),
        higher_speedup(group),
        speedup(group),
        best(group),
        baselines(group),
        *([first_hundred(group)] if len(group.found[OPPORTUNISTIC.name].ends) else []),
        minima(group),
        *(differ(group, statistic) for statistic in ("median", "mean", "max")),
    ]


def better_time(group: Group, statistic: str = "mean") -> Claim:
    """The greatest gain over any of the four, in time."""
    slowest = group.extremes(statistic, BASELINES)[0]
    gain = _less_1(group.over(slowest, OPPORTUNISTIC, statistic))
    sets = group.of_sets(slowest, statistic) / group.of_sets(OPPORTUNISTIC, statistic) - 1
    return Claim(
        "better-time" + ("" if statistic == "mean" else f"-{statistic}"),
        "improvement up to 120% over the other strategies",
        gain[0],
        _above(gain, FASTER),
        *gain[1:],
        note=f"{statistic} time of {slowest.policy} over that of opportunistic, less 1; {_sets(sets >= FASTER)}",
        variant_of="" if statistic == "mean" else "better-time",
    )


def higher_speedup(group: Group, statistic: str = "mean") -> Claim:
    """The speed-up over that of the best of the four."""
    fastest = group.extremes(statistic, BASELINES)[1]
    ratio = group.over(fastest, OPPORTUNISTIC, statistic)
    sets = group.of_sets(fastest, statistic) / group.of_sets(OPPORTUNISTIC, statistic)
    return Claim(
        "higher-speedup" + ("" if statistic == "mean" else f"-{statistic}"),
        "a speed-up more than 150% higher than that of each other strategy",
        ratio[0] - 1,
        _above(ratio, HIGHER),
        *_less_1(ratio)[1:],
        note=f"over {fastest.policy}, speed-up by the {statistic} time; {_sets(sets >= HIGHER)}",
        variant_of="" if statistic == "mean" else "higher-speedup",
    )


def higher_mean_speedup(group: Group) -> Claim:
    """The same if speed-ups of single runs are averaged, which favours a strategy with some very fast runs."""
    ratios = {one: _of_speedups(group, one) for one in BASELINES}
    nearest = min(ratios, key=lambda one: ratios[one][0])
    ratio = ratios[nearest]
    return Claim(
        "higher-speedup-of-runs",
        "a speed-up more than 150% higher than that of each other strategy",
        ratio[0] - 1,
        _above(ratio, HIGHER),
        *_less_1(ratio)[1:],
        note=f"over {nearest.policy}, the mean of the speed-ups of single runs",
        variant_of="higher-speedup",
    )


def _of_speedups(group: Group, other: Strategy) -> Interval:
    above, below = 1 / group.times(OPPORTUNISTIC), 1 / group.times(other)
    return paired(above, below) or (1.0, 1.0, 1.0)


def speedup(group: Group) -> Claim:
    found = group.speedup(OPPORTUNISTIC)
    low, high = SPEEDUP * (1 - ABOUT), SPEEDUP * (1 + ABOUT)
    sets = group.work / group.of_sets(OPPORTUNISTIC, "mean")
    return Claim(
        "speedup",
        "approximately twenty five times faster than a single machine",
        found[0],
        _within(found, low, high),
        *found[1:],
        note=f"sequential time over the mean time; {_sets((sets >= low) & (sets <= high), f'in {low:g} to {high:g}')}",
    )


def best(group: Group) -> Claim:
    """Faster than every other strategy, by mean time."""
    ratios = {one: group.over(OPPORTUNISTIC, one) for one in BASELINES}
    nearest = max(ratios, key=lambda one: ratios[one][0])
    ratio = ratios[nearest]
    return Claim(
        "best",
        "superior performance when compared to the other four",
        ratio[0],
        _below(ratio, 1.0),
        *ratio[1:],
        note=f"mean time over that of {nearest.policy}, the nearest",
    )


def baselines(group: Group) -> Claim:
    fastest = group.extremes("mean", BASELINES)[1]
    found = group.speedup(fastest)
    most = BASELINE_SPEEDUP * (1 + ABOUT)
    return Claim(
        "baselines",
        "the speed-up of the others is at most about 10",
        found[0],
        _below(found, most),
        *found[1:],
        note=f"{fastest.policy}; the world was calibrated to this, so it is no test",
    )


def first_hundred(group: Group) -> Claim:
    """Fig. 7: the times at which the first hundred jobs have ended."""
    found = {one: arrivals(group.found[one.name])[:, :FIRST] for one in PAPERS}
    means = {one: times.mean(axis=0) for one, times in found.items()}
    table = np.array([means[one] for one in PAPERS])
    apart = table.max(axis=0) / table.min(axis=0)
    at = int(apart.argmax())
    slow, fast = PAPERS[int(table[:, at].argmax())], PAPERS[int(table[:, at].argmin())]
    ratio = paired(found[slow][:, at], found[fast][:, at]) or (1.0, 1.0, 1.0)
    return Claim(
        "first-hundred",
        "almost the same performance during the first hundred jobs (Fig. 7)",
        ratio[0],
        _below(ratio, ALIKE),
        *ratio[1:],
        note=f"slowest over fastest, {slow.policy} over {fast.policy}, where they differ most: at job {at + 1}",
    )


def minima(group: Group) -> Claim:
    slow, fast = group.extremes("min")
    ratio = group.apart("min")
    return Claim(
        "minima",
        "the minimum of twenty runs is almost the same for all (Fig. 8)",
        ratio[0],
        _below(ratio, ALIKE),
        *ratio[1:],
        note=f"{slow.policy} over {fast.policy}; of the four others it was calibrated",
    )


def differ(group: Group, statistic: str) -> Claim:
    name = {"max": "maximum"}.get(statistic, statistic)
    slow, fast = group.extremes(statistic)
    ratio = group.apart(statistic)
    return Claim(
        f"{name}-differs",
        f"the {name} of twenty runs differs (Fig. 8)",
        ratio[0],
        _above(ratio, ALIKE),
        *ratio[1:],
        note=f"{slow.policy} over {fast.policy}",
    )


def stays(same: Sequence[float], waits: int) -> Claim:
    """Last-used stays with a site that queues; `same`: by run, the share of next jobs that go where one waits long."""
    value, low, high = _mean(same)
    found = value, max(low, 0.0), min(high, 1.0)
    return Claim(
        "last-used-stays",
        "under Last-Recent-Used, when a job waits long in a queue the next one will probably go to the same site",
        found[0],
        _above(found, 0.5),
        *found[1:],
        note=f"share of the jobs planned next after one that waited over ten minutes, {waits:,} of them, first level"
        " left out, as it is sent round robin",
    )


def no_benefit(group: Group) -> Claim:
    weighted, present = BASELINES[0], BASELINES[3]
    ratio = group.over(present, weighted)
    return Claim(
        "data-present-no-benefit",
        "Data-Present gains nothing, since transfers are short",
        ratio[0],
        _above(ratio, 1 / (1 + ABOUT / 4)),
        *ratio[1:],
        note="mean time over that of weighted, which it is without locality; a gain of 5% or more would be one",
    )


def short_transfers(with_them: Group, without: Group) -> Claim:
    """What transfers cost at all: an upper bound on what locality could save."""
    present = BASELINES[3]
    ratio = paired(with_them.times(present), without.times(present)) or (1.0, 1.0, 1.0)
    return Claim(
        "transfers-short",
        "the time to transfer files does not impact the performance",
        ratio[0],
        _below(ratio, 1 + ABOUT / 4),
        *ratio[1:],
        note="mean time of data-present over that in a world where nothing has to be moved",
    )


def _mean(values: Sequence[float]) -> Interval:
    found = np.array(values)
    return paired(found, np.ones(len(found))) or (0.0, 0.0, 0.0)


def _less_1(ratio: Interval) -> Interval:
    return ratio[0] - 1, ratio[1] - 1, ratio[2] - 1


def _above(found: Interval, least: float) -> bool | None:
    return True if found[1] >= least else False if found[2] < least else None


def _below(found: Interval, most: float) -> bool | None:
    return True if found[2] <= most else False if found[1] > most else None


def _within(found: Interval, low: float, high: float) -> bool | None:
    inside = low <= found[1] and found[2] <= high
    return True if inside else False if found[2] < low or found[1] > high else None


def _sets(holds: NDArray[np.bool_], told: str = "") -> str:
    """In how many sets of twenty runs it would have been seen."""
    where = f" {told}" if told else ""
    return f"{int(np.count_nonzero(holds))} of {len(holds)} sets of {TWENTY} runs show it{where}"
