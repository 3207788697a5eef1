"""Every strategy with and without patience, patience from a minute to hours, and how long history counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway.experiments.opportunistic import figures
from headway.experiments.opportunistic.measuring import OPPORTUNISTIC, Group, jobs, run, told
from headway.experiments.opportunistic.osg import PATIENCE, world
from headway.experiments.opportunistic.pipeline import pipeline
from headway.experiments.report import Report
from headway.model.quantities import duration
from headway.policies.where import POLICIES
from headway.sim.kernels.sites import WITHDRAWN
from headway.sim.sites import Strategy

EVERY = tuple(Strategy(name, patience) for name in POLICIES for patience in (0.0, PATIENCE))
PATIENCES = (60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14400.0)
HALF_LIVES = (60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0, 0.0)
WIDTHS = (100, 1000)  # of the pipeline: with more jobs, more is seen


def add_patience(report: Report, group: Group) -> None:
    """All strategies, each with and without patience."""
    report.say(
        "## Every strategy with and without patience",
        "In the paper only Opportunistic withdraws jobs that wait. Here each strategy is measured both ways, with a"
        f" patience of {duration(PATIENCE)}. Seconds; *ratio* is the mean time over that of opportunistic with"
        " patience.",
    )
    rows = []
    for one in EVERY:
        summary = group.summary(one)
        withdrawn = float(group.found[one.name].measures[:, WITHDRAWN].mean())
        rows.append(
            [
                one.policy,
                duration(one.patience) if one.patience else "none",
                *(f"{summary[name]:,.0f}" for name in figures.STATISTICS),
                told(group.speedup(one), 1),
                told(group.over(one, OPPORTUNISTIC)),
                f"{withdrawn:.1f}",
            ]
        )
    report.table(["policy", "patience", *figures.STATISTICS, "speed-up", "ratio", "withdrawn in a run"], rows)
    report.data["every_strategy"] = {
        one.name: {
            **group.summary(one),
            "speedup": list(group.speedup(one)),
            "ratio": list(group.over(one, OPPORTUNISTIC)),
        }
        for one in EVERY
    }
    alone, in_turn, always = Strategy("opportunistic"), Strategy("round-robin", PATIENCE), Strategy("round-robin")
    report.say(
        "**Patience does it, not the choice of the site.** Without patience opportunistic takes"
        f" {told(group.over(alone, always))} of the time of round-robin: jobs of the first level are sent before"
        " anything has ended, and those that meet a full site wait there whatever is learned later. With patience,"
        f" round-robin takes {told(group.over(in_turn, always))} of its own time without. The choice adds to that:"
        f" opportunistic takes {told(group.over(OPPORTUNISTIC, in_turn))} of the time of round-robin where both have"
        " patience.",
        f"Our own rule, prompt, takes {told(group.over(Strategy('prompt', PATIENCE), OPPORTUNISTIC))} of"
        f" opportunistic's time with patience, and {told(group.over(Strategy('prompt'), alone))} of it without.",
    )


def add_sweep(report: Report, sets: int, folder: Path, done: Callable[[float], None]) -> None:
    """Speed-up by patience, for all policies."""
    strategies = [Strategy(name, patience) for name in POLICIES for patience in PATIENCES]
    group = run(pipeline(), world(), strategies, sets, done=done)
    found = {name: [group.speedup(Strategy(name, patience)) for patience in PATIENCES] for name in POLICIES}
    report.say(
        "## How long to be patient",
        "![patience](figure-patience.svg)",
        "Speed-up by patience. The paper does not tell its patience, so its speed-up of 25 cannot be tested without"
        " one.",
    )
    head = ["policy", *(duration(patience) for patience in PATIENCES)]
    report.table(head, [[name, *(told(value, 1) for value in values)] for name, values in found.items()])
    near = [
        patience for patience, (value, _, _) in zip(PATIENCES, found["opportunistic"], strict=True) if 20 <= value <= 30
    ]
    about = ", ".join(map(duration, near)) or "none of these"
    report.say(f"Opportunistic's speed-up is within a fifth of 25 with a patience of: {about}.")
    report.data["patience"] = {
        "seconds": list(PATIENCES),
        **{name: [list(value) for value in found[name]] for name in found},
    }
    figures.draw_sweep(found, PATIENCES, folder / "figure-patience.svg")


def add_history(report: Report, sets: int, done: Callable[[float], None]) -> None:
    """How long what was seen counts, for prompt; the paper leaves the length of history to future work."""
    report.say(
        "## How long history counts",
        "The paper's ratio counts everything since the workflow began, and its authors ask what less history would do."
        " *prompt* lets what it saw count half after a half-life. Mean time over that of opportunistic, both with a"
        f" patience of {duration(PATIENCE)}, on the paper's pipeline and on one ten times as wide.",
    )
    rows, data = [], {}
    groups = {}
    for width in WIDTHS:
        strategies = [OPPORTUNISTIC]
        found = {0: run(pipeline(width), world(), strategies, _few(sets, width), done=done)}
        for at, half_life in enumerate(HALF_LIVES, 1):
            one = Strategy("prompt", PATIENCE, half_life)
            found[at] = run(pipeline(width), world(), [one], _few(sets, width), done=done)
        groups[width] = found
    for at, half_life in enumerate(HALF_LIVES, 1):
        one = Strategy("prompt", PATIENCE, half_life)
        cells = []
        for width in WIDTHS:
            both = Group(1.0, {**groups[width][0].found, **groups[width][at].found})
            ratio = both.over(one, OPPORTUNISTIC)
            cells.append(told(ratio, 3))
            data[f"{half_life:g} s, {width}"] = list(ratio)
        rows.append([duration(half_life) if half_life else "no end", *cells])
    report.table(["half-life", *(f"{3 * width:,} jobs" for width in WIDTHS)], rows)
    report.data["history"] = data


def _few(sets: int, width: int) -> int:
    """Fewer sets of a wide one: it has more jobs, and varies less."""
    return max(1, sets * WIDTHS[0] // width) if width > WIDTHS[0] else sets


def sweep_jobs(sets: int) -> float:
    """How many jobs the sweeps simulate."""
    patience = [Strategy(name, time) for name in POLICIES for time in PATIENCES]
    history = [OPPORTUNISTIC] * (1 + len(HALF_LIVES))
    return jobs(pipeline(), patience, sets) + sum(jobs(pipeline(width), history, _few(sets, width)) for width in WIDTHS)
