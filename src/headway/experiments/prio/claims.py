"""What the text of section 4.3 says of Figs 6 to 9, held against what was measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from headway.experiments.prio.figures_6_to_9 import Surface, execution_time
from headway.experiments.prio.results import Results
from headway.experiments.prio.settings import BATCHES, FILES, INTERVALS, Case
from headway.experiments.report import Claim, Report
from headway.model.record import replace
from headway.sim.comparison import Effort
from headway.sim.grid import Workers

ABOUT = 0.02  # "about the same": within two hundredths
SOME = 0.99  # "some advantage": a hundredth at least
NOISE = 0.01  # an interval that reaches so far below leaves open whether there is one
BEST = {"airsn": 5, "inspiral": 9, "montage": 7, "sdss": 13}  # the exponents of the best batch sizes stated
FREQUENT, GAINS = 1e-3, tuple(interval for interval in INTERVALS if interval >= 0.1)

Surfaces = Mapping[tuple[str, str], Surface]


def add(report: Report, surfaces: Surfaces, results: Results, stated: Effort, done: Callable[[float], None]) -> None:
    """All claims, first by the shuffled files, then by those of the generators."""
    report.say(
        "## The claims of section 4.3",
        "The paper does not say in which order the jobs stood in its files, and FIFO depends on it. Claims are judged"
        " twice: with the jobs shuffled, which favours nobody, and in the tidy order of our generators. *About the"
        f" same* means that no setting's 95% interval lies wholly beyond {ABOUT:g} of 1; *some advantage* that some"
        f" interval lies wholly below {SOME:g}. Intervals here are those of paired samples, except for the two claims"
        " at (1, 2^4), which are judged by the paper's own at p = q = 300.",
    )
    for file in FILES:
        mine = {name: found for (name, other), found in surfaces.items() if other == file}
        report.say(f"### File {file}")
        found = [*_airsn(file, results, stated, done)] if "airsn" in mine else []
        found += [*_frequent(mine), *_gains(mine), *_best(mine), *_strength(mine), *_ends(mine)]
        ending = "" if file == FILES[0] else "-as-generated"
        report.claim_table([_renamed(claim, ending) for claim in found])


def _renamed(claim: Claim, ending: str) -> Claim:
    return replace(claim, id=claim.id + ending, variant_of=claim.id if ending else "")


def _airsn(file: str, results: Results, stated: Effort, done: Callable[[float], None]) -> Iterator[Claim]:
    ratio = results.comparison(Case("airsn", file), Workers(1.0, 16.0), stated, done)["ratios"]["execution_time"]
    median, low, high = ratio["median"], ratio["low"], ratio["high"]
    yield Claim("airsn-median", "AIRSN at (1, 2^4): median below 0.85", median, median < 0.85, low, high)
    yield Claim(
        "airsn-gain",
        "AIRSN at (1, 2^4): a gain of at least 13% with 95% confidence",
        1 - high,
        high <= 0.87,
        note="one less the upper end of the interval",
    )


def _off(found: Surface, intervals: Sequence[float], batches: Sequence[float]) -> tuple[float, float, list[str]]:
    """Least and greatest ratio, and the settings whose interval is wholly off 1."""
    settings = [(interval, batch) for interval in intervals for batch in batches]
    ratios = [execution_time(found[setting]) for setting in settings]
    off = [
        f"({interval:g}, 2^{BATCHES.index(batch)}) {ratio:.3f}"
        for (interval, batch), (ratio, low, high) in zip(settings, ratios, strict=True)
        if high < 1 - ABOUT or low > 1 + ABOUT
    ]
    return min(ratios)[0], max(ratios)[0], off


def _frequent(mine: Mapping[str, Surface]) -> Iterator[Claim]:
    for name, found in mine.items():
        least, most, off = _off(found, [FREQUENT], BATCHES)
        same = not off
        yield Claim(
            f"frequent-{name}",
            "at 10^-3 " + ("not about the same" if name == "sdss" else "about the same"),
            f"{least:.3f} to {most:.3f}",
            same is (name != "sdss"),
            note=", ".join(off),
        )


def _gains(mine: Mapping[str, Surface]) -> Iterator[Claim]:
    for name, found in mine.items():
        rows = {interval: [execution_time(found[interval, batch]) for batch in BATCHES] for interval in GAINS}
        without = [interval for interval, row in rows.items() if min(it[2] for it in row) >= SOME]
        unsure = [f"{interval:g}" for interval in without if min(it[1] for it in rows[interval]) < SOME - NOISE]
        missing = [f"{interval:g}" for interval in without if f"{interval:g}" not in unsure]
        ratio, low, high = min(it for row in rows.values() for it in row)
        yield Claim(
            f"gains-{name}",
            "from 10^-1 on some advantage for a range of batch sizes",
            ratio,
            False if missing else None if unsure else True,
            low,
            high,
            note="the best setting is shown"
            + f"; none at μ_BIT {', '.join(missing)}" * bool(missing)
            + f"; too noisy to tell at μ_BIT {', '.join(unsure)}" * bool(unsure),
        )


def _best(mine: Mapping[str, Surface]) -> Iterator[Claim]:
    for name, found in mine.items():
        means = [sum(execution_time(found[at, batch])[0] for at in GAINS) / len(GAINS) for batch in BATCHES]
        here = means.index(min(means))
        each = [min(range(len(BATCHES)), key=lambda step: execution_time(found[at, BATCHES[step]])[0]) for at in GAINS]
        gain = min(means) < SOME
        yield Claim(
            f"best-batch-{name}",
            f"the advantage is greatest at about 2^{BEST[name]}",
            f"2^{here}" if gain else "no advantage to speak of",
            gain and abs(here - BEST[name]) <= 1,
            note=f"mean ratio {min(means):.3f} over μ_BIT ≥ 0.1; by μ_BIT: {', '.join(f'2^{step}' for step in each)}",
        )


def _strength(mine: Mapping[str, Surface]) -> Iterator[Claim]:
    if len(mine) < len(BEST):
        return
    best = {
        name: min(execution_time(found[interval, batch])[0] for interval in GAINS for batch in BATCHES)
        for name, found in mine.items()
    }
    ranking = sorted(best, key=lambda name: best[name])
    told = ", ".join(f"{name} {best[name]:.3f}" for name in ranking)
    yield Claim("strongest", "gains are strongest for AIRSN", ranking[0], ranking[0] == "airsn", note=told)
    yield Claim("weakest", "and weakest for Montage", ranking[-1], ranking[-1] == "montage", note=told)


def _ends(mine: Mapping[str, Surface]) -> Iterator[Claim]:
    for name, found in mine.items():
        for batch in (BATCHES[0], BATCHES[-1]):
            least, most, off = _off(found, INTERVALS, [batch])
            step = BATCHES.index(batch)
            yield Claim(
                f"about-1-at-2^{step}-{name}",
                f"ratios close to 1 at 2^{step}",
                f"{least:.3f} to {most:.3f}",
                not off,
                note=", ".join(off),
            )
