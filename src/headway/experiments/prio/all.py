"""The whole evaluation of prio.txt, done again into one report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from headway import __version__
from headway.experiments.prio import claims, figure_4, figures_6_to_9, known_times, overhead, readings, real
from headway.experiments.prio.results import Results
from headway.experiments.prio.settings import BATCHES, FILES, FULL, INTERVALS, PAPER, QUICK, Case
from headway.experiments.report import Report, drawing_board, make
from headway.model.record import record
from headway.sim.comparison import Effort


@record
class Plan:
    """How much to do, and what that is called."""

    name: str
    efforts: Mapping[str, Effort]
    readings: Effort
    known: Effort
    draws: int
    real: Effort
    stated: Effort = PAPER  # for the claims that state an interval


PLANS = {
    "quick": Plan("quick", QUICK, Effort(20, 15), Effort(16, 5), 2, Effort(20, 5)),
    "full": Plan("full", FULL, Effort(100, 100), Effort(40, 25), known_times.DRAWS, Effort(100, 50)),
}


def reproduce(
    plan: Plan, folder: Path, data: Path | None, begin: Callable[[float], None], done: Callable[[float], None]
) -> Report:
    """Measures what is not there yet and writes the report; `begin` and `done` are told of jobs to be simulated."""
    drawing_board()  # says what is missing before hours are spent
    make(folder)
    results = Results(folder / "settings.jsonl")
    cases = [Case(name, file) for name in plan.efforts for file in FILES]
    dags = {case.name: case.dag for case in cases if case.file == FILES[0] and case.name != "sdss"}
    real_dags = real.found_in(data) if data else {}
    subjects = known_times.subjects(dags, plan.draws) + real.subjects(real_dags)
    settings = (
        sum(2 * plan.efforts[case.name].p * plan.efforts[case.name].q * case.dag.job_count for case in cases)
        * len(INTERVALS)
        * len(BATCHES)
    )
    begin(
        settings
        + 2 * 2 * Case("airsn", FILES[0]).dag.job_count * plan.stated.p * plan.stated.q
        + readings.jobs(plan.readings)
        + known_times.jobs(subjects, plan.known)
        + real.jobs({**dags, **real_dags}, plan.real)
    )
    report = Report("PRIO's evaluation, done again", f"headway reproduce prio --{plan.name}")
    report.data |= {"paper": "prio", "how": plan.name, "version": __version__, "seed": 0}
    report.say(
        "The paper: G. Malewicz, I. Foster, A. Rosenberg, M. Wilde, A Tool for Prioritizing DAGMan Jobs and Its"
        " Evaluation, 2006. Its four dags are not public: ours have their stated sizes and features, and are guesses"
        " beyond that. Its figures are known by what its text says of them. Decisions are in docs/differences.md.",
        _efforts(plan),
    )
    surfaces = {
        (case.name, case.file): figures_6_to_9.surface(case, results, plan.efforts[case.name], done) for case in cases
    }
    claims.add(report, surfaces, results, plan.stated, done)
    figure_4.add(report, cases, folder)
    figures_6_to_9.add(report, surfaces, plan.efforts, folder)
    readings.add(report, plan.readings, done)
    overhead.add(report, list(plan.efforts))
    known_times.add(report, subjects, plan.known, done)
    real.add(report, {**dags, **real_dags}, plan.real, done)
    report.write(folder)
    return report


def _efforts(plan: Plan) -> str:
    told = ", ".join(f"{name} p = {effort.p}, q = {effort.q}" for name, effort in plan.efforts.items())
    return f"Samples p and replications q: {told} (the paper: 300 and 300 for all)."
