"""The checkers example up to four pieces: headway on one and two slots beside a plain sequential program.

    .venv/bin/python benchmarks/checkers.py [--pieces 4] [--repeat 3]

The sequential run computes and verifies the same slices in one process, from the same code. The bound is that of the
run itself: the longest path, or the work divided by the slots, whichever is longer. Every run is checked against
trusted.json. Rounds are interleaved; shown are median (least-most).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from read_dagman import spread

EXAMPLE = Path(__file__).parents[1] / "examples/checkers"
_SEQUENTIAL = """\
import sys, comp, ver
from slices import name, slices
for job in (comp, ver):
    for numbers in slices(int(sys.argv[1])):
        job.main(name(numbers))
"""


def main() -> None:
    """Measures, and prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkers"
        shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns("out", ".headway"))
        run([sys.executable, "-c", _SEQUENTIAL, "2"], place)  # compiles the rules
        rounds = [one_round(place, options.pieces) for _ in range(options.repeat)]
    print("| run | wall s | CPU s | greatest process MB | wall / bound | speed-up over 1 slot |")
    print("|---|---|---|---|---|---|")
    for name in rounds[0]:
        found = [each[name] for each in rounds]
        cells = [spread([one[key] for one in found], "{:.1f}") for key in ("wall", "cpu", "peak")]
        if name == "sequential":
            print(f"| {name} | {' | '.join(cells)} | | |")
            continue
        over = spread([one["wall"] / one["bound"] for one in found], "{:.2f}")
        faster = spread([each["1 slot"]["wall"] / each[name]["wall"] for each in rounds], "{:.2f}")
        print(f"| {name} | {' | '.join(cells)} | {over} | {faster} |")
    both = [each["2 slots"] for each in rounds]
    path, work = (spread([one[key] for one in both], "{:.1f}") for key in ("path", "work"))
    most = spread([one["work"] / one["bound"] for one in both], "{:.2f}")
    print(f"\nOn two slots: longest path {path} s, work {work} s, so a speed-up of {most} at most.")


def one_round(place: Path, pieces: int) -> dict[str, dict[str, float]]:
    """The sequential run, then one slot, then two."""
    clean(place)
    found = {"sequential": measured([sys.executable, "-c", _SEQUENTIAL, str(pieces)], place)}
    for slots in (1, 2):
        clean(place)
        command = [sys.executable, "-m", "headway", "run", "endgames.py", str(pieces), "--slots", str(slots)]
        name = f"{slots} slot{'s' if slots > 1 else ''}"
        found[name] = measured(command, place)
        found[name] |= bounds(place, slots)
        run([sys.executable, "check.py", str(pieces)], place)
    return found


def bounds(place: Path, slots: int) -> dict[str, float]:
    """The longest path and the work, of the times that this run's jobs took; and the memory of the greatest job."""
    attempts = asked(place, "history", "--json")["attempts"]
    seconds = {one["job"]: one["ended"] - one["started"] for one in attempts}
    sys.path.insert(0, str(place))
    from slices import plays_into  # type: ignore[import-not-found]

    ends: dict[tuple[int, ...], float] = {}
    for job in sorted((job for job in seconds if "#" not in job), key=_size):
        numbers = _numbers(job)
        before = {_home(each): ends[each] for each in plays_into(numbers)}
        ends[numbers] = max(before.values(), default=0.0) + seconds[job]
    path = max(ends[_numbers(job)] + seconds[f"{job}#2"] for job in seconds if "#" not in job)
    work = sum(seconds.values())
    return {
        "path": path,
        "work": work,
        "bound": max(path, work / slots),
        "cpu": sum(one["cpu_seconds"] for one in attempts),
        "peak": max(one["max_rss"] for one in attempts) / 2**20,
    }
