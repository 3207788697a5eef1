"""`headway status` of 100,000 jobs from the shell: the whole command, beside an interpreter that does nothing.

.venv/bin/python benchmarks/status.py [--jobs 100000] [--repeat 15]

Half of the jobs are done. "groups": a thousand of them; "apart": jobs of no group. Of these people are shown thirty,
and --json lists every one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from read_dagman import measure, spread

from headway import Workflow
from headway.engine.ready import Room
from headway.live.store import opened
from headway.live.store.submission import Submission
from headway.model.flatten import flatten
from headway.model.messages import Finish

GROUPS = 1000
BATCH = 1000


def stored(folder: Path, jobs: int, grouped: bool) -> Path:
    """A store with a workflow that is half done; its folder."""
    workflow = Workflow("bench")
    for at in range(GROUPS if grouped else 1):
        place = workflow.group(f"group-{at}") if grouped else workflow
        for job in range(jobs // GROUPS if grouped else jobs):
            place.job(f"step-{job}", f"simulate --seed {job} > out.{at}.{job}")
    flat = flatten(workflow)
    folder.mkdir(mode=0o700)
    store = opened(folder)
    ranks = [0] * len(flat.dag)
    number = store.submissions.add(Submission("bench", str(folder / "w"), str(folder), flat, ranks), time.time())
    placeholder = store.placeholders.enter("here", os.getpid(), time.time())
    finished = list[Finish]()
    for _ in range(jobs // BATCH // 2 + 1):
        now = time.time()
        leases = store.leases.exchange(placeholder, finished, Room(BATCH, BATCH), [number], now).leases
        finished = [Finish(lease.id, 0, now, now, 1 << 20, 0.01) for lease in leases]
    store.placeholders.leave(placeholder, time.time())
    store.close()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # Python keeps compiled modules unless it is told not to
    headway = str(Path(sys.executable).parent / "headway")
    with tempfile.TemporaryDirectory() as folder:
        groups = stored(Path(folder, "groups"), options.jobs, True)
        apart = stored(Path(folder, "apart"), options.jobs, False)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "status, groups": [headway, "status", "--store", str(groups)],
            "status --json, groups": [headway, "status", "--json", "--store", str(groups)],
            "status, apart": [headway, "status", "--store", str(apart)],
            "status --json, apart": [headway, "status", "--json", "--store", str(apart)],
        }
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        for at in range(options.repeat + 1):
            for name, argv in commands.items():
                run = measure(argv)
                if at:  # the first compiles, and reads what is not in memory
                    found[name].append(run)
    floor = found["python -c pass"]
    print(f"{options.jobs:,} jobs, median (least–most) of {options.repeat} runs\n")
    print("| command | wall ms | CPU ms | wall / bare Python |")
    print("|---|---|---|---|")
    for name, runs in found.items():
        ratios = [run[0] / bare[0] for run, bare in zip(runs, floor, strict=True)]
        wall, cpu = ([1000 * run[at] for run in runs] for at in (0, 1))
        print(f"| {name} | {spread(wall, '.0f')} | {spread(cpu, '.0f')} | {spread(ratios, '.1f')} |")


if __name__ == "__main__":
    main()
