"""Results kept one by one in a file of JSON lines, so that what was interrupted goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from headway.experiments.prio.settings import Case
from headway.model.errors import HeadwayError
from headway.model.record import asdict
from headway.sim.comparison import Effort, compared
from headway.sim.grid import Model, Queue, Workers

Result = dict[
    str, Any
]  # means{order: {metric: value}}, ratios{metric: {median, low, …}} of the first order to the last


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
        return self.compared(f"{case.name}/{case.file}", case.model, case.queues, workers, effort, done)

    def compared(
        self,
        name: str,
        model: Model,
        queues: Mapping[str, Queue],
        workers: Workers,
        effort: Effort,
        done: Callable[[float], None] = lambda jobs: None,
    ) -> Result:
        """The orders in a setting: kept, or measured now. Another dag is another key, whatever it is called."""
        known = [name, digest(model, queues), workers.interval, workers.batch, workers.whole, asdict(effort)]
        key = "/".join(map(str, known))
        if key not in self._known:
            found = compared(model, queues, workers, effort)
            ratios = {metric: asdict(ratio) for metric, ratio in found.ratios[next(iter(queues))].items()}
            self._keep({"key": key, "means": found.means, "ratios": ratios})
        done(len(queues) * model.dag.job_count * effort.p * effort.q)
        return self._known[key]

    def _keep(self, result: Result) -> None:
        self._known[result["key"]] = result
        try:
            with self._path.open("a") as out:
                out.write("\n" * self._torn + json.dumps(result) + "\n")
        except OSError as error:
            raise HeadwayError(f"{self._path}: cannot be written: {error.strerror}.") from None
        self._torn = False


def digest(model: Model, queues: Mapping[str, Queue]) -> str:
    """What is simulated, apart from the workers."""
    known = sha256(model.dag.child_start.tobytes() + model.dag.children.tobytes() + model.means.tobytes())
    for name, queue in queues.items():
        known.update(name.encode() + queue.kinds.tobytes())
    return known.hexdigest()[:16]
