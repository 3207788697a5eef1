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

from read_dagman import spread

EXAMPLE = Path(__file__).parents[1] / "examples/checkers"
SEQUENTIAL = """\
import sys, comp, ver
from slices import name, slices
for job in (comp, ver):
    for numbers in slices(int(sys.argv[1])):
        job.main(name(numbers))
"""


Figures = dict[str, float]


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkers"
        shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns("out", ".headway"))
        measured([sys.executable, "-c", SEQUENTIAL, "2"], place)  # compiles the rules
        rounds = [one_round(place, options.pieces) for _ in range(options.repeat)]
    print("| run | wall s | CPU s | greatest process, MB | wall / bound | speed-up over one slot |")
    print("|---|---|---|---|---|---|")
    for name in rounds[0]:
        found = [each[name] for each in rounds]
        cells = [
            spread([one[key] for one in found], form)
            for key, form in (("wall", ".1f"), ("cpu", ".1f"), ("peak", ".0f"))
        ]
        if "bound" in found[0]:
            cells.append(spread([one["wall"] / one["bound"] for one in found], ".2f"))
            cells.append(spread([each["1 slot"]["wall"] / each[name]["wall"] for each in rounds], ".2f"))
        print(f"| {name} | {' | '.join(cells)} |")
    both = [each["2 slots"] for each in rounds]
    path, work = (spread([one[key] for one in both], ".1f") for key in ("path", "work"))
    print(f"\nOn two slots: longest path {path} s, work {work} s.")


def one_round(place: Path, pieces: int) -> dict[str, Figures]:
    """The sequential run, then one slot, then two; each from nothing, and checked."""
    found = {"sequential": measured([sys.executable, "-c", SEQUENTIAL, str(pieces)], place)[0]}
    for slots in (1, 2):
        shutil.rmtree(place / "out")
        shutil.rmtree(place / ".headway", ignore_errors=True)
        command = [sys.executable, "-m", "headway", "run", "endgames.py", str(pieces), "--slots", str(slots), "--json"]
        figures, said = measured(command, place)
        answer = json.loads(said)
        path, work = answer["minimal_seconds"], answer["work_seconds"]
        jobs = json.loads(measured([sys.executable, "-m", "headway", "history", "--json"], place)[1])["attempts"]
        figures |= {"path": path, "work": work, "bound": max(path, work / slots)}
        figures |= {"cpu": sum(one["cpu_seconds"] for one in jobs)}
        figures |= {"peak": max(one["max_rss"] for one in jobs) / 2**20}
        found["1 slot" if slots == 1 else f"{slots} slots"] = figures
        measured([sys.executable, "check.py", str(pieces)], place)
    shutil.rmtree(place / "out")
    return found


def measured(command: Sequence[str], place: Path) -> tuple[Figures, str]:
    """A program that must succeed: its figures, and what it printed."""
    begun = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, text=True)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        out.seek(0)
        errors.seek(0)
        if status:
            raise SystemExit(f"{command}: {errors.read()}")
        return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}, out.read()


if __name__ == "__main__":
    main()
