"""What the text of section 4.3 says of Figs 6 to 9, as rules that a measured surface meets or does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headway.experiments.prio.measuring import Surface, execution_time
from headway.experiments.prio.settings import BATCHES, INTERVALS
from headway.experiments.report import Claim

ABOUT = 0.02  # "about the same": within two hundredths
SOME = 0.99  # "some advantage": a hundredth at least
NOISE = 0.01  # an interval that reaches so far below leaves open whether there is one
BEST = {"airsn": 5, "inspiral": 9, "montage": 7, "sdss": 13}  # the exponents of the best batch sizes stated
FREQUENT, OFTEN, GAINS = 1e-3, 1e-2, tuple(interval for interval in INTERVALS if interval >= 0.1)

Surfaces = Mapping[str, Surface]  # by dag


def judged(mine: Surfaces) -> list[Claim]:
    """Every claim on surfaces, whether they are of one file or of many together."""
    found = [*_frequent(mine), *_often(mine), *_gains(mine), *_best(mine)]
    return [*found, *_strength(mine), *_ends(mine)]


def _off(found: Surface, intervals: Sequence[float], batches: Sequence[float]) -> tuple[float, float, list[str]]:
    """Least and greatest ratio, and the settings whose interval is wholly off 1."""
    settings = [(interval, batch) for interval in intervals for batch in batches]
    ratios = [execution_time(found[setting]) for setting in settings]
    off = [
        f"({interval:g}, 2^{BATCHES.index(batch)}) {ratio:.3f} [{low:.3f}, {high:.3f}]"
        for (interval, batch), (ratio, low, high) in zip(settings, ratios, strict=True)
        if high < 1 - ABOUT or low > 1 + ABOUT
    ]
    return min(ratios)[0], max(ratios)[0], off


def _close(id: str, paper: str, off: tuple[float, float, list[str]], same: bool = True) -> Claim:
    least, most, where = off
    return Claim(id, paper, f"{least:.3f} to {most:.3f}", bool(where) is not same, note=", ".join(where))


def _frequent(mine: Surfaces) -> Iterator[Claim]:
    for name, found in mine.items():
        same = name != "sdss"
        paper = "at 10^-3 " + "not " * (not same) + "about the same"
        yield _close(f"frequent-{name}", paper, _off(found, [FREQUENT], BATCHES), same)


def _often(mine: Surfaces) -> Iterator[Claim]:
    for name, found in mine.items():
        yield _close(f"about-1-at-10^-2-{name}", "ratios close to 1 at 10^-2", _off(found, [OFTEN], BATCHES))


def _gains(mine: Surfaces) -> Iterator[Claim]:
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


def _best(mine: Surfaces) -> Iterator[Claim]:
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


def best_ratio(found: Surface) -> float:
    """The greatest gain where the paper sees gains."""
    return min(execution_time(found[interval, batch])[0] for interval in GAINS for batch in BATCHES)


def _strength(mine: Surfaces) -> Iterator[Claim]:
    if len(mine) < len(BEST):
        return
    best = {name: best_ratio(found) for name, found in mine.items()}
    ranking = sorted(best, key=lambda name: best[name])
    told = ", ".join(f"{name} {best[name]:.3f}" for name in ranking)
    yield Claim("strongest", "gains are strongest for AIRSN", ranking[0], ranking[0] == "airsn", note=told)
    yield Claim("weakest", "and weakest for Montage", ranking[-1], ranking[-1] == "montage", note=told)


def _ends(mine: Surfaces) -> Iterator[Claim]:
    for name, found in mine.items():
        for batch in (BATCHES[0], BATCHES[-1]):
            step = BATCHES.index(batch)
            off = _off(found, INTERVALS, [batch])
            yield _close(f"about-1-at-2^{step}-{name}", f"ratios close to 1 at 2^{step}", off)
