"""The whole evaluation of batchqueue.txt, done again into one report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway import __version__
from headway.experiments.batchqueue import beyond, claims, figures
from headway.experiments.batchqueue.keeping import alone
from headway.experiments.batchqueue.measuring import measured, total
from headway.experiments.batchqueue.numbers import Cells
from headway.experiments.batchqueue.plans import PAPER, Plan
from headway.experiments.batchqueue.standins import STAND_INS
from headway.experiments.report import Report, drawing_board, make
from headway.model.errors import UsageError
from headway.sim.ratios import student
from headway.sim.replay import prepare


def reproduce(
    plan: Plan, folder: Path, data: Path | None, begin: Callable[[float], None], done: Callable[[float], None]
) -> Report:
    """Simulates what is not there yet and writes the report; `begin` and `done` are told of trials."""
    drawing_board()  # says what is missing before hours are spent
    if data is None or not any((data / f"{one.log}.swf.xz").is_file() for one in STAND_INS):
        raise UsageError(
            "none of the logs is there that stand for those of the paper.",
            f"Give the folder that has them with --data: {', '.join(f'{one.log}.swf.xz' for one in STAND_INS)}.",
        )
    make(folder / "trials")
    prepare()
    begin(total(plan, data))
    with alone(folder / "trials"):
        cells: Cells = {
            (cell.cluster, cell.policy, cell.variant): cell for cell in measured(plan, data, folder / "trials", done)
        }
    report = Report(
        "Hybrid batch-queue submission, done again",
        f"headway reproduce batchqueue --{plan.name} --starts {plan.starts}",
        notes=True,
    )
    trials = sum(
        rows.shape[0] * rows.shape[1]
        for cell in cells.values()
        if cell.variant == "paper"
        for rows in cell.found.values()
    )
    report.data |= {
        "paper": "batchqueue", "how": plan.name, "version": __version__, "seed": plan.seed, "starts": plan.starts,
        "trials": trials,
    }  # fmt: skip
    dags = len(plan.families) * len(plan.configurations)
    report.say(
        "The paper: Y. Zhang, C. Koelbel, K. Cooper, Batch Queue Resource Scheduling for Workflow Applications, 2009."
        " Its logs are not public; others stand for them. Its dags are known by their shapes and ranges. Decisions are"
        " in docs/differences.md.",
        f"{trials:,} trials: {dags} dags, each submitted at {plan.starts} moments of every log under every policy by"
        f" {len(PAPER.methods)} methods. Intervals are 95% over starts, of the mean over dags at each: all dags meet"
        f" the same starts. {_narrower(plan.starts)}",
    )
    if plan.name != "beyond":  # whose dags are a fifth of the paper's
        _add_claims(report, cells, data, folder)
    beyond.add_loose(report, cells)
    beyond.add_estimates(report, cells, plan)
    beyond.add_variants(report, cells, plan)
    beyond.add_others(report, cells, plan)
    report.write(folder)
    return report


def _add_claims(report: Report, cells: Cells, data: Path, folder: Path) -> None:
    """The paper's claims and figures, and what is ours beside them."""
    report.claim_table(claims.judged(cells))
    made = [claim.id for claim in report.claims if claim.holds and claim.note.endswith(claims.MADE)]
    if made:
        report.say(f"Of those that hold, {' and '.join(made)} could not fail: dags and run times were chosen for it.")
    beyond.add_logs(report, data)
    figures.add(report, cells, PAPER.methods, folder)
    beyond.add_ours(report, cells)


def _narrower(starts: int) -> str:
    if starts >= 100:
        return "The paper has 100 starts as well."
    if starts < 2:
        return "The paper has 100 starts."
    wide = (starts / 100) ** 0.5 * student(99) / student(starts - 1)
    return f"The paper has 100 starts: intervals would be about {wide:.2f} times as wide as these."
