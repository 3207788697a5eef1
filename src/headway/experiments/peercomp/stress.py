"""What must hold where it is hardest: a grid that gets more than it can do, and one whose peers come and go."""

from __future__ import annotations

from headway.engine.peering.settings import Settings
from headway.experiments.peercomp import claims
from headway.experiments.peercomp.measuring import Runs
from headway.experiments.report import Report
from headway.model.record import replace
from headway.sim.peer_scenario import Scenario

LOAD, PRIORITY = 5.0, 2.0
QUICK = Settings(refresh=30_000, status=15_000)
KINDS: tuple[tuple[str, dict[str, float]], ...] = (
    ("die", {}),
    ("die, half come back", {"returning": 0.5}),
    ("leave, half come back", {"leaving": 1.0, "returning": 0.5}),
    ("die or leave, all come back", {"leaving": 0.5, "returning": 1.0}),
)


def overloaded(report: Report, runs: Runs) -> None:
    """The largest grid, with more work than it can do."""
    plan = runs.plan
    nodes = plan.sizes[-1]
    report.say(
        "## More than a grid can do",
        f"Kernel, {nodes:,} nodes, fork-join 8 at priority {PRIORITY:g}, {plan.overload_hours * 60:g} minutes of"
        f" arrivals at {LOAD:g} times all power, until all that was accepted had ended. Added after the first reports,"
        " in which no grid of this size rejected anything.",
    )
    it = runs.one(Scenario(nodes=nodes, hours=plan.overload_hours, load=LOAD, priority=PRIORITY)).answer
    times = it["allocation_seconds"]
    row = [f"{it[key]:,}" for key in ("submitted", "accepted", "rejected", "missed")]
    row += [f"{times[key]:.2f}" for key in ("p50", "p99", "max")]
    report.table(
        ["submitted", "accepted", "rejected", "missed", "allocation, median s", "99%", "most"], [row],
    )  # fmt: skip
    late = it["too_late"]
    if late:
        report.say(
            f"{late:,} messages waited longer at a link than clocks may differ by (30 s); the kernel"
            " delivers them, and real peers would not believe them."
        )
    report.claim_table(
        [claims.of_misses("overload-misses", it["missed"], f"{nodes:,} nodes, {it['rejected']:,} rejected")]
    )
    report.data["overload"] = row


def churned(report: Report, runs: Runs) -> None:
    """Peers that die, leave and come back."""
    plan = runs.plan
    report.say(
        "## Peers that come and go",
        f"Messages, {plan.churned:,} nodes, {plan.churned_hours * 60:g} minutes of arrivals, {plan.seeds} seeds;"
        " fork-join 8 of jobs of 1 to 3 minutes at priority 1.1, work for 15% of all power. Every peer goes once an"
        " hour: within the arrivals one of seven. Who comes back does so after 10 s to 3 minutes, with what it wrote"
        " down; anybody else is replaced by a stranger. Neighbours greet each other every 30 s. *not possible*: when"
        " the owner knew of a loss, or was back, what had to run again took longer than the time left, even on the"
        " fastest peer. *orphaned*: the owner went and did not come back. Added after the first reports. In one with a"
        " single seed three were late; since then requests for jobs that are lost are repeated, and there are more"
        " seeds.",
    )
    base = Scenario(
        nodes=plan.churned, hours=plan.churned_hours, load=0.15, churn=1.0, priority=1.1, minutes=(1.0, 3.0),
        settings=QUICK,
    )  # fmt: skip
    rows, late, broken, longest = [], 0, 0, 0.0
    for name, changes in KINDS:
        found = [one["failures"] for one in runs.by_messages(replace(base, **changes), plan.seeds)]
        keys = ("died", "left", "returned", "accepted", "replanned", "met", "not_possible", "late", "orphaned")
        sums = {key: sum(one[key] for one in found) for key in keys}
        after = [one["whole_after"] for one in found if one["whole_after"] is not None]
        late += sums["late"]
        broken += len(found) - len(after)
        longest = max(longest, *after, 0.0)
        whole = f"{max(after):.0f}" if len(after) == len(found) else "not"
        rows.append([name, *(f"{count:,}" for count in sums.values()), whole])
    report.table(
        ["peers", "died", "left", "came back", "accepted", "planned again", "met", "not possible", "late", "orphaned",
         "tree whole again after s, at most"],
        rows,
    )  # fmt: skip
    report.claim_table(claims.of_churn(late, broken, longest))
    report.data["churn"] = rows
