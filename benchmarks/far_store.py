"""A runner whose store is at the other end of a relay that delays every message: how busy are its slots?

    .venv/bin/python benchmarks/far_store.py [--delay 0.05] [--jobs 200] [--repeat 3]

For jobs of 100 ms and for jobs that do nothing: the share of the slots' time in which a job ran, from the first start
to the last end as the store has them, and the wall time beside `xargs -P2`, which runs the same just before it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.doors.far import FarRunner

SLOTS = 2


def floor(jobs: int, words: list[str]) -> float:
    """Seconds that xargs takes for the same jobs."""
    begun = time.monotonic()
    lines = "".join(f"{words[-1]}\n" for _ in range(jobs))
    subprocess.run(["xargs", "-P", str(SLOTS), "-n", "1", *words[:-1]], input=lines, text=True, check=True)
    return time.monotonic() - begun


def measured(jobs: int, seconds: float, delay: float) -> tuple[float, float]:
    """The share of time that slots were busy, and the wall time of the run."""
    with tempfile.TemporaryDirectory() as folder:
        far = FarRunner(Path(folder), delay)
        command = f"sleep {seconds}" if seconds else "/bin/true"
        workflow = far.add("".join(f"mqsub -l J{at} -c '{command}'\n" for at in range(jobs)))
        far.start()
        begun = time.monotonic()
        for _ in far.watch(workflow, SLOTS):
            pass
        wall = time.monotonic() - begun
        attempts = far.store.progress.attempts(workflow)
        times = [(one[3], one[4]) for one in attempts]
        starts = [start for start, _ in times if isinstance(start, float)]
        ends = [end for _, end in times if isinstance(end, float)]
        assert len(starts) == len(ends) == jobs
        busy = sum(ends) - sum(starts)
        far.stop()
        return busy / (SLOTS * (max(ends) - min(starts))), wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds each way")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    wish = parser.parse_args()
    print(f"delay {wish.delay * 1000:.0f} ms each way, {SLOTS} slots, median (least to most) of {wish.repeat}\n")
    print("| jobs | slots busy | wall / xargs |")
    print("|---|---|---|")
    for seconds, words, jobs in (
        (0.1, ["sleep", "0.1"], wish.jobs),
        (0.0, ["env", "/bin/true"], 10 * wish.jobs),
    ):
        shares, ratios = list[float](), list[float]()
        for _ in range(wish.repeat):
            least = floor(jobs, words)
            share, wall = measured(jobs, seconds, wish.delay)
            shares.append(share)
            ratios.append(wall / least)
        what = f"{jobs:,} of {seconds * 1000:.0f} ms"
        print(
            f"| {what} | {statistics.median(shares):.3f} ({min(shares):.3f} to {max(shares):.3f})"
            f" | {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |",
            flush=True,
        )


if __name__ == "__main__":
    main()
