"""The answer of `headway run --dry-run`."""

from __future__ import annotations

import sys
from pathlib import Path

from headway.cli.commands.running import MOST_WARNINGS
from headway.cli.display.answer import print_json
from headway.cli.display.terminal import one_line
from headway.live.answers.run import planned as answer
from headway.live.runs.selection import Choice


def dry_run(choice: Choice, store: Path | str, fresh: bool, edited: str, json: bool) -> int:
    """Prints what a run would do with each job. Makes no folder, no store, and changes nothing in one."""
    from headway.live.runs.dry_run import dry_run as planned

    warnings = list[str]()
    flat, plan = planned(choice, store, fresh, edited, warnings)
    for warning in warnings[:MOST_WARNINGS]:
        print(one_line(f"warning: {warning}"), file=sys.stderr)
    names = flat.dag.names
    verdicts = [(names[node], verdict) for node, verdict in enumerate(plan.verdicts) if verdict is not None]
    if json:
        print_json(answer(verdicts, warnings))
        return 0
    runs = sum(verdict.runs for _, verdict in verdicts)
    for name, verdict in verdicts:
        print(f"{'run ' if verdict.runs else 'skip'}  {one_line(name)}: {verdict.reason}")
    sys.stdout.flush()
    print(f"{runs:,} of {len(verdicts):,} jobs would run.", file=sys.stderr)
    return 0
