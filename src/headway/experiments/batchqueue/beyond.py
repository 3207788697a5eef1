"""What goes beyond the paper: other estimates, wrong run times, all jobs of the logs; and Fig. 11 for our logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from headway.experiments.batchqueue.measuring import Cell, read_log
from headway.experiments.batchqueue.numbers import Cells, Value, average, share
from headway.experiments.batchqueue.plans import HELD_OUT, METHODS, OURS, Plan
from headway.experiments.batchqueue.standins import CLUSTERS, STAND_INS, Row
from headway.experiments.report import Report
from headway.formats.swf import Log

DAY = 86400.0


def row_of(log: Log) -> Row:
    """Fig. 11's line of a log, as far as it is replayed."""
    submit, run, request = np.array(log.submit), np.array(log.run), np.array(log.request)
    width = np.array(log.width)
    days = float((submit + run).max() - submit[0]) / DAY
    machine = log.processors * days * 24
    return Row(
        log.processors,
        len(log) / days,
        float(width.mean()),
        float(run.mean()) / 3600,
        float((request * width).mean()) / 3600,
        float((run * width).sum()) / 3600 / machine,
        float((request * width).sum()) / 3600 / machine,
    )


def add_logs(report: Report, data: Path) -> None:
    """Fig. 11, and which log stands for which cluster."""
    report.say(
        "## Fig. 11: the clusters and what stands for them",
        "The paper's logs are not public. First of each pair: the paper's cluster; second: the log replayed for it.",
    )
    rows, reasons = [], []
    for one in STAND_INS:
        rows.append([one.cluster, *(_told(one.paper) if one.paper else [])])
        log = read_log(one, data)
        rows.append([f"{one.log}, {one.jobs} jobs", *(_told(row_of(log)) if log else ["not there"] * 7)])
        reasons.append(f"- {one.cluster} → {one.log}: {one.reason}. Run times × {one.speed:g}.")
    head = ["", "processors", "jobs a day", "mean width", "mean run h", "mean request CPU h", "load", "request load"]
    report.table(head, rows)
    report.say("\n".join(reasons))


def _told(row: Row) -> list[str]:
    return [
        f"{row.processors:,}", f"{row.jobs_per_day:,.0f}", f"{row.width:.2f}", f"{row.run_hours:.2f}",
        f"{row.request_hours:,.0f}", f"{row.load:.2f}", f"{row.request_load:.2f}",
    ]  # fmt: skip


def add_ours(report: Report, cells: Cells) -> None:
    """hybrid+ against hybrid, in every cell, and on logs that it was not tried out on."""
    paper = [cell for (_, _, variant), cell in cells.items() if variant == "paper" and OURS in cell.found]
    held = [cell for (_, _, variant), cell in cells.items() if variant == HELD_OUT.name]
    if not paper:
        return
    report.say(
        "## hybrid+, ours",
        "It takes hybrid's group with fewer processors where that is done as soon, another cut where all would be done"
        " clearly earlier, and has several requests out. Over hybrid, by pairs:",
    )
    head = ["cluster", "policy", "wait", "makespan", "CPU hours", "allocations"]
    rows = [_ours(cell) for cell in paper]
    report.table(head, rows)
    report.say(_verdict(paper))
    report.data["hybrid_plus"] = {f"{row[0]}, {row[1]}": row[2:] for row in rows}
    if not held:
        return
    report.say(
        "### Held-out logs",
        "hybrid+ was tried out on the logs of Ada, LeMieux and RTC. On these three no method was tried before it was"
        f" finished; {len(held[0].dags)} dags. Over hybrid, by pairs:",
    )
    rows = [_ours(cell) for cell in held]
    report.table(head, rows)
    report.say(_verdict(held))
    report.data["hybrid_plus_held_out"] = {f"{row[0]}, {row[1]}": row[2:] for row in rows}
    waits = [[cell.cluster, cell.policy, *_waits(cell, HELD_OUT.methods)] for cell in held]
    report.say("Mean waits there, in seconds:")
    report.table(["log", "policy", *HELD_OUT.methods], waits)


def _ours(cell: Cell) -> list[str]:
    found = [share([cell], OURS, "hybrid", metric) for metric in ("wait", "makespan", "core_hours")]
    told = ["-" if one is None else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in found]
    return [cell.cluster, cell.policy, *told, f"{cell.of(OURS, 'allocations').mean():.1f}"]


def _verdict(cells: Sequence[Cell]) -> str:
    """In how many cells hybrid+ is told apart from hybrid by the ratio in the table, and on which side."""
    told = []
    for metric, said in (("wait", "waits"), ("core_hours", "uses CPU hours")):
        found = [share([cell], OURS, "hybrid", metric) for cell in cells]
        fewer, more = (sum(one is not None and apart(one) for one in found) for apart in (_below_one, _above_one))
        told.append(f"{said} less in {fewer}, more in {more}")
    return f"Of {len(cells)} cells, hybrid+ {' and '.join(told)}; in the others it is not told apart."


def _below_one(ratio: Value) -> bool:
    return ratio.high < 1


def _above_one(ratio: Value) -> bool:
    return ratio.low > 1


def _waits(cell: Cell, methods: Sequence[str]) -> list[str]:
    waits = [average([cell], how, "wait") for how in methods]
    return [f"{one.value:,.0f} [{one.low:,.0f}, {one.high:,.0f}]" for one in waits]


def add_loose(report: Report, cells: Cells) -> None:
    """Guests in allocations, against the paper's strict mapping, on the same dags and starts."""
    rows = []
    for (cluster, rules, variant), cell in cells.items():
        strict = cells.get((cluster, rules, "paper"))
        if variant != "loose" or strict is None:
            continue
        at = [strict.dags.index(dag) for dag in cell.dags]
        for how in cell.found:
            found = {how: cell.found[how], "strict": strict.found[how][at]}
            both = Cell(cluster, rules, variant, cell.dags, found)
            ratios = [share([both], how, "strict", metric) for metric in ("wait", "core_hours")]
            told = ["-" if one is None else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in ratios]
            cut = f"{both.of('strict', 'cut').mean():.1f} / {both.of(how, 'cut').mean():.1f}"
            rows.append([cluster, rules, how, *told, cut])
    if not rows:
        return
    report.say(
        "## Loose mapping",
        "An allocation runs its own jobs first, then guests that fit, by rank; nothing is started that would be cut"
        " off. Over strict mapping, by pairs:",
    )
    report.table(["cluster", "policy", "method", "wait", "CPU hours", "jobs cut off: strict / loose"], rows)
    report.data["loose"] = {", ".join(row[:3]): row[3:] for row in rows}


def add_estimates(report: Report, cells: Cells, plan: Plan) -> None:
    """How good must an estimate be for hybrid to win?"""
    names = [one.name for one in plan.variants if one.name in ("requested", "corrected", "history", "history-median")]
    places = [(cluster, rules, "requested") for rules in plan.variant_policies for cluster in CLUSTERS]
    base = {place[:2]: cells[place] for place in places if place in cells}
    if not base or len(names) < 2:
        return
    report.say(
        "## Estimates: how good must one be?",
        f"hybrid on {len(next(iter(base.values())).dags)} dags, told waits by each estimate."
        " Error: estimated less real wait of its groups, mean and without sign, in seconds. The last columns: hybrid's"
        " wait over individual's and giant's, by pairs.",
    )
    rows = []
    for name in names:
        for (cluster, rules), reference in base.items():
            cell = cells.get((cluster, rules, name))
            if cell is not None:
                rows.append([name, cluster, rules, *_errors(cell), *_over(cell, reference)])
    head = ["error", "without sign", "real wait", "hybrid waits", "/ individual", "/ giant"]
    report.table(["estimate", "cluster", "policy", *head], rows)
    report.say(*_answers(cells, base, names))
    report.data["estimates"] = {", ".join(row[:3]): row[3:] for row in rows}


def _answers(cells: Cells, base: dict[tuple[str, str], Cell], names: Sequence[str]) -> Iterator[str]:
    """With which estimates hybrid wins, and on which side they are wrong."""
    lines = []
    for name in names:
        wins, low, several = 0, 0, 0
        for place, reference in base.items():
            cell = cells.get((*place, name))
            if cell is not None:
                ratios = [share([_beside(cell, reference)], "hybrid", other) for other in ("individual", "giant")]
                wins += all(one is not None and one.high < 1 for one in ratios)
                low += bool(cell.of("hybrid", "error").sum() < 0)
                several += 1
        lines.append(
            f"- {name}: hybrid waits less than both, told apart, in {wins} of {several} cells; the estimate is too"
            f" low on average on {low}."
        )
    yield "\n".join(lines)


def _errors(cell: Cell) -> list[str]:
    judged = cell.of("hybrid", "estimates").sum()
    if not judged:
        return ["-"] * 3
    return [
        f"{cell.of('hybrid', metric).sum() / judged:,.0f}" for metric in ("error", "absolute_error", "estimated_waits")
    ]


def _over(cell: Cell, reference: Cell) -> list[str]:
    both = _beside(cell, reference)
    wait = average([both], "hybrid", "wait")
    ratios = [share([both], "hybrid", other) for other in ("individual", "giant")]
    return [
        f"{wait.value:,.0f}",
        *("-" if one is None else f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in ratios),
    ]


def _beside(cell: Cell, reference: Cell) -> Cell:
    """hybrid as one estimate has it, beside the others, which do not ask for any."""
    return Cell(cell.cluster, cell.policy, cell.variant, cell.dags, {**reference.found, "hybrid": cell.found["hybrid"]})


def add_variants(report: Report, cells: Cells, plan: Plan) -> None:
    """Wrong run times, and all jobs of a log."""
    rows = list(_variants(cells, plan))
    if not rows:
        return
    report.say(
        "## Wrong run times, and all jobs of the logs",
        f"Mean waits in seconds on {len(plan.families) * len(plan.some)} dags, 95% intervals"
        " over starts. error-σ: expected run times are wrong by a lognormal factor; jobs that an allocation cuts off"
        " run again. Requests have no margin: a job that takes any longer than expected can be cut off, so that small"
        " errors cost whole runs too. all-jobs: jobs of the log that did"
        " not finish are replayed too.",
    )
    report.table(["variant", "cluster", "policy", *METHODS, "cut off: " + " / ".join(METHODS)], rows)
    report.data["variants"] = {", ".join(row[:3]): row[3:] for row in rows}


def _variants(cells: Cells, plan: Plan) -> Iterator[list[str]]:
    for name in ("requested", *(one.name for one in plan.variants if one.error or one.jobs)):
        for cluster, rules in ((cluster, rules) for cluster in CLUSTERS for rules in plan.variant_policies):
            cell = cells.get((cluster, rules, name))
            if cell is None:
                continue
            cut = " / ".join(f"{cell.of(how, 'cut').mean():.1f}" for how in METHODS)
            shown = "as the paper" if name == "requested" else name
            yield [shown, cluster, rules, *_waits(cell, METHODS), cut]


def add_others(report: Report, cells: Cells, plan: Plan) -> None:
    """What our submissions did to the others in the queue."""
    report.say(
        "## What it did to others",
        "What one workflow changed for the jobs of the log until it ended. First the jobs that started at another"
        " time because of it, and by how much on average (+: later); then the jobs that still waited at its end and"
        " would have started without it, and for how long so far: they go on waiting, so that is the least. Both for"
        " each submission. In all: what both make together, in hours.",
    )
    rows = []
    for cluster, rules in ((cluster, rules) for cluster in CLUSTERS for rules in plan.variant_policies):
        cell = cells.get((cluster, rules, "paper"))
        if cell is not None:
            rows += [[cluster, rules, how, *_to_others(cell, how)] for how in METHODS]
    report.table(["cluster", "policy", "method", "started at another time", "still waited", "in all"], rows)
    report.data["others"] = {", ".join(row[:3]): row[3:] for row in rows}


def _to_others(cell: Cell, how: str) -> list[str]:
    """Of one method, for each submission."""
    shifted, shift = cell.of(how, "shifted"), cell.of(how, "shift")
    held, held_seconds = cell.of(how, "held"), cell.of(how, "held_seconds")
    return [
        f"{shifted.mean():,.1f} by {shift.sum() / max(1.0, shifted.sum()):+,.0f} s",
        f"{held.mean():,.1f} by at least {held_seconds.sum() / max(1.0, held.sum()):,.0f} s" if held.any() else "none",
        f"{(shift + held_seconds).mean() / 3600:+,.1f} h",
    ]
