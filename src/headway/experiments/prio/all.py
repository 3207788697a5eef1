"""The whole evaluation of prio.txt, done again into one report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway import __version__
from headway.experiments.prio import figure_4, figures_6_to_9, handles, known_times, overhead, real, reasons, verdicts
from headway.experiments.prio.efforts import WIDTHS
from headway.experiments.prio.measuring import Size, all_jobs, measured, pilot_jobs, planned, told
from headway.experiments.prio.results import Results
from headway.experiments.prio.settings import SHUFFLES, Case
from headway.experiments.report import Report, drawing_board, make
from headway.model.record import record
from headway.sim.comparison import Effort


@record
class Plan:
    """How much to do, and what that is called."""

    name: str
    size: Size
    handles: Effort
    known: Effort
    draws: int
    real: Effort


PLANS = {
    "quick": Plan("quick", Size(WIDTHS), Effort(20, 15), Effort(16, 5), 2, Effort(20, 5)),
    "full": Plan(
        "full", Size(WIDTHS, readings=True), Effort(40, 40), Effort(16, 10), known_times.DRAWS, Effort(40, 10)
    ),
}


def reproduce(
    plan: Plan, folder: Path, data: Path | None, begin: Callable[[float], None], done: Callable[[float], None]
) -> Report:
    """Measures what is not there yet and writes the report; `begin` and `done` are told of jobs to be simulated."""
    drawing_board()  # says what is missing before hours are spent
    make(folder)
    results = Results(folder / "settings.jsonl")
    dags = {name: Case(name, SHUFFLES[0]).dag for name in plan.size.widths if name != "sdss"}
    real_dags = real.found_in(data) if data else {}
    subjects = known_times.subjects(dags, plan.draws) + real.subjects(real_dags)
    others = (
        pilot_jobs(plan.size)
        + handles.jobs(plan.handles)
        + known_times.jobs(subjects, plan.known)
        + real.jobs({**dags, **real_dags}, plan.real)
    )
    begin(others)
    plans = planned(plan.size, results, done)
    begin(others + all_jobs(plan.size, plans))
    report = Report("PRIO's evaluation, done again", f"headway reproduce prio --{plan.name}")
    report.data |= {"paper": "prio", "how": plan.name, "version": __version__, "seed": 0, "efforts": told(plans)}
    report.say(
        "The paper: G. Malewicz, I. Foster, A. Rosenberg, M. Wilde, A Tool for Prioritizing DAGMan Jobs and Its"
        " Evaluation, 2006. Its four dags are not public: ours have their stated sizes and features, and are guesses"
        " beyond that. The inside of AIRSN's handle was chosen to fit the ratio stated at (1, 2^4), so that this claim"
        " and the best batch size of AIRSN are no independent test. The paper's figures are known by what its text says"
        " of them. Decisions are in docs/differences.md.",
    )
    found = dict(measured(plan.size, plans, results, done))
    mine = {name: files for (name, reading), files in found.items() if not reading}
    surfaces = verdicts.add(report, found)
    figure_4.add(report, mine, folder)
    figures_6_to_9.add(report, surfaces, folder)
    drawn = verdicts.add_readings(report, found)
    figures_6_to_9.add_numbers(report, drawn)
    for name, several in drawn.items():
        figures_6_to_9.draw(several, folder / f"figure-readings-{name}.svg", ["execution_time"])
    handles.add(report, plan.handles, results, done)
    overhead.add(report, list(plan.size.widths))
    known_times.add(report, subjects, plan.known, results, done)
    real.add(report, {**dags, **real_dags}, plan.real, results, done)
    report.claims = reasons.given(report.claims, found)
    report.write(folder)
    return report
