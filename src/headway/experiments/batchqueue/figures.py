"""The paper's figures 10 to 15, for our logs: a table and bars each, the paper's own beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from headway.experiments.batchqueue.dags import FAMILIES
from headway.experiments.batchqueue.measuring import Cell
from headway.experiments.batchqueue.numbers import Cells, Choice, Value, average, family, large, of_paper
from headway.experiments.batchqueue.plans import METHODS, POLICIES
from headway.experiments.batchqueue.standins import CLUSTERS
from headway.experiments.report import Report, drawing_board, save

# Read from the printed figures: individual, giant, hybrid.
FIGURE_10 = {
    "FCFS": (
        (7070, 8936, 4927), (72559, 28122, 25924), (84861, 62851, 33987), (23122, 90681, 15960), (36099, 81992, 33861),
    ),
    "FL": (
        (7570, 9929, 5693), (78873, 22472, 23291), (79850, 55996, 31999), (23573, 92239, 16583), (34416, 77351, 30259),
    ),
    "FS": (
        (4819, 7053, 3663), (52871, 26111, 21568), (63939, 59438, 29891), (18380, 90130, 14798), (25444, 59490, 22125),
    ),
}  # fmt: skip
FIGURE_12 = {"FCFS": (2.27, 2.16, 1.57), "FL": (2.36, 1.69, 1.51), "FS": (1.64, 2.02, 1.19)}
FIGURE_13 = ((202, 591, 548), (288, 843, 775), (390, 1136, 1019), (401, 1181, 966), (202, 588, 440))
FIGURE_14 = {"small": (17682, 11867, 9120), "large": (30740, 269611, 30808)}
FIGURE_15 = {
    "EMAN": (31497, 67221, 22371),
    "BLAST": (48046, 63422, 20665),
    "Montage": (31908, 32349, 16266),
    "Gauss": (68740, 23635, 17919),
    "FFT": (47560, 64867, 29023),
}
Group = tuple[str, Sequence[Cell], Choice, Sequence[float]]  # a group of bars: its name, what it is of, the paper's


def add(report: Report, cells: Cells, methods: Sequence[str], folder: Path) -> None:
    """All of them."""
    for rules, theirs in FIGURE_10.items():
        groups: list[Group] = [
            (cluster, of_paper(cells, cluster, [rules]), None, bars)
            for cluster, bars in zip(CLUSTERS, theirs, strict=True)
        ]
        _figure(report, f"Fig. 10, {rules}: mean wait", f"figure-10-{rules}", groups, methods, "wait", folder)
    groups = [(rules, of_paper(cells, "Ada", [rules]), None, bars) for rules, bars in FIGURE_12.items()]
    _figure(report, "Fig. 12: relative wait on Ada", "figure-12", groups, methods, "relative_wait", folder)
    groups = [(one, of_paper(cells, one, ["FS"]), None, bars) for one, bars in zip(CLUSTERS, FIGURE_13, strict=True)]
    _figure(report, "Fig. 13: CPU hours under FS", "figure-13", groups, methods, "core_hours", folder)
    rtc = of_paper(cells, "RTC", POLICIES)
    if rtc:
        wide = large(rtc[0])
        halves = {"small": ~wide, "large": wide}
        groups = [(name, rtc, halves[name], bars) for name, bars in FIGURE_14.items() if halves[name].any()]
        _figure(report, "Fig. 14: wait on RTC, by width", "figure-14", groups, methods, "wait", folder)
    there = [cell for cluster in CLUSTERS for cell in of_paper(cells, cluster, ["FL"])]
    if there:
        groups = [(name, there, family(there[0], name), FIGURE_15[name]) for name in FAMILIES]
        _figure(report, "Fig. 15: wait by family under FL", "figure-15", groups, methods, "wait", folder)


def _figure(
    report: Report, title: str, name: str, groups: Sequence[Group], methods: Sequence[str], metric: str, folder: Path
) -> None:
    told: Callable[[float], str] = (
        (lambda value: f"{value:.2f}") if metric == "relative_wait" else (lambda value: f"{value:,.0f}")
    )
    found = {
        group: {how: average(of, how, metric, some) for how in methods}
        for group, of, some, _ in groups
        if of and (some is None or some.any())
    }
    report.say(f"## {title}")
    if not found:
        report.say("No log of these is there.")
        return
    report.say(f"![{title}]({name}.svg)")
    report.table(
        ["", *methods, "paper: " + " / ".join(METHODS)],
        [
            [group, *(_told(value, told) for value in found[group].values()), " / ".join(map(told, theirs))]
            for group, _, _, theirs in groups
            if group in found
        ],
    )
    report.data[name.replace("-", "_")] = {
        group: {how: [value.value, value.low, value.high] for how, value in rows.items()}
        for group, rows in found.items()
    }
    _draw(title, found, methods, folder / f"{name}.svg")


def _told(value: Value, told: Callable[[float], str]) -> str:
    return f"{told(value.value)} [{told(value.low)}, {told(value.high)}]"


def _draw(title: str, found: dict[str, dict[str, Value]], methods: Sequence[str], path: Path) -> None:
    pyplot = drawing_board()
    figure, axis = pyplot.subplots(figsize=(6, 2.6), layout="constrained")
    breadth = 0.8 / len(methods)
    for at, how in enumerate(methods):
        places = [group + breadth * (at - (len(methods) - 1) / 2) for group in range(len(found))]
        values = [rows[how] for rows in found.values()]
        reach = [[max(0.0, one.value - one.low) for one in values], [max(0.0, one.high - one.value) for one in values]]
        axis.bar(places, [one.value for one in values], breadth, yerr=reach, label=how, error_kw={"lw": 0.6})
    axis.set_xticks(range(len(found)), list(found))
    axis.set_ylim(bottom=0)
    axis.set_title(title)
    axis.legend(frameon=False, ncols=len(methods))
    save(figure, path)
    pyplot.close(figure)
