"""Figs 6 to 9: PRIO over FIFO on the four dags, 7 mean intervals by 17 mean batch sizes, three metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headway.experiments.prio.measuring import Surface, execution_time
from headway.experiments.prio.results import Result
from headway.experiments.prio.settings import BATCHES, INTERVALS
from headway.experiments.report import Report, drawing_board, save
from headway.sim.grid import METRICS

NUMBERS = {"airsn": 6, "inspiral": 7, "sdss": 8, "montage": 9}
_KEYS = ("ratio", "low", "high")
_COLOURS = ("black", "tab:blue", "tab:orange")
Several = Mapping[str, Mapping[str, Surface]]  # by dag, and by file or reading


def add(report: Report, surfaces: Several, folder: Path) -> None:
    """A figure and a short table for each dag."""
    report.say(
        "## Figs 6 to 9: PRIO over FIFO",
        "Dots are ratios of means, segments 95% intervals (the paper has medians and intervals of single samples):"
        " missing where a probability was zero. Black: the mean of ten shuffled files; blue: the generator's order."
        " In the tables the execution time, at the batch size where its ratio is least, and greatest.",
    )
    for name, mine in surfaces.items():
        figure = f"figure-{NUMBERS[name]}.svg"
        report.say(f"### Fig. {NUMBERS[name]}: {name}", f"![{name}]({figure})")
        report.table(
            ["μ_BIT", *(f"least, {file}" for file in mine), *(f"most, {file}" for file in mine)],
            [
                [f"{interval:g}", *(_extreme(found, interval, min) for found in mine.values())]
                + [_extreme(found, interval, max) for found in mine.values()]
                for interval in INTERVALS
            ],
        )
        draw(mine, folder / figure)
    report.data["figures_6_to_9"] = {
        "columns": ["bit", "bs", *(f"{metric} {key}" for metric in METRICS for key in _KEYS)]
    }
    add_numbers(report, surfaces)


def add_numbers(report: Report, surfaces: Several) -> None:
    """Every setting, in report.json."""
    report.data["figures_6_to_9"] |= {
        f"{name}, {file}": [_numbers(*setting, result) for setting, result in found.items()]
        for name, mine in surfaces.items()
        for file, found in mine.items()
    }


def _extreme(found: Surface, interval: float, which: Callable[..., float]) -> str:
    batch = which(BATCHES, key=lambda batch: execution_time(found[interval, batch])[0])
    ratio, low, high = execution_time(found[interval, batch])
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}] at 2^{BATCHES.index(batch)}"


def _numbers(interval: float, batch: float, result: Result) -> list[float | None]:
    """A row of report.json; four digits are plenty, and keep the file small."""
    found = [value for metric in METRICS for value in result["ratios"][metric]["paired"] or (None, None, None)]
    return [interval, batch, *(value if value is None else round(value, 4) for value in found)]


def draw(mine: Mapping[str, Surface], path: Path, metrics: Sequence[str] = METRICS) -> None:
    """All settings of one dag, in several files or readings."""
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(
        len(metrics), 1, figsize=(9, 7 / 3 * max(len(metrics), 1.3)), sharex=True, layout="constrained", squeeze=False
    )
    section = len(BATCHES) + 2
    for axis, metric in zip(axes[:, 0], metrics, strict=True):
        for shift, (file, found) in enumerate(mine.items()):
            points = [
                (section * at + step + 0.35 * shift, found[interval, batch]["ratios"][metric]["paired"])
                for at, interval in enumerate(INTERVALS)
                for step, batch in enumerate(BATCHES)
            ]
            shown = [(x, row) for x, row in points if row is not None]
            places, rows = [x for x, _ in shown], [row for _, row in shown]
            colour = _COLOURS[shift]
            ends = [value for _, low, high in rows for value in (low, high, math.nan)]  # one line with gaps
            axis.plot([x for x in places for _ in range(3)], ends, color=colour, lw=0.5, alpha=0.6)
            axis.plot(places, [row[0] for row in rows], ".", color=colour, ms=2.5, label=file)
        axis.axhline(1, color="grey", lw=0.5)
        for at in range(1, len(INTERVALS)):
            axis.axvline(section * at - 1.5, color="grey", lw=0.5)
        axis.set_ylabel(f"ratio of {metric.replace('_', ' ')}")
    axes[0, 0].legend(frameon=False, ncols=len(mine))
    last = axes[-1, 0]
    last.set_xticks([section * at + 8 for at in range(len(INTERVALS))], [f"μ_BIT = {at:g}" for at in INTERVALS])
    last.set_xlabel("in each section μ_BS from 2^0 to 2^16")
    save(figure, path)
    pyplot.close(figure)
