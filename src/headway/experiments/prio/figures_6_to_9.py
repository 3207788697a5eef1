"""Figs 6 to 9: PRIO over FIFO on the four dags, 7 mean intervals by 17 mean batch sizes, three metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from headway.experiments.prio.results import Result, Results
from headway.experiments.prio.settings import BATCHES, INTERVALS, Case
from headway.experiments.report import Report, drawing_board, save
from headway.sim.comparison import Effort
from headway.sim.grid import METRICS, Workers

Surface = dict[tuple[float, float], Result]  # by interval and batch
NUMBERS = {"airsn": 6, "inspiral": 7, "sdss": 8, "montage": 9}
_KEYS = ("median", "low", "high")
_COLOURS = {"shuffled": "black", "as generated": "tab:blue"}


def surface(case: Case, results: Results, effort: Effort, done: Callable[[float], None]) -> Surface:
    """All settings of one dag."""
    return {
        (interval, batch): results.comparison(case, Workers(interval, batch), effort, done)
        for interval in INTERVALS
        for batch in BATCHES
    }


def add(
    report: Report, surfaces: Mapping[tuple[str, str], Surface], efforts: Mapping[str, Effort], folder: Path
) -> None:
    """A figure and a short table for each dag."""
    report.say(
        "## Figs 6 to 9: PRIO over FIFO",
        "Dots are medians and segments 95% intervals of all p² ratios of two samples, as in the paper: missing where"
        " a probability was zero. Black: jobs in the file shuffled; blue: in the order of the generator. In the tables"
        " the ratio of the mean execution times, with the narrower 95% interval that pairs of samples give (both"
        " orders met the same workers), at the batch size where it is least.",
    )
    for name in dict.fromkeys(name for name, _ in surfaces):
        effort = efforts[name]
        figure = f"figure-{NUMBERS[name]}.svg"
        report.say(f"### Fig. {NUMBERS[name]}: {name}, p = {effort.p}, q = {effort.q}", f"![{name}]({figure})")
        mine = {file: surfaces[name, file] for other, file in surfaces if other == name}
        report.table(
            ["μ_BIT", *(f"least, {file}" for file in mine), *(f"most, {file}" for file in mine)],
            [
                [f"{interval:g}", *(_extreme(found, interval, min) for found in mine.values())]
                + [_extreme(found, interval, max) for found in mine.values()]
                for interval in INTERVALS
            ],
        )
        _draw(mine, folder / figure)
    report.data["efforts"] = {name: {"p": effort.p, "q": effort.q} for name, effort in efforts.items()}
    report.data["figures_6_to_9"] = {
        "columns": ["bit", "bs", *(f"{metric} {key}" for metric in METRICS for key in _KEYS)],
        **{
            f"{name}, {file}": [_numbers(*setting, result) for setting, result in found.items()]
            for (name, file), found in surfaces.items()
        },
    }


def execution_time(result: Result) -> tuple[float, float, float]:
    """The ratio of mean execution times, and its interval."""
    found: tuple[float, float, float] = result["ratios"]["execution_time"]["paired"]
    return found


def _extreme(found: Surface, interval: float, which: Callable[..., float]) -> str:
    batch = which(BATCHES, key=lambda batch: execution_time(found[interval, batch])[0])
    ratio, low, high = execution_time(found[interval, batch])
    return f"{ratio:.3f} [{low:.3f}, {high:.3f}] at 2^{BATCHES.index(batch)}"


def _numbers(interval: float, batch: float, result: Result) -> list[float | None]:
    """A row of report.json; four digits are plenty, and keep the file small."""
    found = [result["ratios"][metric][key] for metric in METRICS for key in _KEYS]
    return [interval, batch, *(value if value is None else round(value, 4) for value in found)]


def _draw(mine: Mapping[str, Surface], path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(len(METRICS), 1, figsize=(9, 7), sharex=True, layout="constrained")
    section = len(BATCHES) + 2
    for axis, metric in zip(axes, METRICS, strict=True):
        for shift, (file, found) in enumerate(mine.items()):
            points = [
                (section * at + step + 0.35 * shift, found[interval, batch]["ratios"][metric])
                for at, interval in enumerate(INTERVALS)
                for step, batch in enumerate(BATCHES)
            ]
            shown = [(x, row) for x, row in points if row["median"] is not None]
            places, rows = [x for x, _ in shown], [row for _, row in shown]
            colour = _COLOURS[file]
            ends = [value for row in rows for value in (row["low"], row["high"], math.nan)]  # one line with gaps
            axis.plot([x for x in places for _ in range(3)], ends, color=colour, lw=0.5, alpha=0.6)
            axis.plot(places, [r["median"] for r in rows], ".", color=colour, ms=2.5, label=f"file {file}")
        axis.axhline(1, color="grey", lw=0.5)
        for at in range(1, len(INTERVALS)):
            axis.axvline(section * at - 1.5, color="grey", lw=0.5)
        axis.set_ylabel(f"ratio of {metric.replace('_', ' ')}")
    axes[0].legend(frameon=False, ncols=2)
    axes[-1].set_xticks(
        [section * at + 8 for at in range(len(INTERVALS))], [f"μ_BIT = {interval:g}" for interval in INTERVALS]
    )
    axes[-1].set_xlabel("in each section μ_BS from 2^0 to 2^16")
    save(figure, path)
    pyplot.close(figure)
