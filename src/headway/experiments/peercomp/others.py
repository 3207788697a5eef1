"""Who else could place jobs, and how: a central oracle, chance, other fits."""

from __future__ import annotations

from headway.engine.peering.settings import Settings
from headway.experiments.peercomp import beside, claims
from headway.experiments.peercomp.measuring import Runs
from headway.experiments.peercomp.measuring import told as words
from headway.experiments.report import Report
from headway.policies.by_when.routing import FITS

OVERLOAD = 2.0  # so that much has to be refused
REASON = (
    "Summaries are rough: the work of a hole is rounded down to a power of two and taken to be spread evenly over a"
    " whole stretch between reference points, so that a window of some minutes inside a hole of half an hour may seem"
    " to have less than half of its time. In a small grid a burst of eight requests also uses up the few cells that are"
    " left before they are told of again. A peer that is asked at random says exactly what it can do."
)


def told(report: Report, runs: Runs) -> None:
    """The part of the report about it."""
    plan = runs.plan
    report.say(
        "## Against others",
        f"Messages, {plan.few} nodes, {plan.few_hours:g} h, {plan.seeds} seeds: the same arrivals, at twice what the"
        " grid can do, so that much has to be refused. *oracle* tries every peer with what is true this moment, at no"
        " cost; *random* asks three. Owners and leaves are the same code. *paper's holes* tells the time after a queue"
        " from its last deadline, as the paper does; the others from when the queue can be done.",
    )
    kinds: list[tuple[str, str, Settings]] = [
        ("tree, best fit", "tree", Settings()),
        ("tree, earliest", "tree", Settings(fit="earliest")),
        ("tree, worst", "tree", Settings(fit="worst")),
        ("tree, best fit, paper's holes", "tree", Settings(early=False)),
        ("tree, best fit, no splitting", "tree", Settings(splitting=False)),
        ("oracle", "oracle", Settings()),
        ("random", "random", Settings()),
    ]
    rows, accepted, missed = [], dict[str, list[float]](), 0
    for name, placer, settings in kinds:
        some = runs.beside_others(placer=placer, settings=settings, load=OVERLOAD)
        accepted[name] = [one["accepted"] / max(one["submitted"], 1) for one in some]
        missed += sum(one["missed"] for one in some)
        speeds, used = [one["speedup"] or 0.0 for one in some], [one["utilisation"] for one in some]
        rows.append([name, words(accepted[name]), words(speeds), words(used)])
    report.table(["placed by", "share accepted", "speed-up", "power used while work arrived"], rows)
    report.claim_table(
        [
            claims.of_misses("no-misses", missed, "all of these runs"),
            claims.of_oracle(accepted["tree, best fit"], accepted["oracle"], REASON),
        ]
    )
    report.data["others"] = rows
    beside.told(report, runs)
    _fits(report, runs)


def _fits(report: Report, runs: Runs) -> None:
    plan = runs.plan
    report.say(
        "### Best fit and others, in a larger grid",
        f"Kernel, {plan.many:,} nodes, {plan.hours:g} h, {plan.seeds} seeds, twice what the grid can do.",
    )
    rows, shares = [], dict[str, list[float]]()
    for fit in FITS:
        some = runs.of_many(settings=Settings(fit=fit), load=OVERLOAD)
        shares[fit] = [one["accepted"] / max(one["submitted"], 1) for one in some]
        rows.append(
            [
                fit, words(shares[fit]), words([one["speedup"] for one in some]),
                words([one["utilisation"] for one in some]),
                words([one["allocation_seconds"]["p50"] for one in some]),
            ]
        )  # fmt: skip
    report.table(["fit", "share accepted", "speed-up", "power used", "median allocation s"], rows)
    report.claim_table([claims.of_fits(shares)])
    report.data["fits"] = rows
