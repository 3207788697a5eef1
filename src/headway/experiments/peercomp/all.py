"""`headway reproduce peercomp`: every table and figure of section VI, and what it says of costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway.experiments.peercomp import claims, costs, others, stress
from headway.experiments.peercomp.measuring import PLANS, PRIORITIES, Plan, Runs, expected, told, width
from headway.experiments.peercomp.reasons import REASONS
from headway.experiments.report import Claim, Report, drawing_board, make, save
from headway.model.record import replace
from headway.policies.by_when.reference_points import MINUTE, points
from headway.sim.peer_scenario import Scenario

__all__ = ["PLANS", "reproduce"]

TABLE_1 = {
    "4:33": "4:40 4:50 5:00 5:30 6:00 8:00 12:00 16:00 24:00 48:00",
    "5:48": "5:55 6:00 6:15 6:30 7:00 8:00 12:00 16:00 24:00 48:00",
    "17:17": "17:25 17:30 17:45 18:00 19:00 20:00 24:00 32:00 40:00 48:00",
}
TABLE_2 = {"laplace": (2.05, 2.09, 2.18, 2.22), "fork-join": (2.12, 2.85, 2.90, 2.92)}
FIGURE_6 = {"fork-join": (4, 8, 16), "laplace": (3, 4, 5)}


def reproduce(
    plan: Plan, folder: Path, data: Path | None, expect: Callable[[float], None], done: Callable[[float], None]
) -> Report:
    """Measures everything, and writes the report."""
    make(folder)
    report = Report("PeerComp, done again", f"headway reproduce peercomp --{plan.name}")
    runs = Runs(plan, done, folder / "runs.jsonl")
    expect(expected(plan))
    report.say(
        "The paper: J. Celaya, U. Arronategui, Distributed Scheduler of Workflows with Deadlines in a P2P Desktop Grid."
        " Two simulators made the figures here, and each figure names its own. *Messages* runs the code of real peers."
        " The *kernel* does on arrays what that does, message by message; a test compares both on the whole history of"
        " sixty random grids. It only counts greetings of neighbours and statuses of leaves.",
        "Assumed, as the paper does not say: Pareto powers from 1,000 to 3,000, equal jobs of 5 to 20 minutes in a"
        " workflow, fork-joins of 8 branches and Laplace grids of 3 rows (they give the paper's maxima, 10/3 and 9/5),"
        " work that arrives at 93% of all power, an update period of 1 s, a fan-out of 4, links of 25 ms and an"
        " exponential rest with a mean of 25 ms. Grids begin empty.",
        "The rules of the claims (`experiments/peercomp/claims.py`) were written before the kernel had measured any of"
        " this, but for the number of messages of each kind in one run of a million nodes, and acceptance and speed-up"
        " of some small grids. *More than a grid can do*, *Peers that come and go* and *Other workflows, the paper's"
        " load, a larger grid* were added after the first reports, with their claims. Reasons (`reasons.py`) rest on"
        " runs of their own.",
    )
    _table_1(report)
    _table_2(report, runs)
    _figure_6(report, runs, folder)
    largest = _sizes(report, runs, folder)
    costs.told(report, runs, largest)
    stress.overloaded(report, runs)
    stress.churned(report, runs)
    others.told(report, runs)
    report.claims = [
        replace(claim, reason=claim.reason or REASONS.get(claim.id, "")) if claim.holds is False else claim
        for claim in report.claims
    ]
    report.write(folder)
    return report


def _clock(text: str) -> int:
    hours, _, rest = text.partition(":")
    return (int(hours) * 60 + int(rest)) * MINUTE


def _table_1(report: Report) -> None:
    report.say("## Table I: reference points")
    right = sum(
        point == _clock(one)
        for created, row in TABLE_1.items()
        for point, one in zip(points(_clock(created)), row.split(), strict=True)
    )
    report.claim_table(
        [Claim("table-1", "thirty reference points of three moments", f"{right} of 30", right == 30)]
    )  # fmt: skip


def _table_2(report: Report, runs: Runs) -> None:
    plan = runs.plan
    report.say(
        "## Table II: speed-up by priority",
        f"Kernel, {plan.many:,} nodes, {plan.hours:g} h of arrivals, {plan.seeds} seeds.",
    )
    rows, found = [], []
    for model, paper in TABLE_2.items():
        some = [runs.of_many(model=model, priority=priority) for priority in PRIORITIES]
        speeds = [[one["speedup"] for one in each] for each in some]
        for priority, each in zip(PRIORITIES, some, strict=True):
            report.data.setdefault("table_2", {})[f"{model} {priority}"] = [
                {key: one[key] for key in ("submitted", "accepted", "rejected", "missed", "speedup", "utilisation")}
                for one in each
            ]
        rows.append([f"{model}, paper", *map(str, paper)])
        rows.append([f"{model}, here", *map(told, speeds)])
        used = [[one["utilisation"] for one in each] for each in some]
        rows.append([f"{model}, power used here", *map(told, used)])
        missed = sum(one["missed"] for each in some for one in each)
        found += [
            claims.by_priority(model, speeds),
            claims.by_maximum(model, speeds),
            claims.by_table(model, speeds, paper),
            claims.of_misses(f"{model}-misses", missed, f"{plan.many:,} nodes"),
        ]
    report.table(["model", *map(str, PRIORITIES)], rows)
    report.claim_table(found)


def _figure_6(report: Report, runs: Runs, folder: Path) -> None:
    plan = runs.plan
    report.say(
        "## Fig. 6: allocation time by workflow",
        f"Kernel, {plan.figure:,} nodes, {plan.figure_hours * 60:g} minutes of arrivals.",
        "![Fig. 6](figure-6.svg)",
    )
    rows, medians, most, curves = [], dict[str, list[float]](), 0.0, {}
    for model, sizes in FIGURE_6.items():
        for size in sizes:
            it = runs.one(
                Scenario(nodes=plan.figure, hours=plan.figure_hours, model=model, size=size), to_the_end=False
            )
            times = it.answer["allocation_seconds"]
            medians.setdefault(model, []).append(times["p50"])
            most = max(most, times["p99"])
            curves[f"{model} {size}"] = it.allocation
            parts = (f"{times[key]:.2f}" for key in ("p50", "p90", "p99", "max"))
            rows.append([f"{model} {size}", str(width(model, size)), *parts, f"{it.answer['accepted']:,}"])
    report.table(["workflow", "stages", "median s", "90% s", "99% s", "most s", "accepted"], rows)
    report.data["figure_6"] = rows
    law = all(width("fork-join", size) == 2 and width("laplace", size) == 2 * size - 3 for size in range(3, 17))
    report.claim_table(claims.of_allocation(medians, most, plan.figure, law))
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for name, values in curves.items():
        axes.plot(values, [(at + 1) / len(values) for at in range(len(values))], lw=1, label=name)
    axes.set_xlabel("allocation time, s")
    axes.set_ylabel("share of workflows")
    axes.legend(frameon=False)
    save(figure, folder / "figure-6.svg")
    pyplot.close(figure)


def _sizes(report: Report, runs: Runs, folder: Path) -> dict[str, object]:
    """Grids of several sizes; what was measured of the last one."""
    plan = runs.plan
    report.say(
        "## Grids of several sizes",
        f"Kernel, fork-join 8, {plan.size_hours:g} h of arrivals, until all that was accepted had ended.",
        "![Allocation time and hops](sizes.svg)",
    )
    rows, found, parts = [], [], ("p50", "p90", "p99", "max")
    for nodes in plan.sizes:
        it = runs.one(Scenario(nodes=nodes, hours=plan.size_hours)).answer
        found.append({**it, "nodes": nodes})
        times, hops = it["allocation_seconds"], it["hops"]
        rows.append(
            [
                f"{nodes:,}", str(len(it["levels"]) - 1), *(f"{times[key]:.2f}" for key in parts),
                *(str(hops[key]) for key in ("p50", "p99", "max")), f"{it['accepted']:,}", f"{it['rejected']:,}",
                str(it["missed"]), f"{it['utilisation']:.2f}",
            ]
        )  # fmt: skip
    report.table(
        ["nodes", "depth", "median s", "90% s", "99% s", "most s", "hops median", "99%", "most", "accepted", "rejected",
         "missed", "power used"],
        rows,
    )  # fmt: skip
    medians, hops = (
        [one[key][part] for one in found] for key, part in (("allocation_seconds", "p50"), ("hops", "p99"))
    )
    depths = [len(one["levels"]) - 1 for one in found]
    report.claim_table(
        [
            *claims.of_sizes(plan.sizes, medians, hops, depths),
            claims.of_misses("size-misses", sum(one["missed"] for one in found), f"up to {plan.sizes[-1]:,} nodes"),
        ]
    )
    report.data["sizes"] = rows
    pyplot = drawing_board()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(6, 2.6), layout="constrained")
    for part in ("p50", "p99"):
        left.plot(plan.sizes, [one["allocation_seconds"][part] for one in found], "o-", lw=1, ms=3, label=part)
        right.plot(plan.sizes, [one["hops"][part] for one in found], "o-", lw=1, ms=3, label=part)
    for axes, name in ((left, "allocation time, s"), (right, "hops of a request")):
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("nodes")
        axes.set_ylabel(name)
        axes.legend(frameon=False)
    save(figure, folder / "sizes.svg")
    pyplot.close(figure)
    return found[-1]
