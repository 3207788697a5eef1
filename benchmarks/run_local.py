"""`headway run` on this computer against `xargs -P2` (the floor) and `make -j2`, all starting /bin/true.

    .venv/bin/python benchmarks/run_local.py [--repeat 5] [--kinds one bag1000 bag10000 layers chain] [--sync full]
    .venv/bin/python benchmarks/run_local.py --against DIR [--kinds bag1000 layers ...] [--pairs N]

Every figure is a ratio to the floor taken just before it: wall time as its user sees it, and CPU of the whole tree (the
runner and all jobs included: this process adopts what is orphaned). Logs, leases and history are on, as by default.
Python keeps compiled modules, as it does unless it is told not to: a run before the first one measured sees to that.

With --against, this tree and the one in DIR (another version, from `git worktree add DIR COMMIT`) run in interleaved
pairs, and the ratio of CPU a job and of wall time is printed with its upper 95% bound; the exit code is 1 if a bound is
above 1.03. Both use this Python. What can be named with --kinds then, and what is run without it:
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from against import LEAST_PAIRS, PAIRS, SUBMIT, compare, write_submission
from read_dagman import spread

PR_SET_CHILD_SUBREAPER = 36
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def arcs(kind: str) -> list[list[int]]:
    """For each job the jobs before it."""
    if kind == "one":
        return [[]]
    if kind.startswith("bag"):
        return [[] for _ in range(int(kind[3:]))]
    if kind.startswith("layers"):
        jobs = range(int(kind[6:] or 1000))
        return [[] if at < 100 else [at - 100, at - 100 - at % 100 + (at + 1) % 100] for at in jobs]
    return [[at - 1] if at else [] for at in range(int(kind[5:] or 500))]  # a chain


def write(folder: Path, kind: str) -> int:
    if kind.startswith(SUBMIT):
        jobs = int(kind.removeprefix(SUBMIT))
        write_submission(folder, jobs)
        return jobs
    before = arcs(kind)
    flat = [
        f'mqsub -deps "{" ".join(f"j{p}" for p in parents)}" -l j{at} -c /bin/true' for at, parents in enumerate(before)
    ]
    make = [f"all: {' '.join(f'j{at}' for at in range(len(before)))}"]
    make += [f"j{at}: {' '.join(f'j{p}' for p in parents)}\n\t@/bin/true" for at, parents in enumerate(before)]
    (folder / "w.sh").write_text("\n".join(flat) + "\n")
    (folder / "Makefile").write_text("\n".join(make) + "\n")
    return len(before)


def measure(argv: list[str], folder: Path) -> tuple[float, float, float]:
    """Wall seconds until the command ends, CPU seconds and peak MB of all it started."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, cpu, peak, code = 0.0, 0.0, 0, 0
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        if pid == process.pid:
            wall, code = time.perf_counter() - start, os.waitstatus_to_exitcode(status)
        cpu += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)
    if code:
        sys.exit(f"{argv} failed with {code}")
    return wall, cpu, peak / 1024


def main() -> None:
    durations = "\n".join(
        f"    {kind:14}{pairs:3} pairs, about {minutes} min" for kind, (pairs, minutes) in PAIRS.items()
    )
    parser = argparse.ArgumentParser(
        description=f"{__doc__}{durations}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--kinds", nargs="+", metavar="KIND", help="one, bagN, layers, layersN, chain, chainN, submitN (with --against)"
    )
    parser.add_argument("--sync", default="normal")
    parser.add_argument("--against", type=Path, metavar="DIR", help="compare with the tree in DIR")
    parser.add_argument("--pairs", type=int, metavar="N", help=f"with --against; at least {LEAST_PAIRS}")
    options = parser.parse_args()
    if options.pairs is not None and options.pairs < LEAST_PAIRS:
        parser.error(f"--pairs {options.pairs} are too few for a bound: give {LEAST_PAIRS} or more.")
    if options.against is None and any(kind.startswith(SUBMIT) for kind in options.kinds or ()):
        parser.error("submitN needs --against.")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    if options.against is not None:
        with tempfile.TemporaryDirectory() as scratch:
            good = compare(options.kinds or list(PAIRS), options.pairs, options.against, Path(scratch), write)
        sys.exit(not good)
    against_xargs(options.kinds or ["one", "bag1000", "layers", "chain", "bag10000"], options.repeat, options.sync)


def against_xargs(kinds: list[str], repeat: int, sync: str) -> None:
    headway = str(Path(sys.executable).parent / "headway")
    print(f"median (least–most) of {repeat} runs\n")
    print("| workflow | headway wall s | / xargs | CPU ms a job | peak MB | make / xargs |")
    print("|---|---|---|---|---|---|")
    # Stores are not deleted between repetitions: creating files after a mass deletion is slow on ext4.
    with tempfile.TemporaryDirectory() as scratch:
        for kind in kinds:
            folder = Path(scratch) / kind
            folder.mkdir()
            jobs = write(folder, kind)
            width = "-P1" if kind.startswith("chain") else "-P2"
            if kind == kinds[0]:
                measure([headway, "run", "w.sh", "--store", "before"], folder)
            walls, ratios, cpus, peaks, makes = [], [], [], [], []
            for turn in range(repeat):
                floor = measure(["sh", "-c", f"seq {jobs} | xargs {width} -n1 /bin/true"], folder)[0]
                store = ["--store", f"store{turn}", "--sync", sync]
                wall, cpu, peak = measure([headway, "run", "w.sh", "--slots", "2", *store], folder)
                walls.append(wall)
                ratios.append(wall / floor)
                cpus.append(1000 * cpu / jobs)
                peaks.append(peak)
                makes.append(measure(["make", "-j2"], folder)[0] / floor)
            cells = [spread(walls, ".2f"), spread(ratios, ".2f"), spread(cpus, ".2f"), spread(peaks, ".0f")]
            print(f"| {kind} | {' | '.join(cells)} | {spread(makes, '.2f')} |", flush=True)


if __name__ == "__main__":
    main()
