"""Results kept one by one in a file of JSON lines, so that what was interrupted goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headway.experiments.prio.settings import Case
from headway.model.errors import HeadwayError
from headway.model.record import asdict
from headway.sim.comparison import Effort, compared
from headway.sim.grid import Workers

Result = dict[str, Any]  # ratios{metric: {median, low, …}}, means{order: {metric: value}}


class Results:
    """A line for each setting, {"key": …, "means": …, "ratios": …}; a line cut short by a crash is done again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Result] = {}
        try:
            text = path.read_text(errors="replace") if path.exists() else ""
        except OSError as error:
            raise HeadwayError(f"{path}: cannot be read: {error.strerror}.", "Choose another place with -o.") from None
        for line in text.splitlines():
            try:
                found = json.loads(line)
                self._known[found["key"]] = found
            except (ValueError, KeyError, TypeError):
                continue
        self._torn = bool(text) and not text.endswith("\n")

    def comparison(
        self, case: Case, workers: Workers, effort: Effort, done: Callable[[float], None] = lambda jobs: None
    ) -> Result:
        """PRIO over FIFO in a setting: kept, or measured now."""
        key = "/".join(
            map(
                str, (case.name, case.file, case.digest, workers.interval, workers.batch, workers.whole, asdict(effort))
            )
        )
        if key not in self._known:
            found = compared(case.model, case.queues, workers, effort)
            ratios = {metric: asdict(ratio) for metric, ratio in found.ratios["prio"].items()}
            self._keep({"key": key, "means": found.means, "ratios": ratios})
        done(2 * case.dag.job_count * effort.p * effort.q)
        return self._known[key]

    def _keep(self, result: Result) -> None:
        self._known[result["key"]] = result
        try:
            with self._path.open("a") as out:
                out.write("\n" * self._torn + json.dumps(result) + "\n")
        except OSError as error:
            raise HeadwayError(f"{self._path}: cannot be written: {error.strerror}.") from None
        self._torn = False
