"""What the protocols cost: events and bytes at each peer, by level of the tree, with the rate bound and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.experiments.peercomp import claims
from headway.experiments.peercomp.measuring import UNBOUND, Runs, handling
from headway.experiments.peercomp.measuring import told as words
from headway.experiments.report import Claim, Report
from headway.sim.peer_scenario import Scenario


def told(report: Report, runs: Runs, largest: Mapping[str, Any]) -> None:
    """The part of the report about it. `largest`: what was measured of the largest grid."""
    plan = runs.plan
    report.say(
        "## What it costs",
        f"Kernel, {largest['nodes']:,} nodes: {largest['events']:,} events in {plan.size_hours:g} h of arrivals.",
    )
    peaks = [
        [name, *(f"{largest[key][part]:,}" for part in ("p75", "p99", "max"))]
        for name, key in (("sent", "bytes_out"), ("received", "bytes_in"))
    ]
    report.table(["bytes in the busiest second of each peer", "75%", "99%", "most"], peaks)
    kinds = [[kind, f"{count:,}", f"{largest['bytes'][kind]:,}"] for kind, count in largest["messages"].items()]
    counted = largest["only_counted"]
    silent = sum(counted[key] for key in ("greetings", "answers", "statuses"))
    report.table(
        ["message", "sent", "bytes"],
        [*kinds, ["greetings and statuses, counted", f"{silent:,}", f"{counted['bytes']:,}"]],
    )
    average, most = handling(Scenario(nodes=plan.few, hours=min(plan.few_hours, 0.3)))
    report.claim_table(
        [
            Claim(
                "handling", "a message is processed in less than 1 ms", average, average < 1,
                note=f"ms of CPU, mean, message by message, {plan.few} nodes; 99% take less than {most:.3f} ms",
            ),
            *claims.of_load(largest),
        ]
    )  # fmt: skip
    _by_level(report, largest)
    _by_bound(report, runs)


def _by_level(report: Report, largest: Mapping[str, Any]) -> None:
    report.say(
        "### Load by level of the tree",
        "Events and bytes a second, over all arrivals, at peers with a branch of each level (0: with none) in the same"
        " grid; what is only counted left out.",
    )
    rows = [
        [str(one["level"]), f"{one['peers']:,}"]
        + [f"{one[key][part]:.{places}f}" for key, places in (("events", 2), ("out", 0), ("in", 0))
           for part in ("mean", "max")]
        for one in largest["levels"]
    ]  # fmt: skip
    report.table(["level", "peers", "events, mean", "most", "bytes out, mean", "most", "bytes in, mean", "most"], rows)
    report.data["largest"] = dict(largest)


def _by_bound(report: Report, runs: Runs) -> None:
    plan = runs.plan
    report.say(
        "### With the rate bound and without",
        f"Kernel, {plan.many:,} nodes, {plan.hours:g} h, {plan.seeds} seeds.",
    )
    bound, free = runs.of_many(), runs.of_many(settings=UNBOUND)
    rows = [
        [
            name, words([one["messages"]["Update"] / 1e6 for one in some]),
            *(words([one[key][part] / 1000 for one in some])
              for key in ("bytes_out", "bytes_in") for part in ("p75", "p99", "max")),
            words([one["accepted"] / one["submitted"] for one in some]),
        ]
        for name, some in (("period of 1 s", bound), ("no bound", free))
    ]  # fmt: skip
    head = ["updates", "millions sent", "kB out 75%", "99%", "most", "kB in 75%", "99%", "most", "share accepted"]
    report.table(head, rows)
    report.claim_table([claims.of_bound(*([one["messages"]["Update"] for one in some] for some in (bound, free)))])
    report.data["bound"] = rows
