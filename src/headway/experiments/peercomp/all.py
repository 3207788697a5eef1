"""`headway reproduce peercomp`: every table and figure of section VI that this simulator can hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway.engine.peering.settings import Settings
from headway.experiments.peercomp.measuring import PLANS, PRIORITIES, UNBOUND, Plan, Runs, handling, interval, width
from headway.experiments.report import Claim, Report, drawing_board, make, save
from headway.policies.by_when.reference_points import MINUTE, points
from headway.sim.peer_scenario import Scenario
from headway.sim.peers import Simulation

__all__ = ["PLANS", "reproduce"]

TABLE_1 = {
    "4:33": "4:40 4:50 5:00 5:30 6:00 8:00 12:00 16:00 24:00 48:00",
    "5:48": "5:55 6:00 6:15 6:30 7:00 8:00 12:00 16:00 24:00 48:00",
    "17:17": "17:25 17:30 17:45 18:00 19:00 20:00 24:00 32:00 40:00 48:00",
}
TABLE_2 = {"laplace": (2.05, 2.09, 2.18, 2.22), "fork-join": (2.12, 2.85, 2.90, 2.92)}
MOST = {"laplace": 1.8, "fork-join": 10 / 3}


def reproduce(
    plan: Plan, folder: Path, data: Path | None, expect: Callable[[float], None], done: Callable[[float], None]
) -> Report:
    """Measures everything, and writes the report."""
    make(folder)
    report = Report("PeerComp, done again in small", f"headway reproduce peercomp --{plan.name}")
    runs = Runs(plan, done)
    expect(float(plan.nodes * plan.seeds * (8 + 7) + plan.nodes * 9 + 2 * sum(plan.sizes)))
    report.say(
        "The paper: J. Celaya, U. Arronategui, Distributed Scheduler of Workflows with Deadlines in a P2P Desktop Grid."
        " It simulated one million nodes. Every figure here was made by the message-level simulator, on the code that"
        f" real peers run, with {plan.nodes} nodes where nothing else is said."
        " **Nothing here was measured at one million nodes**:"
        " claims about that size are open.",
        "Assumed, as the paper does not say: Pareto powers from 1,000 to 3,000, equal jobs of 5 to 20 minutes in a"
        " workflow, fork-joins of 8 branches and Laplace grids of 3 rows (they give the paper's"
        " maxima, 10/3 and 9/5), work that"
        " arrives at 93% of all power, an update period of 1 s, a fan-out of 4, links of 25 ms and an exponential rest"
        " with a mean of 25 ms. Grids begin empty.",
        "The rules of claims were written before the first run, but for two that it changed: *rate-bound* holds only if"
        " a tenth is saved, and *oracle-gap* has an interval over seeds. Both had been said to hold.",
    )
    _table_1(report)
    _table_2(report, runs)
    _figure_6(report, runs, folder)
    _sizes(report, runs, folder)
    _costs(report, runs)
    _others(report, runs)
    report.write(folder)
    return report


def _clock(text: str) -> int:
    hours, _, rest = text.partition(":")
    return (int(hours) * 60 + int(rest)) * MINUTE


def _table_1(report: Report) -> None:
    report.say("## Table I: reference points")
    right = sum(
        point == _clock(told)
        for created, row in TABLE_1.items()
        for point, told in zip(points(_clock(created)), row.split(), strict=True)
    )
    report.claim_table(
        [Claim("table-1", "thirty reference points of three moments", f"{right} of 30", right == 30)]
    )  # fmt: skip


def _table_2(report: Report, runs: Runs) -> None:
    report.say("## Table II: speed-up by priority")
    rows, claims = [], []
    for model, paper in TABLE_2.items():
        found, missed = [], 0
        for priority in PRIORITIES:
            some = runs.of(model=model, priority=priority)
            missed += sum(one["missed"] for one in some)
            found.append(interval([one["speedup"] for one in some]))
            report.data.setdefault("table_2", {})[f"{model} {priority}"] = [
                {key: one[key] for key in ("submitted", "accepted", "rejected", "missed", "speedup")} for one in some
            ]
        rows.append([f"{model}, paper", *map(str, paper)])
        rows.append([f"{model}, here", *(f"{it[0]:.2f} [{it[1]:.2f}, {it[2]:.2f}]" for it in found)])
        first, last = found[0], found[-1]
        claims.append(
            Claim(
                f"{model}-priority",
                "speed-up increases with the workflow priority",
                last[0] - first[0],
                True if last[1] > first[2] else False if last[2] < first[1] else None,
                last[1] - first[2],
                last[2] - first[1],
                "at 1.4 less that at 1.1; the interval is the widest that both allow",
            )
        )
        most = MOST[model]
        above = model == "laplace"
        highest = max(found)
        low, high = highest[1:]
        claims.append(
            Claim(
                f"{model}-maximum",
                "Laplace does better than the maximum on equal machines, 1.8" if above else "fork-join stays below 3.3",
                highest[0],
                (low > most if above else high < most) or (None if low <= most <= high else False),
                low,
                high,
                "the highest mean of the four priorities",
            )
        )
        claims.append(Claim(f"{model}-misses", "deadlines are met", f"{missed} missed", missed == 0))
    report.table(["model", *map(str, PRIORITIES)], rows)
    report.claim_table(claims)


def _figure_6(report: Report, runs: Runs, folder: Path) -> None:
    report.say("## Fig. 6: allocation time by workflow", "![Fig. 6](figure-6.svg)")
    sizes = {"fork-join": (4, 8, 16), "laplace": (3, 4, 5)}
    rows, medians, most, curves = [], dict[str, list[float]](), 0.0, {}
    for model, some in sizes.items():
        for size in some:
            found, simulation = runs.one(
                Scenario(nodes=runs.plan.nodes, hours=runs.plan.hours, model=model, size=size, load=0.5, priority=1.1)
            )
            times = found["allocation_seconds"]
            if times["p50"] is None:
                continue
            medians.setdefault(model, []).append(times["p50"])
            most = max(most, times["max"])
            curves[f"{model} {size}"] = _times(simulation)
            stages = width(model, size)
            rows.append([f"{model} {size}", str(stages), *(f"{times[key]:.2f}" for key in ("p50", "p90", "max"))])
    report.table(["workflow", "stages", "median s", "90% s", "most s"], rows)
    report.data["figure_6"] = rows
    growth = {model: values[-1] / values[0] for model, values in medians.items()}
    law = all(width("fork-join", size) == 2 and width("laplace", size) == 2 * size - 3 for size in range(3, 17))
    report.claim_table(
        [
            Claim("widths", "fork-join takes few stages, Laplace more with its size", "2 and 2k - 3, k = 3 to 16", law),
            Claim(
                "fork-join-flat",
                "the allocation time of fork-join varies very little with size",
                growth["fork-join"],
                growth["fork-join"] < 1.25,
                note="median with 16 branches over that with 4; one run each",
                reason="We think: a stage ends with the last of its answers, and the slowest of sixteen takes longer"
                " than the slowest of four. In a tree of depth ten that would weigh less than here.",
            ),
            Claim(
                "laplace-grows",
                "it grows significantly for Laplace",
                growth["laplace"],
                growth["laplace"] > 1.25,
                note="median with 5 rows over that with 3; one run each",
            ),
            Claim(
                "few-seconds", "allocation is done in just a few seconds", most, most < 5, note="s, the longest of all"
            ),
        ]
    )
    pyplot = drawing_board()
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for name, values in curves.items():
        axes.plot(values, [(at + 1) / len(values) for at in range(len(values))], lw=1, label=name)
    axes.set_xlabel("allocation time, s")
    axes.set_ylabel("share of workflows")
    axes.legend(frameon=False)
    save(figure, folder / "figure-6.svg")
    pyplot.close(figure)


def _times(simulation: Simulation) -> list[float]:
    flows = simulation.world.workflows.values()
    return sorted((one.decided - one.at) / 1000 for one in flows if one.state != "rejected" and one.decided >= 0)


def _sizes(report: Report, runs: Runs, folder: Path) -> None:
    report.say("## Grids of several sizes, and load by level")
    rows, medians, levels = [], list[float](), list[list[str]]()
    for nodes in runs.plan.sizes:
        found, simulation = runs.one(Scenario(nodes=nodes, hours=0.25 if nodes > 256 else runs.plan.hours))
        times = found["allocation_seconds"]
        medians.append(times["p50"])
        rows.append([f"{nodes:,}", *(f"{times[key]:.2f}" for key in ("p50", "p99", "max")), f"{found['submitted']:,}"])
        levels = [[str(level), f"{it[0]:.2f}", f"{it[1]:.2f}"] for level, it in simulation.load_by_level().items()]
    report.table(["nodes", "median s", "99% s", "most s", "workflows"], rows)
    steps = [later - one for one, later in zip(medians, medians[1:], strict=False)]  # noqa: RUF007
    report.claim_table(
        [
            Claim(
                "logarithmic",
                "allocation is bounded to logarithmic time by the balanced tree",
                max(steps) if steps else 0.0,
                None if len(steps) < 3 else max(steps) < 0.5,
                note="seconds that the median grows by from one size to the next, four times as large, at most",
            ),
            Claim(
                "million", "one million nodes", f"{max(runs.plan.sizes):,} here", None,
                note="the largest grid simulated; the kernel for a million does not exist yet",
            ),
        ]
    )  # fmt: skip
    report.say("Events a second at peers with a branch of each level (0: none), in the largest of these grids:")
    report.table(["level", "mean", "most"], levels)
    report.data["sizes"], report.data["levels"] = rows, levels


def _costs(report: Report, runs: Runs) -> None:
    report.say("## What it costs")
    scenario = Scenario(nodes=runs.plan.nodes, hours=runs.plan.hours)
    bound, _ = runs.one(scenario)
    free, _ = runs.one(Scenario(nodes=runs.plan.nodes, hours=runs.plan.hours, settings=UNBOUND))
    average, most = handling(Scenario(nodes=runs.plan.nodes, hours=min(runs.plan.hours, 0.3)))
    rows = [
        [name, *(f"{it[key][part]:,}" for key in ("bytes_out", "bytes_in") for part in ("p75", "p99", "max")),
         f"{it['messages']['Update']:,}"]
        for name, it in (("period of 1 s", bound), ("no bound", free))
    ]  # fmt: skip
    report.table(["updates", "out 75%", "out 99%", "out most", "in 75%", "in 99%", "in most", "updates sent"], rows)
    events = bound["events_per_node_second"]
    report.claim_table(
        [
            Claim("handling", "a message is processed in less than 1 ms", average, average < 1, note="ms, mean;"
                  f" 99% take less than {most:.3f} ms"),
            Claim("events-mean", "a mean of just 2 events a second at each node", events["mean"], events["mean"] <= 2,
                  note="what has not changed is not sent again here"),
            Claim("events-most", "at most 40 events a second", float(events["max"]), None, note="of a small grid"),
            Claim("out-75", "75% of the nodes send at most 2,500 bytes a second at their peak",
                  float(bound["bytes_out"]["p75"]), None, note=f"at {runs.plan.nodes} nodes"),
            Claim("in-75", "75% of the nodes receive at most 1,000 bytes a second at their peak",
                  float(bound["bytes_in"]["p75"]), None, note=f"at {runs.plan.nodes} nodes"),
            Claim("rate-bound", "the update rate limit reduces traffic",
                  bound["messages"]["Update"] / free["messages"]["Update"],
                  _less(bound["messages"]["Update"], free["messages"]["Update"]), note="updates with over without it"),
        ]
    )  # fmt: skip
    report.data["costs"] = {"bound": bound, "free": free}


def _less(bound: int, free: int) -> bool | None:
    """Less by a tenth; told as open where it is less by less. (Decided after a first run, in which it was 0.986.)"""
    return True if bound < 0.9 * free else None if bound < free else False


def _others(report: Report, runs: Runs) -> None:
    report.say(
        "## Against others",
        "The same arrivals, at twice what the grid can do, so that much has to be refused. *oracle* tries every peer"
        " with what is true this moment, at no cost; *random* asks three. Owners and leaves are the same code. *paper's"
        " holes* tells the time after a queue from its last deadline, as the paper does; the others"
        " from when the queue can be"
        " done.",
    )
    rows, accepted = [], dict[str, list[float]]()
    kinds: list[tuple[str, str, Settings]] = [
        ("tree, best fit", "tree", Settings()),
        ("tree, earliest", "tree", Settings(fit="earliest")),
        ("tree, worst", "tree", Settings(fit="worst")),
        ("tree, best fit, paper's holes", "tree", Settings(early=False)),
        ("tree, best fit, no splitting", "tree", Settings(splitting=False)),
        ("oracle", "oracle", Settings()),
        ("random", "random", Settings()),
    ]
    missed = 0
    for name, placer, settings in kinds:
        some = runs.of(placer=placer, settings=settings, load=2.0)
        accepted[name] = [one["accepted"] / max(one["submitted"], 1) for one in some]
        shares = interval(accepted[name])
        speed = interval([one["speedup"] or 0.0 for one in some])
        used = interval([one["utilisation"] for one in some])
        missed += sum(one["missed"] for one in some)
        rows.append([name, *(f"{it[0]:.2f} [{it[1]:.2f}, {it[2]:.2f}]" for it in (shares, speed, used))])
    report.table(["placed by", "share accepted", "speed-up", "power used while work arrived"], rows)
    pairs = zip(accepted["tree, best fit"], accepted["oracle"], strict=True)
    gap, low, high = interval([1 - mine / most for mine, most in pairs])
    report.claim_table(
        [
            Claim("no-misses", "accepted workflows meet their deadlines", f"{missed} missed", missed == 0),
            Claim(
                "oracle-gap",
                "accepts within a tenth of a central oracle (our aim, not the paper's)",
                gap,
                True if high <= 0.1 else False if low > 0.1 else None,
                low,
                high,
                note="share of the oracle's acceptance that is lost, over seeds",
                reason="Summaries are rough: the work of a hole is rounded down to a power of two and taken to be"
                " spread over a whole stretch between reference points, so that a window of some minutes inside a hole"
                " of half an hour may seem to have less than half of its time. In a small grid a"
                " burst of eight requests"
                " also uses up the few cells that are left before they are told of again. A peer"
                " that is asked at random"
                " says exactly what it can do.",
            ),
        ]
    )
    report.data["others"] = rows
