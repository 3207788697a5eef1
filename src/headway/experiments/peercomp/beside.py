"""Acceptance beside a central oracle's: other workflows, the paper's load, a larger grid."""

from __future__ import annotations

from headway.experiments.peercomp import claims
from headway.experiments.peercomp.measuring import FEW_SEEDS, Runs
from headway.experiments.peercomp.measuring import told as words
from headway.experiments.report import Report
from headway.model.record import replace
from headway.sim.peer_scenario import Scenario

PLACERS = ("tree", "oracle", "random")
OVERLOAD, MIDDLING_LOAD = 2.0, 3.0
REASON = (
    "It is neither that summaries are old nor that tries are few: in one run of Laplace at 93% the tree accepts 0.899"
    " of the workflows, without a bound on updates 0.905, with ten tries in place of three 0.902. Of its 90 refusals 41"
    " came while some peer had room that summaries did not show: they round, and take the work of a hole to be spread"
    " evenly over a stretch, so that a short window in a long hole seems to have too little. In the other 49 nobody had"
    " room any more."
)


def told(report: Report, runs: Runs) -> None:
    """The part of the report about it."""
    plan = runs.plan
    report.say(
        "### Other workflows, the paper's load, a larger grid",
        "Messages; added after the first reports, with its claims. Arrivals at 93% go on for longer, until the grid is"
        " as full as it gets.",
    )
    few, middling = Scenario(nodes=plan.few), Scenario(nodes=plan.middling, hours=plan.middling_hours)
    settings = [
        ("laplace-overload", replace(few, model="laplace", hours=plan.few_hours, load=OVERLOAD), plan.seeds),
        ("fork-join-usual", replace(few, hours=plan.steady_hours), plan.seeds),
        ("laplace-usual", replace(few, model="laplace", hours=plan.steady_hours), plan.seeds),
        ("fork-join-larger", replace(middling, load=MIDDLING_LOAD), FEW_SEEDS),
        ("laplace-larger", replace(middling, model="laplace", load=MIDDLING_LOAD), FEW_SEEDS),
    ]
    rows, found, missed = [], [], 0
    for name, scenario, seeds in settings:
        shares = {}
        for placer in PLACERS:
            some = runs.by_messages(replace(scenario, placer=placer), seeds)
            shares[placer] = [one["accepted"] / max(one["submitted"], 1) for one in some]
            missed += sum(one["missed"] for one in some)
        size = f"{scenario.nodes:,} nodes, {scenario.hours:g} h, {seeds} seeds"
        of = f"{scenario.model}, {scenario.load:.0%}"
        rows.append([of, size, *(words(shares[placer]) for placer in PLACERS)])
        claim = claims.of_oracle(shares["tree"], shares["oracle"], REASON)
        found.append(replace(claim, id=f"oracle-gap-{name}"))
    report.table(["workflows, load", "grid", *(f"{placer} accepts" for placer in PLACERS)], rows)
    report.claim_table([*found, claims.of_misses("beside-misses", missed, "all of these runs")])
    report.data["beside"] = rows
