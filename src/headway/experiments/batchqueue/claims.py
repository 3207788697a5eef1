"""What the paper says, and whether it is so here.

The rules were written after the means of a quick run of three starts had been seen, and before any longer one. Six were
changed later: docs/differences.md says which, when and why.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from headway.experiments.batchqueue.dags import FAMILIES
from headway.experiments.batchqueue.numbers import (
    Cells,
    Value,
    alike,
    all_of,
    as_the_paper,
    at_least,
    average,
    family,
    large,
    less,
    lower,
    of_paper,
    share,
    share_of_shares,
    width,
    within,
)
from headway.experiments.batchqueue.plans import METHODS, POLICIES
from headway.experiments.batchqueue.standins import CLUSTERS
from headway.experiments.report import Claim
from headway.sim.ratios import paired

OTHERS = ("individual", "giant")
MADE = "no independent test"
TWICE = 2.0  # what "little" may differ by
ABOUT = 0.05  # what "about the same" may differ by


def judged(cells: Cells) -> list[Claim]:
    """All claims, in the order of the paper."""
    return [
        *_least(cells),
        *_saved(cells),
        *_hours(cells),
        *_clusters(cells),
        *_ada(cells),
        *_rtc(cells),
        *_rest(cells),
    ]


def _claim(id: str, paper: str, value: Value | None, holds: bool | None, note: str = "") -> Claim:
    if value is None:
        return Claim(id, paper, "nothing to compare", None, note=note)
    return Claim(id, paper, value.value, holds, value.low, value.high, note)


def _least(cells: Cells) -> Iterator[Claim]:
    there = [cell for (_, _, variant), cell in cells.items() if variant == "paper"]
    least = [all_of([less([cell], "hybrid", other) for other in OTHERS]) for cell in there]
    lowest = sum(
        all(average([cell], "hybrid", "wait").value < average([cell], other, "wait").value for other in OTHERS)
        for cell in there
    )
    theirs = sum(all(as_the_paper(cell, "hybrid", other) for other in OTHERS) for cell in there)
    count = least.count(True)
    wrong = least.count(False)
    holds = None if len(there) < 15 else False if wrong else True if count >= 14 else None  # one that is less is no tie
    yield Claim(
        "hybrid-least", "hybrid waits least in 14 of 15 cells, the other a tie",
        f"{count} of {len(there)} cells, {wrong} where it does not, {least.count(None)} open", holds,
        note=f"the lowest mean in {lowest}; differs from both by the paper's own test in {theirs}",
    )  # fmt: skip
    yield _tie(cells)


def _tie(cells: Cells) -> Claim:
    """That nothing is told apart is a tie only where something could be: within a quarter of giant's wait."""
    paper, there = "on Ada under FL hybrid and giant are tied", of_paper(cells, "Ada", ["FL"])
    if not there:
        return Claim("ada-fl-tie", paper, "no cell", None)
    ratio = share(there, "hybrid", "giant")
    if ratio is None:
        return Claim("ada-fl-tie", paper, "nobody waits", None)
    same, narrow = ratio.low <= 1 <= ratio.high, ratio.high - ratio.low <= 0.5
    differ = "differ" if as_the_paper(there[0], "hybrid", "giant") else "are tied"
    note = f"hybrid over giant; by the paper's own test they {differ}"
    return _claim("ada-fl-tie", paper, ratio, False if not same else True if narrow else None, note)


def _saved(cells: Cells) -> Iterator[Claim]:
    saved = {
        (cluster, rules): _gone(share([cell], "hybrid", "individual"))
        for (cluster, rules, variant), cell in cells.items()
        if variant == "paper"
    }
    known = {where: value for where, value in saved.items() if value is not None}
    most = max(known, key=lambda where: known[where].value, default=None)
    top = None if most is None else known[most]
    where = "" if most is None else f"most on {most[0]} under {most[1]}"
    yield _claim("saved-individual", "up to 70% of individual's wait is gone", top, at_least(top, 0.70), where)
    yield _claim(
        "saved-ada-fl", "70% of individual's wait is gone on Ada under FL", saved.get(("Ada", "FL")),
        at_least(saved.get(("Ada", "FL")), 0.65), "at least 65% counts",
    )  # fmt: skip
    on_rtc = of_paper(cells, "RTC", POLICIES)
    rtc = _gone(share(on_rtc, "hybrid", "giant")) if on_rtc else None
    yield _claim(
        "saved-giant-rtc", "82 to 84% of giant's wait is gone on RTC", rtc, at_least(rtc, 0.80), "at least 80% counts"
    )


def _gone(left: Value | None) -> Value | None:
    return None if left is None else Value(1 - left.value, 1 - left.high, 1 - left.low)


def _hours(cells: Cells) -> Iterator[Claim]:
    """Fig. 13, under FS."""
    there = [cell for cluster in CLUSTERS for cell in of_paper(cells, cluster, ["FS"])]
    whole = share(there, "giant", "individual", "core_hours") if there else None
    yield _claim(
        "giant-cpu-hours", "giant uses almost three times individual's CPU hours", whole, within(whole, 2.5, 3.5),
        f"run times were chosen to give it: {MADE}",
    )  # fmt: skip
    below = _gone(share(there, "hybrid", "giant", "core_hours")) if there else None
    yield _claim("hybrid-cpu-hours", "hybrid uses 10 to 20% less than giant", below, within(below, 0.07, 0.25),
                 "7 to 25% counts, as the figure's bars have it")  # fmt: skip


def _clusters(cells: Cells) -> Iterator[Claim]:
    for cluster, more in (("Ada", "individual"), ("LeMieux", "individual"), ("RTC", "giant"), ("Star", "giant")):
        some = of_paper(cells, cluster, POLICIES)
        other = "giant" if more == "individual" else "individual"
        ratio = share(some, more, other) if some else None
        holds = None if ratio is None else True if ratio.low > 1 else False if ratio.high <= 1 else None
        yield _claim(
            f"more-{cluster}", f"{more} waits more than {other} on {cluster}", ratio, holds, f"{more} over {other}"
        )
    margins = {}
    for cluster in CLUSTERS:
        some = of_paper(cells, cluster, POLICIES)
        best = min(OTHERS, key=lambda one: average(some, one, "wait").value) if some else ""
        gone = _gone(share(some, "hybrid", best)) if some else None
        if gone is not None:
            margins[cluster] = gone
    first = max(margins, key=lambda one: margins[one].value, default="none")
    sure = first in margins and all(margins[first].low > value.high for one, value in margins.items() if one != first)
    yield Claim(
        "margin-lemieux", "hybrid's margin over the better of the others is best on LeMieux",
        ", ".join(f"{one} {value.value:.0%}" for one, value in margins.items()) or "no cell",
        None if len(margins) < 5 or not sure else first == "LeMieux",
    )  # fmt: skip
    low = {
        one: average(of_paper(cells, one, POLICIES), "hybrid", "wait")
        for one in CLUSTERS
        if of_paper(cells, one, POLICIES)
    }
    rest = [value.value for one, value in low.items() if one != "Lonestar"]
    mine = low.get("Lonestar")
    yield Claim(
        "least-lonestar", "waits on Lonestar are a fraction of those on the other four",
        ", ".join(f"{one} {value.value:,.0f} s" for one, value in low.items()) or "no cell",
        None if mine is None or len(low) < 5 else True if mine.high < min(rest) else False if mine.low >= min(rest)
        else None, note="by hybrid, all policies",
    )  # fmt: skip
    yield _policy(cells)


def _policy(cells: Cells) -> Claim:
    """Little: by less than twice on every cluster (the paper's bars: 1.6). Much: more than by policy."""
    means = {
        (cluster, rules): average([cells[cluster, rules, "paper"]], "hybrid", "wait").value
        for cluster in CLUSTERS
        for rules in POLICIES
        if (cluster, rules, "paper") in cells
    }
    paper = "policy matters little, the cluster much"
    if len(means) < 15 or min(means.values()) <= 0:
        return Claim("policy-cluster", paper, "a cell is missing, or nobody waits in one", None)
    waits = {cluster: [means[cluster, one] for one in POLICIES] for cluster in CLUSTERS}
    spread = max(max(some) / min(some) for some in waits.values())
    little = all_of([alike(of_paper(cells, cluster, POLICIES), "hybrid", TWICE) for cluster in CLUSTERS])
    most, least = (which(waits, key=lambda one: sum(waits[one])) for which in (max, min))
    over = sum(waits[most]) / sum(waits[least])
    here = f"hybrid's wait: policies differ by up to {spread:.2f}, clusters by {over:.1f}"
    waited = sum(waits[least]) / len(POLICIES)
    note = (
        f"little: less than twice, by pairs of starts; clusters by means alone, {least} with {waited:,.0f} s the least"
    )
    return Claim("policy-cluster", paper, here, all_of([little, spread < over]), note=note)


def _ada(cells: Cells) -> Iterator[Claim]:
    """Fig. 12: relative waits."""
    there = of_paper(cells, "Ada", POLICIES)
    verdicts = [less([cell], "hybrid", other, "relative_wait") for cell in there for other in OTHERS]
    yield Claim(
        "ada-relative", "on Ada hybrid's relative wait is the least under all policies",
        f"{verdicts.count(True)} of {len(verdicts)} comparisons, {verdicts.count(False)} the other way",
        all_of(verdicts) if len(there) == 3 else None,
    )  # fmt: skip
    worse = None
    if len(there) == 3:
        both = [average(of_paper(cells, "Ada", [one]), "giant", "relative_wait") for one in ("FS", "FL")]
        rows = [of_paper(cells, "Ada", [one])[0].of("giant", "relative_wait").mean(axis=0) for one in ("FS", "FL")]
        found = paired(rows[0], rows[1])
        worse = None if found is None or not both[1].value else Value(*found)
    holds = None if worse is None else True if worse.low > 1 else False if worse.high <= 1 else None
    yield _claim(
        "ada-giant-fs", "on Ada giant's relative wait is worse under FS than under FL", worse, holds, "FS over FL"
    )


def _rtc(cells: Cells) -> Iterator[Claim]:
    """Fig. 14, and what is said of large dags."""
    there = of_paper(cells, "RTC", POLICIES)
    if not there or len(set(large(there[0]))) < 2:
        for id in ("rtc-large-individual", "rtc-small", "rtc-giant-large"):
            yield Claim(id, "what is said of large and small dags on RTC", "not both are there", None)
        return
    wide = large(there[0])
    gone = average(there, "hybrid", "individually", wide)
    yield _claim(
        "rtc-large-individual", "on RTC virtually all large dags go individual", gone, at_least(gone, 0.9),
        "the share of large dags that ended job by job; 90% counts",
    )  # fmt: skip
    small = [less(there, "hybrid", other, "wait", ~wide) for other in OTHERS]
    yield Claim(
        "rtc-small", "on RTC hybrid waits less than both for small dags",
        f"{small.count(True)} of 2, {small.count(False)} the other way", all_of(small),
    )  # fmt: skip
    ratio = share_of_shares(there, "giant", "hybrid", "wait", wide, ~wide)
    yield _claim(
        "rtc-giant-large", "on RTC giant suffers most with large dags", ratio,
        None if ratio is None else True if ratio.low > 1 else False if ratio.high <= 1 else None,
        "giant over hybrid, large dags over small ones; the figure's bars give 6.7",
    )  # fmt: skip


def _rest(cells: Cells) -> Iterator[Claim]:
    """Fig. 15, Star, estimates, and how many dags are large."""
    there = [cell for cluster in CLUSTERS for cell in of_paper(cells, cluster, ["FL"])]
    full = len(there) == 5
    for name in FAMILIES if there else ():
        some = family(there[0], name)
        if not some.any():
            continue
        giant = less(there, "giant", "individual", "wait", some)
        wanted = giant if name == "Gauss" else None if giant is None else not giant
        told = "is less" if giant else "is more" if giant is False else "is not told apart"
        yield Claim(
            f"giant-{name}", f"giant waits {'less' if name == 'Gauss' else 'more'} than individual on {name}",
            f"giant {told}", wanted if full else None, note="all clusters, FL",
        )  # fmt: skip
        least = [less(there, "hybrid", other, "wait", some) for other in OTHERS]
        yield Claim(
            f"hybrid-{name}", f"hybrid waits least on {name}",
            f"{least.count(True)} of 2 comparisons, {least.count(False)} the other way",
            all_of(least) if full else None, note="all clusters, FL",
        )  # fmt: skip
    yield _star(cells)
    yield _estimates(cells)
    if there:
        wide = [width(*dag) for dag in there[0].dags]
        here = sum(one > 128 for one in wide) / len(wide)
        yield Claim("large-share", "about 30% of the dags are wider than 128", here, 0.25 <= here <= 0.35,
                    note=f"by construction: {MADE}")  # fmt: skip


def _star(cells: Cells) -> Claim:
    paper, there = "on Star all methods wait least under FS", of_paper(cells, "Star", POLICIES)
    if len(there) < len(POLICIES):
        return Claim("star-fs", paper, "no cell", None)
    waits = {(cell.policy, how): average([cell], how, "wait").value for cell in there for how in METHODS}
    best = {how: min(POLICIES, key=lambda one, how=how: waits[one, how]) for how in METHODS}  # type: ignore[misc]
    here = ", ".join(f"{how} under {one}" for how, one in best.items())
    if any(waits[best[how], how] == max(waits[one, how] for one in POLICIES) for how in METHODS):
        return Claim("star-fs", paper, "some method waits alike under all", None)
    by_policy = {cell.policy: cell for cell in there}
    verdicts = [lower(by_policy["FS"], by_policy[other], how) for how in METHODS for other in POLICIES if other != "FS"]
    return Claim("star-fs", paper, f"least: {here}", all_of(verdicts), note="by pairs of starts")


def _estimates(cells: Cells) -> Claim:
    every = [cell for (_, _, variant), cell in cells.items() if variant == "paper"]
    paper = "estimates are within 5% of the real wait on average"
    rows = [
        np.sum([cell.of("hybrid", metric).sum(axis=0) for cell in every], axis=0)
        for metric in ("error", "estimated_waits")
    ]
    ratio = paired(rows[0], rows[1]) if every else None
    found = None if ratio is None else Value(*ratio)
    if found is None:
        return Claim("estimates", paper, "nothing waited", None)
    note = "estimated less real waits of hybrid's groups, over real waits"
    return _claim("estimates", paper, found, within(found, -ABOUT, ABOUT), note)
