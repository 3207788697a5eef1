"""The rules: when a claim of peercomp.txt holds here, does not, or stays open. The report says when they were written.

A figure that the paper gives for its million nodes is judged only by a run of as many; a smaller one leaves it open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from headway.experiments.peercomp.measuring import MILLION, interval
from headway.experiments.report import Claim

FLAT = 1.25  # times that a median may grow by and still vary "very little"
FEW_SECONDS = 5.0
OFF_THE_LINE = 0.2  # share that times may be off a line over the logarithm of the size
SAVED = 0.9  # of the updates, at most, for the bound to count
NEAR = 0.1  # share of the oracle's acceptance that may be lost
MOST = {"laplace": 1.8, "fork-join": 10 / 3}


def judged(low: float, high: float, least: float) -> bool | None:
    """Whether an interval lies above a number; None: it holds the number."""
    return True if low > least else False if high < least else None


def by_priority(model: str, speeds: Sequence[Sequence[float]]) -> Claim:
    """Speed-up at 1.4 less that at 1.1, seed by seed."""
    here, low, high = interval([last - first for first, last in zip(speeds[0], speeds[-1], strict=True)])
    note = "at 1.4 less that at 1.1, on the same seeds"
    return Claim(
        f"{model}-priority",
        "speed-up increases with the workflow priority",
        here,
        judged(low, high, 0),
        low,
        high,
        note,
    )


def by_maximum(model: str, speeds: Sequence[Sequence[float]]) -> Claim:
    """The highest mean of the four priorities: Laplace above that of equal machines, fork-join below."""
    here, low, high = max(interval(some) for some in speeds)
    above = judged(low, high, MOST[model])
    is_laplace = model == "laplace"
    paper = "Laplace does better than the maximum on equal machines, 1.8" if is_laplace else "fork-join stays below 3.3"
    holds = above if is_laplace or above is None else not above
    return Claim(f"{model}-maximum", paper, here, holds, low, high, "the highest mean of the four priorities")


def by_table(model: str, speeds: Sequence[Sequence[float]], paper: Sequence[float]) -> Claim:
    """Each of the four speed-ups within a fifth of the paper's."""
    here = max(abs(interval(some)[0] / one - 1) for some, one in zip(speeds, paper, strict=True))
    words = f"{model}: {', '.join(map(str, paper))}"
    return Claim(
        f"{model}-table", words, here, here <= 0.2, note="how far the furthest of the four is off, at most 0.2"
    )


def of_allocation(medians: Mapping[str, Sequence[float]], most: float, nodes: int, stages: bool) -> list[Claim]:
    """Fig. 6: medians of the smallest to the largest workflow of each model, and the longest time of all."""
    growth = {model: values[-1] / values[0] for model, values in medians.items()}
    at_size = nodes >= MILLION
    fork, laplace = growth["fork-join"], growth["laplace"]
    return [
        Claim("widths", "fork-join takes few stages, Laplace more with its size", "2 and 2k - 3, k = 3 to 16", stages),
        Claim(
            "fork-join-flat", "the allocation time of fork-join varies very little with size", fork,
            (fork < FLAT) if at_size else None, note="median with 16 branches over that with 4",
        ),
        Claim(
            "laplace-grows", "it grows significantly for Laplace", laplace, (laplace > FLAT) if at_size else None,
            note="median with 5 rows over that with 3",
        ),
        Claim(
            "few-seconds", "allocation is done in just a few seconds", most, (most < FEW_SECONDS) if at_size else None,
            note="s, the 99th percentile of the slowest of the six; at most five",
        ),
    ]  # fmt: skip


def of_sizes(
    sizes: Sequence[int], medians: Sequence[float], hops: Sequence[float], levels: Sequence[int]
) -> list[Claim]:
    """Allocation times near a line over the logarithm of the size, and hops no more than twice up and down the tree."""
    off = _off_the_line([math.log10(size) for size in sizes], medians)
    is_enough = len(sizes) > 3 and sizes[-1] >= MILLION
    ratio = max(one / (2 * level) for one, level in zip(hops, levels, strict=True))
    return [
        Claim(
            "logarithmic", "allocation is bounded to logarithmic time by the balanced tree", off,
            (off <= OFF_THE_LINE) if is_enough else None,
            note="share that the median furthest from a line over the logarithm of the size is off, at most 0.2",
        ),
        Claim(
            "hops", "the search takes no more than the way up the tree and down again", ratio,
            (ratio <= 1) if is_enough else None, note="99% of workflows: most hops of a request, over twice the depth",
        ),
        Claim("million", "one million nodes", f"{sizes[-1]:,}", sizes[-1] >= MILLION or None, note="the largest grid"),
    ]  # fmt: skip


def _off_the_line(xs: Sequence[float], ys: Sequence[float]) -> float:
    """How far, as a share, the furthest value is from the straight line that fits best."""
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread if spread else 0.0
    return max(abs(y / (middle_y + slope * (x - middle_x)) - 1) for x, y in zip(xs, ys, strict=True))


def of_load(found: Mapping[str, Any]) -> list[Claim]:
    """What the paper gives for its nodes, each at most as much here."""
    nodes, events, out, into = found["nodes"], found["events_per_node_second"], found["bytes_out"], found["bytes_in"]
    top = found["levels"][-1]["events"]["max"]
    rows = [
        ("events-mean", "a mean of just 2 events a second at each node", events["mean"], 2,
         "greetings and statuses included; what has not changed is not sent again here"),
        ("events-most", "at most 40 events a second", events["max"], 40, "of the busiest peer in its busiest second"),
        ("out-75", "75% of the nodes send less than 2,500 bytes a second at their peak", out["p75"], 2500, ""),
        ("out-most", "at most 8,200 bytes a second are sent", out["max"], 8200, ""),
        ("in-75", "75% of the nodes receive less than 1,000 bytes a second at their peak", into["p75"], 1000, ""),
        ("in-99", "1% of the nodes receive more than 8,000 bytes a second: 99% no more", into["p99"], 8000, ""),
        ("in-most", "at most 29,000 bytes a second are received", into["max"], 29000, ""),
        ("top", "the top of the tree is no bottleneck: no more than 40 events a second there", top, 40,
         "mean while workflows arrive, of the peer that holds the root"),
    ]  # fmt: skip
    return [
        Claim(name, paper, float(here), (here <= most) if nodes >= MILLION else None, note=note)
        for name, paper, here, most, note in rows
    ]


def of_bound(bound: Sequence[int], free: Sequence[int]) -> Claim:
    """Updates with the rate bound over those without."""
    here, low, high = interval([one / other for one, other in zip(bound, free, strict=True)])
    below = judged(low, high, SAVED)
    note = "updates with over without it; at most 0.9"
    return Claim(
        "rate-bound",
        "the update rate limit reduces traffic",
        here,
        None if below is None else not below,
        low,
        high,
        note,
    )


def of_misses(name: str, missed: int, where: str) -> Claim:
    paper = "accepted workflows meet their deadlines"
    return Claim(name, paper, f"{missed} missed", missed == 0, note=where)


def of_churn(late: int, broken: int, longest: float) -> list[Claim]:
    """None late that could have been in time, and every tree whole in the end. Added after the first reports."""
    paper = "accepted workflows that still can meet their deadlines do (our aim, not the paper's)"
    whole = "the tree becomes whole again (our aim, not the paper's)"
    here = f"{broken} not whole" if broken else longest
    return [
        Claim("churn-misses", paper, f"{late} late", late == 0),
        Claim("churn-whole", whole, here, not broken, note="s after the last change, the longest of these runs"),
    ]


def of_oracle(mine: Sequence[float], most: Sequence[float], reason: str) -> Claim:
    """The share of the oracle's acceptance that is lost, over seeds."""
    gap, low, high = interval([1 - one / other if other else 0.0 for one, other in zip(mine, most, strict=True)])
    holds = True if high <= NEAR else False if low > NEAR else None
    paper = "accepts within a tenth of a central oracle (our aim, not the paper's)"
    return Claim("oracle-gap", paper, gap, holds, low, high, "share of its acceptance that is lost", reason=reason)


def of_fits(shares: Mapping[str, Sequence[float]]) -> Claim:
    """Acceptance with best fit less that with the better of the others, seed by seed."""
    others = zip(shares["earliest"], shares["worst"], strict=True)
    gains = [one - max(other) for one, other in zip(shares["best"], others, strict=True)]
    here, low, high = interval(gains)
    paper = "taking the hole that fits best improves the use of resources"
    note = "share of workflows accepted, less that of the better of the other two fits"
    return Claim("best-fit", paper, here, judged(low, high, 0), low, high, note)
