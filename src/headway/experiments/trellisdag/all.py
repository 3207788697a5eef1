"""`headway reproduce trellisdag`: the workflow of section 4.3 on real placeholders, beside its minimal schedule."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

from headway import __version__
from headway.experiments.report import Report, drawing_board, make, save
from headway.experiments.trellisdag import checkers
from headway.experiments.trellisdag.claims import Found, checkers_claims, claims, model_claims, place_claims
from headway.experiments.trellisdag.crews import place
from headway.experiments.trellisdag.kept import Kept
from headway.experiments.trellisdag.ranks import PAPER
from headway.experiments.trellisdag.replay import SCRIPT, Times, run
from headway.live.reading.read import read
from headway.model.dag import Dag
from headway.model.flatten import flatten
from headway.model.record import record
from headway.model.timeline import Curve, concurrency, peak

FEW = 12  # jobs at once: the paper says that there are rarely more
VERIFY = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # how long verifying may take of what computing takes: not known


@record
class Plan:
    """How long a run is to take, and how often it is done."""

    seconds: float  # of the minimal schedule as modelled: the paper's hours, at a scale
    runs: int = 3
    placeholders: int = 20
    on: tuple[str, ...] = ("local",)  # where they are (crews.place); claims are judged by the first
    server: str | None = None  # the store, if it is not a file
    checkers: Path | None = None  # the real program, where there is one


PLANS = {"quick": Plan(20.0), "full": Plan(120.0)}


def reproduce(plan: Plan, folder: Path, begin: Callable[[float], None], done: Callable[[float], None]) -> Report:
    """The sequential run, then the others, and report.md, report.json and the charts; `done` is called for each job.

    Runs that were done before an interruption are in runs.jsonl and not done again; it goes when the report is there.
    """
    make(folder)
    scale = plan.seconds / PAPER
    dag = workflow(str(scale))
    begin(dag.job_count * (1.0 + plan.runs * len(plan.on)))
    kept = Kept(folder / "runs.jsonl", f"{scale} {plan.placeholders} {plan.server is not None}")
    with tempfile.TemporaryDirectory(prefix="headway-trellisdag-") as scratch:

        def once(name: str, count: int, on: str) -> Times:
            where = Path(scratch, name)
            return kept.once(
                name,
                lambda: run(where, [str(scale)], count, done, place(on).crew, plan.server),
                lambda: done(dag.job_count),
            )

        begun = time.monotonic()
        alone = once("sequential", 1, "local")
        by_place = {
            on: found(dag, alone, [once(f"{on}-{number}", plan.placeholders, on) for number in range(plan.runs)])
            for on in plan.on
        }
        seconds = time.monotonic() - begun
        real = [] if plan.checkers is None else checkers.measured(plan.checkers, Path(scratch, "checkers"))
    report = _report(plan, folder, by_place, real, seconds)
    report.write(folder)
    kept.remove()
    return report


def workflow(*arguments: str) -> Dag:
    """The graph of the description script."""
    return flatten(read(str(SCRIPT), *arguments)).dag


def found(dag: Dag, alone: Times, runs: Sequence[Times]) -> Found:
    """What was measured, beside the minimal schedule of the times that the sequential run took."""
    took = alone.seconds()
    dag = dag.with_seconds([took.get(name) for name in dag.names])
    minimal = dag.minimal_schedule
    return Found(
        minimal=minimal.makespan,
        work=sum(took.values()),
        curve=minimal.concurrency,
        makespans=[one.makespan for one in runs],
        curves=[concurrency(one.spans.values()) for one in runs],
        overheads=[_overhead(dag, one) for one in runs],
        path=len(dag.critical_path.nodes),
    )


def _overhead(dag: Dag, times: Times) -> float:
    """Mean seconds from the end of a job's last parent to its own start, of the jobs that have parents."""
    gaps = []
    for node in dag.jobs():
        parents = [times.spans[dag.names[parent]][1] for parent in dag.job_parents(node)]
        if parents:
            gaps.append(times.spans[dag.names[node]][0] - max(parents))
    return fmean(gaps)


def share_above(curve: Curve, count: int) -> float:
    """The share of the time at which more jobs run."""
    above = sum(after - before for (before, jobs), (after, _) in pairwise(curve) if jobs > count)
    return above / (curve[-1][0] - curve[0][0])


# --- the report -------------------------------------------------------------------------------------------------------


def _report(
    plan: Plan, folder: Path, by_place: dict[str, Found], real: Sequence[checkers.Real], seconds: float
) -> Report:
    first, it = next(iter(by_place.items()))
    how = next((name for name, one in PLANS.items() if one.seconds == plan.seconds), "other")
    command = "headway reproduce trellisdag" + (" --full" if how == "full" else "")
    if plan.on != ("local",):
        command += "".join(f" --on {on}" for on in plan.on)
    command += " --store postgresql://…" * (plan.server is not None)
    report = Report("TrellisDAG: 4 versus 3 pieces", command)
    report.data |= {"paper": "trellisdag", "how": how, "version": __version__, "seconds": round(seconds, 1)}
    report.data |= {"runs": [round(one, 3) for one in it.makespans], "minimal_seconds": round(it.minimal, 3)}
    report.data |= {"placeholders": plan.placeholders, "scale": plan.seconds / PAPER, "on": first}
    report.data |= {
        "places": {on: {"runs": [round(one, 3) for one in each.makespans]} for on, each in by_place.items()},
        "checkers": [{"slots": one.slots, "seconds": one.seconds, "bound": one.bound} for one in real],
    }
    where = place(first).said.format(count=plan.placeholders)
    store = "SQLite" if plan.server is None else "PostgreSQL"
    why = ""
    if plan.server is None and first.endswith("scripts"):
        why = (
            " The store is a file, since each placeholder calls a service three times a job and each call would start "
            "a client of PostgreSQL."
        )
    report.say(
        f"The workflow of section 4.3 as a DAG description script (`{SCRIPT.name}`): one VS, 20 slices, 638 ranks, a "
        f"job each. A job sleeps for the time that the model gives it, times {plan.seconds / PAPER:.5f}: the paper's "
        f"{PAPER:,.0f} s become {plan.seconds:g} s. {where}, "
        f"with one {store} store between them, first come first served; first a run by one placeholder alone on this "
        f"computer, whose times the minimal schedule is made of, then {plan.runs} runs. {seconds:.0f} s in all.{why}",
        "## What is assumed",
        "The paper gives no times of jobs and does not say what a rank is. Here:\n\n"
        "- A rank is how far the leading man of each side has come, 0 to 6, as in the literature on these databases. "
        "It waits for the ranks one step on, in its own slice only: groups depend on groups of the same supergroup "
        "(section 3.1). A slice waits for whole slices.\n"
        "- A job takes time in proportion to the placements of its rank (9,527,629,380 in all), scaled so that the "
        "minimal schedule takes what the paper's took.\n"
        "- There is one job for each rank. That it is not two, computing and verifying as in Fig. 14, was decided "
        "before the graph was made: 638 jobs are hundreds. What verification would change is below.\n"
        "- Nothing is moved, as in the paper. Its placeholders were jobs of Sun Grid Engine on 20 nodes and its jobs "
        "were in PostgreSQL; the line above says what is here.\n"
        "- The rules by which the claims on concurrency are judged were written when it was known that the "
        "minimal schedule, as modelled, has nine jobs at once; those on times before the first three runs.",
        "## Claims",
    )
    report.claim_table(claims(it, share_above(it.curve, FEW)))
    _places(report, plan, by_place)
    _checkers(report, real)
    report.say(
        "What does not scale down is what the system takes for itself: from the end of a job's last parent to its "
        f"start {1000 * median(it.overheads):.0f} ms went by on average, the wait for a free placeholder included. At "
        f"the paper's scale the same delays would be {it.lost / PAPER:.3%} of the time, "
        f"not {it.lost / it.minimal:.1%}.",
        *[f"Figs 16 and 17 are those of {first}, the first row above, alone."] * (len(by_place) > 1),
        "## Fig. 16: jobs at once, the run of median length",
        "![Fig. 16](figure-16.svg)",
        "## Fig. 17: jobs at once, minimal schedule",
        "![Fig. 17](figure-17.svg)",
        "## If ranks were verified too",
        "Figs 12 to 14 have a job that computes a slice and releases those that wait, and one that verifies it. Each "
        "row gives the minimal schedule, as modelled, if verifying took that share of computing; looked at "
        "after the claim about 20 jobs at once had turned out not to hold without.",
    )
    rows, variants = [], []
    for share in VERIFY:
        curve = workflow("1", str(share)).minimal_schedule.concurrency
        above = share_above(curve, FEW)
        rows.append([f"{share:.0%}", str(peak(curve)), f"{above:.1%}"])
        variants += model_claims(peak(curve), above, share)
        report.data.setdefault("verified", {})[str(share)] = {"peak": peak(curve), "above_12": above}
    report.table(["verifying", "most at once", f"time above {FEW}"], rows)
    report.claim_table(variants)
    middle = it.curves[sorted(range(len(it.curves)), key=lambda at: it.makespans[at])[len(it.curves) // 2]]
    _draw(middle, folder / "figure-16.svg")
    _draw(it.curve, folder / "figure-17.svg")
    return report


def _places(report: Report, plan: Plan, by_place: dict[str, Found]) -> None:
    """The same on placeholders elsewhere."""
    if len(by_place) == 1:
        return
    report.say(
        "## Placeholders elsewhere",
        f"Each row is {plan.runs} runs, judged by the same rules; all beside the minimal schedule of the one "
        "sequential run. The gap is the mean time from the end of a job's last parent to its own start.",
    )
    rows = []
    for on, it in by_place.items():
        ratios = sorted(one / it.minimal for one in it.makespans)
        most = ", ".join(str(peak(curve)) for curve in it.curves)
        gap = f"{1000 * median(it.overheads):.0f}"
        spread = f"{median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})"
        rows.append([on, place(on).said.format(count=plan.placeholders), spread, most, gap])
    report.table(["--on", "placeholders", "time / minimal schedule", "jobs at once in each run", "gap, ms"], rows)
    report.claim_table(
        [one for number, (on, it) in enumerate(by_place.items()) if number for one in place_claims(it, on)]
    )


def _checkers(report: Report, real: Sequence[checkers.Real]) -> None:
    """The real program, where it was run."""
    if not real:
        return
    report.say(
        "## The real program",
        "`examples/checkers` up to four pieces: 46 jobs that compute and verify 23 slices, on this computer, with a "
        "file as the store, in the order of the table. After each run all values were compared with those of an "
        "independent program. *Bound*: the longest path or the work over the slots, whichever is longer, of the times "
        "that this run's jobs took.",
    )
    report.table(
        ["slots", "seconds", "longest path", "work", "over the bound"],
        [
            [str(one.slots), *(f"{value:.1f}" for value in (one.seconds, one.path, one.work)),
             f"{one.seconds / one.bound - 1:.1%}"]
            for one in real
        ],
    )  # fmt: skip
    slots = sorted({one.slots for one in real})
    report.claim_table([checkers_claims([one for one in real if one.slots == count]) for count in slots])


def _draw(curve: Curve, path: Path) -> None:
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 2.4), layout="constrained")
    begin = curve[0][0]
    axes.step([time - begin for time, _ in curve], [count for _, count in curve], where="post", lw=0.8, color="black")
    axes.set_xlabel("seconds")
    axes.set_ylabel("jobs at once")
    axes.set_ylim(bottom=0)
    save(figure, path)
    pyplot.close(figure)
