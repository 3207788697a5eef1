"""Fig. 4: how many more jobs are eligible under PRIO than under FIFO, after every step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headway.experiments.prio.settings import Case
from headway.experiments.report import Claim, Report, drawing_board, save
from headway.model.dag import Dag
from headway.policies.what_next import order
from headway.policies.what_next.eligible import eligible, schedule

ENOUGH = 0.95  # "typically, at every step": the share of steps


def difference(dag: Dag) -> NDArray[np.int64]:
    """E(t) of PRIO less that of FIFO, for t from 0 to the number of jobs."""
    prio, fifo = (eligible(dag, schedule(dag, order(name)(dag))) for name in ("prio", "fifo"))
    return np.subtract(prio, fifo, dtype=np.int64)


def add(report: Report, cases: Sequence[Case], folder: Path) -> None:
    """The figure, and whether PRIO is behind FIFO anywhere."""
    found = {(case.name, case.file): difference(case.dag) for case in cases}
    report.say("## Fig. 4: eligible jobs, PRIO less FIFO", "![Fig. 4](figure-4.svg)")
    report.claim_table(
        [
            Claim(
                f"eligible-{name}" + "-as-generated" * (file != "shuffled"),
                "typically, at every step, E of PRIO is at least that of FIFO",
                f"at {share:.1%} of steps",
                share >= ENOUGH,
                variant_of=f"eligible-{name}" * (file != "shuffled"),
                note=f"from {rows.min():+,} to {rows.max():+,} jobs, {rows.mean():+,.1f} on average; file {file}",
            )
            for (name, file), rows in found.items()
            for share in [float((rows >= 0).mean())]
        ]
    )
    _bottleneck(report, cases)
    report.data["figure_4"] = {
        f"{name}, {file}": {"least": int(rows.min()), "most": int(rows.max()), "mean": float(rows.mean())}
        for (name, file), rows in found.items()
    }
    _draw(found, folder / "figure-4.svg")


def _bottleneck(report: Report, cases: Sequence[Case]) -> None:
    """Fig. 5: the priority of AIRSN's bottleneck, the first of the jobs with most children."""
    airsn = next((case.dag for case in cases if case.name == "airsn"), None)
    if airsn is None:
        return
    most = max(len(airsn.children_of(node)) for node in airsn.order)
    neck = next(node for node in airsn.order if len(airsn.children_of(node)) == most)
    here = airsn.job_count - order("prio")(airsn)[neck]
    report.say("## Fig. 5: AIRSN's bottleneck")
    report.claim_table([Claim("bottleneck", "the bottleneck has priority 753", str(here), here == 753)])


def _draw(found: dict[tuple[str, str], NDArray[np.int64]], path: Path) -> None:
    pyplot = drawing_board()
    names = list(dict.fromkeys(name for name, _ in found))
    figure, axes = pyplot.subplots(len(names), 2, figsize=(7.5, 1.7 * len(names)), layout="constrained", squeeze=False)
    for (left, right), name in zip(axes, names, strict=True):
        for (other, file), rows in found.items():
            if other == name:
                size = len(rows) - 1
                some = np.unique(np.linspace(0, size, 400).astype(int))
                style = {"label": f"file {file}", "lw": 0.8, "color": "black" if file == "shuffled" else "tab:blue"}
                left.plot(some / max(size, 1), rows[some] / max(size, 1), **style)
                right.plot(some, rows[some], **style)
        left.set_ylabel(name)
        for side in (left, right):
            side.axhline(0, color="grey", lw=0.5)
    axes[0][0].set_title("by the number of jobs")
    axes[0][1].set_title("absolute")
    axes[0][1].legend(frameon=False)
    axes[-1][0].set_xlabel("share of jobs executed")
    axes[-1][1].set_xlabel("jobs executed")
    save(figure, path)
    pyplot.close(figure)
