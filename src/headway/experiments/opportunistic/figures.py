"""Figs 7 to 9 of opportunistic.txt, and a figure of patience."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from headway.experiments.opportunistic.measuring import PAPERS, Group, Interval, arrivals, told
from headway.experiments.report import Report, drawing_board, save
from headway.sim.sites import Strategy

COLOURS = {
    "weighted": "tab:green",
    "round-robin": "tab:orange",
    "last-used": "tab:red",
    "data-present": "tab:purple",
    "opportunistic": "black",
    "prompt": "tab:blue",
    "random": "tab:gray",
}
STATISTICS = ("min", "median", "mean", "max")
STEPS = (1, 50, 100, 150, 200, 250, 275, 290, 300)


def add(report: Report, group: Group, folder: Path) -> None:
    """The three figures, with their numbers as tables."""
    report.say(
        "## Fig. 7: when so many jobs have ended",
        "![Fig. 7](figure-7.svg)",
        "Mean time in seconds at which the n-th job of a run ended.",
    )
    ends = {one: arrivals(group.found[one.name]).mean(axis=0) for one in PAPERS}
    steps = [step for step in STEPS if step <= len(next(iter(ends.values())))]
    rows = [[one.policy, *(f"{ends[one][step - 1]:,.0f}" for step in steps)] for one in PAPERS]
    report.table(["strategy", *map(str, steps)], rows)
    report.say(
        "## Fig. 8: the execution times of twenty runs",
        "![Fig. 8](figure-8.svg)",
        "Seconds; the statistic of twenty runs, on average over all sets of twenty.",
    )
    summaries = {one: group.summary(one) for one in PAPERS}
    report.table(
        ["strategy", *STATISTICS],
        [[one.policy, *(f"{summaries[one][name]:,.0f}" for name in STATISTICS)] for one in PAPERS],
    )
    report.say("## Fig. 9: speed-up", "![Fig. 9](figure-9.svg)", "Sequential time, 48,000 s, over the mean time.")
    speedups = {one: group.speedup(one) for one in PAPERS}
    report.table(["strategy", "speed-up"], [[one.policy, told(speedups[one], 1)] for one in PAPERS])
    report.data["figure_7"] = {one.policy: [round(float(value), 1) for value in ends[one]] for one in PAPERS}
    report.data["figure_8"] = {one.policy: summaries[one] for one in PAPERS}
    report.data["figure_9"] = {one.policy: list(speedups[one]) for one in PAPERS}
    _draw_7({one.policy: ends[one] for one in PAPERS}, folder / "figure-7.svg")
    _draw_8(summaries, folder / "figure-8.svg")
    _draw_9(speedups, folder / "figure-9.svg")


def _draw_7(ends: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]], path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for name, times in ends.items():
        axes.plot(range(1, len(times) + 1), times, lw=1, color=COLOURS[name], label=name)
    axes.set_xlabel("jobs ended")
    axes.set_ylabel("seconds")
    axes.set_yscale("log")
    axes.axvline(100, color="grey", lw=0.5)
    axes.legend(frameon=False)
    save(figure, path)
    pyplot.close(figure)


def _draw_8(summaries: Mapping[Strategy, Mapping[str, float]], path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    width = 0.8 / len(summaries)
    for at, (one, values) in enumerate(summaries.items()):
        places = [place + (at - 2) * width for place in range(len(STATISTICS))]
        axes.bar(places, [values[name] for name in STATISTICS], width, color=COLOURS[one.policy], label=one.policy)
    axes.set_xticks(range(len(STATISTICS)), ["minimum", "median", "mean", "maximum"])
    axes.set_ylabel("seconds")
    axes.set_yscale("log")
    axes.legend(frameon=False)
    save(figure, path)
    pyplot.close(figure)


def _draw_9(speedups: Mapping[Strategy, Interval], path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(5, 2.6), layout="constrained")
    for at, (one, (value, low, high)) in enumerate(speedups.items()):
        axes.bar(at, value, 0.6, yerr=[[value - low], [high - value]], color=COLOURS[one.policy], ecolor="tab:cyan")
    axes.axhline(25, color="grey", lw=0.5)
    axes.set_xticks(range(len(speedups)), [one.policy for one in speedups])
    axes.set_ylabel("speed-up (the line: 25)")
    save(figure, path)
    pyplot.close(figure)


def draw_sweep(found: Mapping[str, Sequence[Interval]], across: Sequence[float], path: Path) -> None:
    """Speed-up by patience."""
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for name, values in found.items():
        axes.plot(
            [time / 60 for time in across], [value for value, _, _ in values], color=COLOURS[name], lw=1, label=name
        )
    axes.axhline(25, color="grey", lw=0.5)
    axes.set_xscale("log")
    axes.set_xlabel("patience, minutes")
    axes.set_ylabel("speed-up (the line: 25)")
    axes.legend(frameon=False)
    save(figure, path)
    pyplot.close(figure)
