"""Two trees of Headway in interleaved pairs: how many times the CPU and the wall time of the other one this one takes.

Both trees run with the same Python and the same environment but for PYTHONPATH. The order within a pair is drawn by
lot, so that what slows the machine down for a while slows both. The ratio is the Hodges-Lehmann estimate (the median of
the means of all two pairs), its bound the one of Wilcoxon's signed-rank test: one pair that met a busy machine moves
neither, which would not be so for a mean.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LIMIT = 1.03
CONFIDENCE = 0.95
LEAST_PAIRS = 5  # with fewer, no bound has 95% confidence
SUBMIT = "submit"
# How many pairs, and about how many minutes they take on a machine with two cores.
PAIRS = {
    "bag1000": (60, 2),
    "layers": (60, 2),
    "chain1000": (60, 4),
    "bag10000": (16, 4),
    "layers10000": (16, 5),
    "chain10000": (12, 6),
    "bag100000": (8, 20),
    "layers100000": (5, 8),
    "chain100000": (5, 19),
    "submit1000000": (8, 12),
}


def upper_bound(ratios: Sequence[float]) -> tuple[float, float]:
    """The middle of ratios, and the value below which it lies with 95% confidence."""
    logs = [math.log(ratio) for ratio in ratios]
    walsh = sorted((one + other) / 2 for at, one in enumerate(logs) for other in logs[at:])
    # The chance that the signed-rank sum is at most `rank`, for pairs that do not differ.
    ways = [1]
    for size in range(1, len(logs) + 1):
        longer = ways + [0] * size
        for total, count in enumerate(ways):
            longer[total + size] += count
        ways = longer
    seen, rank = 0, -1
    while seen + ways[rank + 1] <= (1 - CONFIDENCE) * 2 ** len(logs):
        rank += 1
        seen += ways[rank]
    if rank < 0:
        raise ValueError(f"{len(logs)} pairs are too few for a bound: {LEAST_PAIRS} are enough.")
    return math.exp(statistics.median(walsh)), math.exp(walsh[len(walsh) - 1 - rank])


def environment(tree: Path) -> dict[str, str]:
    """What a tree runs with. Python keeps compiled modules, as it does unless it is told not to."""
    if not (tree / "src" / "headway").is_dir():
        sys.exit(f"{tree} is no tree of Headway: it has no src/headway.")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWAY_", "PYTHON"))}
    return {**ours, "PYTHONPATH": str(tree / "src")}


def write_submission(folder: Path, jobs: int) -> None:
    """Jobs of which only the first can start; it fails, so that nothing is left to run once all are submitted."""
    with (folder / "w.sh").open("w") as out:
        out.write('mqsub -deps "" -l N1 -c /bin/false\n')
        out.writelines(f'mqsub -deps "N{node // 2}" -l N{node} -c /bin/true\n' for node in range(2, jobs + 1))


def measure(kind: str, folder: Path, store: str, tree: Path) -> tuple[float, float]:
    """Wall seconds until the command returns, and CPU seconds of all that it started.

    A submission is over when `headway run --detach` returns: then the runner has everything and its first job begins.
    """
    detach = ["--detach"] if kind.startswith(SUBMIT) else []
    argv = [sys.executable, "-m", "headway", "run", "w.sh", *detach, "--slots", "2", "--store", store]
    start = time.perf_counter()
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment(tree),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall, cpu = 0.0, 0.0
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return wall, cpu
        if pid == process.pid:
            wall, process.returncode = time.perf_counter() - start, os.waitstatus_to_exitcode(status)
            if process.returncode:
                sys.exit(f"{argv} failed with {process.returncode} in {folder}, PYTHONPATH={tree / 'src'}")
        cpu += usage.ru_utime + usage.ru_stime


def compare(
    kinds: Sequence[str], pairs: int | None, other: Path, scratch: Path, write: Callable[[Path, str], int]
) -> bool:
    """Prints a line for each kind of workflow; whether every bound is at most 1.03."""
    trees = (Path(__file__).resolve().parents[1], other.resolve())
    print(f"{trees[0]} / {trees[1]}: ratio (upper 95% bound); at most {LIMIT}\n")
    print("| workflow | pairs | CPU a job | wall time | CPU ms a job | wall s | |")
    print("|---|---|---|---|---|---|---|", flush=True)
    good = True
    lot = random.Random(1)
    for kind in kinds:
        folder = scratch / kind
        folder.mkdir()
        jobs = write(folder, kind)
        count = pairs or PAIRS.get(kind, (30, 0))[0]
        for at, tree in enumerate(trees):  # compiles what is not compiled yet
            measure("one", _one(scratch, write), f"before-{kind}-{at}", tree)
        found: tuple[list[tuple[float, float]], ...] = ([], [])
        for turn in range(count):
            for at in lot.sample((0, 1), 2):
                store = f"store{turn}-{at}"
                found[at].append(measure(kind, folder, store, trees[at]))
                if kind.startswith(SUBMIT):  # one large file. Of many small ones the deletion slows down what follows
                    shutil.rmtree(folder / store)
        results = [
            upper_bound([ours[which] / theirs[which] for ours, theirs in zip(*found, strict=True)]) for which in (1, 0)
        ]
        holds = all(bound <= LIMIT for _, bound in results)
        good = good and holds
        cells = [f"{ratio:.3f} ({bound:.3f})" for ratio, bound in results]
        cells += [f"{statistics.median(cpu * 1000 / jobs for _, cpu in found[0]):.3f}"]
        cells += [f"{statistics.median(wall for wall, _ in found[0]):.2f}", "" if holds else "**above**"]
        print(f"| {kind} | {count} | {' | '.join(cells)} |", flush=True)
    return good


def _one(scratch: Path, write: Callable[[Path, str], int]) -> Path:
    folder = scratch / "before"
    if not folder.is_dir():
        folder.mkdir()
        write(folder, "one")
    return folder
