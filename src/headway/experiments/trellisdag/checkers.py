"""The real program of the paper, up to four pieces, beside the least time that its jobs could take."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from headway.model.errors import HeadwayError
from headway.model.record import record

_SLOTS = (1, 2)


@record
class Real:
    """One run, in seconds."""

    slots: int
    seconds: float
    path: float  # the longest path, of the times that the run's jobs took
    work: float

    @property
    def bound(self) -> float:
        """No schedule takes less."""
        return max(self.path, self.work / self.slots)


def measured(example: Path, folder: Path, pieces: str = "4", rounds: int = 3) -> list[Real]:
    """Rounds of one run for each number of slots; each from nothing, its values checked. `example`: the program."""
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("out", ".headway"))
    _call(folder, "-m", "headway", "run", "endgames.py", "2")  # compiles the rules
    found = []
    for slots in _SLOTS * rounds:
        for name in ("out", ".headway"):
            shutil.rmtree(folder / name)
        begun = time.monotonic()
        said = _call(folder, "-m", "headway", "run", "endgames.py", pieces, "--slots", str(slots), "--json")
        seconds = time.monotonic() - begun
        answer = json.loads(said)
        found.append(Real(slots, round(seconds, 3), answer["minimal_seconds"], answer["work_seconds"]))
        _call(folder, "check.py", pieces)
    return found


def _call(folder: Path, *words: str) -> str:
    """What a program prints that must succeed."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise HeadwayError(f"{folder.name}: {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout
