"""Runs that are kept until all are done, so that an experiment of an hour goes on where it was interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from headway.experiments.trellisdag.replay import Times


class Kept:
    """A file of JSON lines, one for each run; lines of another set-up, or cut short, count for nothing."""

    def __init__(self, path: Path, setup: str) -> None:
        self._path, self._setup = path, setup
        self._known: dict[str, Times] = {}
        text = path.read_text() if path.exists() else ""
        self._whole = text[: text.rfind("\n") + 1]
        for line in self._whole.splitlines():
            one = json.loads(line)
            if one["setup"] == setup:
                self._known[one["run"]] = Times({job: (start, end) for job, (start, end) in one["spans"].items()})

    def once(self, name: str, measure: Callable[[], Times], known: Callable[[], None]) -> Times:
        """What is known of a run, which `known` is told, or is measured now."""
        if name in self._known:
            known()
            return self._known[name]
        found = self._known[name] = measure()
        self._whole += json.dumps({"setup": self._setup, "run": name, "spans": dict(found.spans)}) + "\n"
        aside = self._path.with_suffix(".part")
        aside.write_text(self._whole)
        aside.replace(self._path)
        return found

    def remove(self) -> None:
        """The next experiment measures everything itself."""
        self._path.unlink(missing_ok=True)
