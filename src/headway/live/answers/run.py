"""The answers of `headway run`: how it ended, and of --dry-run what it would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.engine.plan import Verdict
    from headway.live.runs.deadline import Deadline
    from headway.live.runs.session import Outcome


def answer(outcome: Outcome, store: str, warnings: Sequence[str], deadline: Deadline | None = None) -> dict[str, Any]:
    """As docs/json.md says."""
    failures = [{"job": one.job, "exit_code": one.exit_code, "log": one.log} for one in outcome.failures]
    met = {}
    if deadline is not None:
        met = {"deadline": deadline.end, "met": deadline.is_met, "slack": deadline.slack}
    return {
        "done": outcome.tally.done,
        "failed": outcome.tally.failed,
        "skipped": outcome.tally.skipped,
        "left_out": outcome.tally.left_out,
        "seconds": outcome.seconds,
        "minimal_seconds": outcome.bounds.minimal,
        "work_seconds": outcome.bounds.total,
        "slots": outcome.bounds.slots,
        "slot_seconds": outcome.bounds.work,
        "attempts": outcome.bounds.attempts,
        "store": store,
        "failures": failures,
        "warnings": list(warnings),
        **met,
    }


def planned(verdicts: Sequence[tuple[str, Verdict]], warnings: Sequence[str]) -> dict[str, Any]:
    """What would happen to each job, by its name."""
    counts = Counter(str(verdict.why) for _, verdict in verdicts)
    jobs = [
        {
            "job": name,
            "runs": verdict.runs,
            "why": str(verdict.why),
            "because": verdict.because or None,
            "reason": verdict.reason,
        }
        for name, verdict in verdicts
    ]
    runs = sum(verdict.runs for _, verdict in verdicts)
    return {"runs": runs, "counts": dict(counts), "jobs": jobs, "warnings": warnings}
