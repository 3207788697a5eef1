"""Fig. 4: how many more jobs are eligible under PRIO than under FIFO, after every step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from headway.experiments.prio.measuring import Files
from headway.experiments.prio.settings import SHUFFLES, TIDY, Case
from headway.experiments.prio.verdicts import STEPS, eligible, share
from headway.experiments.report import Claim, Report, drawing_board, save
from headway.model.record import replace
from headway.policies.what_next import order


def add(report: Report, mine: Mapping[str, Files], folder: Path) -> None:
    """The figure, and whether PRIO is behind FIFO anywhere."""
    report.say("## Fig. 4: eligible jobs, PRIO less FIFO", "![Fig. 4](figure-4.svg)")
    report.say("Black: the mean of ten shuffled files, grey from the least to the greatest; blue: as generated.")
    claims = [eligible(name, files) for name, files in mine.items()]
    report.claim_table(claims)
    report.say("File as generated:")
    report.claim_table([_tidy(claim, mine[claim.id.removeprefix("eligible-")]) for claim in claims])
    if "airsn" in mine:
        _bottleneck(report)
    report.data["figure_4"] = {
        f"{name}, {'as generated' if shuffle == TIDY else f'shuffle {shuffle}'}": {
            "least": int(file.more.min()),
            "most": int(file.more.max()),
            "mean": float(file.more.mean()),
            "share": share(file),
        }
        for name, files in mine.items()
        for shuffle, file in files.items()
    }
    _draw(mine, folder / "figure-4.svg")


def _tidy(claim: Claim, files: Files) -> Claim:
    rows = files[TIDY].more
    here = share(files[TIDY])
    note = f"share of steps; from {rows.min():+,} to {rows.max():+,} jobs, {rows.mean():+,.1f} on average"
    return Claim(f"{claim.id}-as-generated", claim.paper, here, here >= STEPS, note=note, variant_of=claim.id)


def _bottleneck(report: Report) -> None:
    """Fig. 5: the priority of AIRSN's bottleneck, the first of the jobs with most children."""
    found = []
    for shuffle in SHUFFLES:
        airsn = Case("airsn", shuffle).dag
        most = max(len(airsn.children_of(node)) for node in airsn.order)
        neck = next(node for node in airsn.order if len(airsn.children_of(node)) == most)
        found.append(airsn.job_count - order("prio")(airsn)[neck])
    report.say("## Fig. 5: AIRSN's bottleneck")
    here = ", ".join(map(str, sorted(set(found))))
    claim = Claim("bottleneck", "the bottleneck has priority 753", here, set(found) == {753})
    report.claim_table([replace(claim, held=found.count(753), files=len(found))])


def _draw(mine: Mapping[str, Files], path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(len(mine), 2, figsize=(7.5, 1.7 * len(mine)), layout="constrained", squeeze=False)
    for (left, right), (name, files) in zip(axes, mine.items(), strict=True):
        size = len(files[TIDY].more) - 1
        some = np.unique(np.linspace(0, size, 400).astype(int))
        rows = np.array([file.more[some] for shuffle, file in files.items() if shuffle != TIDY])
        for side, scale in ((left, max(size, 1)), (right, 1)):
            across = some / scale
            side.fill_between(across, rows.min(axis=0) / scale, rows.max(axis=0) / scale, color="0.8", lw=0)
            side.plot(across, rows.mean(axis=0) / scale, lw=0.8, color="black", label="ten files, shuffled")
            side.plot(across, files[TIDY].more[some] / scale, lw=0.8, color="tab:blue", label="file as generated")
            side.axhline(0, color="grey", lw=0.5)
        left.set_ylabel(name)
    axes[0][0].set_title("by the number of jobs")
    axes[0][1].set_title("absolute")
    axes[0][1].legend(frameon=False)
    axes[-1][0].set_xlabel("share of jobs executed")
    axes[-1][1].set_xlabel("jobs executed")
    save(figure, path)
    pyplot.close(figure)
