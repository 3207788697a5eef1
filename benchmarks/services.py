"""What TrellisDAG's services cost: CPU of each call on SQLite against bare Python, and placeholder.sh for each job.

.venv/bin/python benchmarks/services.py [--repeat 20] [--jobs 1000,100000]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from read_dagman import measure, spread

SCRIPT = Path(__file__).parents[1] / "src/headway/live/placeholder/placeholder.sh"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--jobs", default="1000,100000")
    asked = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its modules compiled
    print(f"median (least–most) of {asked.repeat} runs\n")
    print("| jobs in the store | call | wall ms | CPU ms | CPU / bare Python |")
    print("|---|---|---|---|---|")
    for jobs in map(int, asked.jobs.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            submitted(Path(folder), jobs)
            calls(folder, jobs, asked.repeat)
    print("\n| placeholder.sh, services on this host | wall ms a job | CPU ms a job |")
    print("|---|---|---|")
    for jobs in (20, 100):
        with tempfile.TemporaryDirectory() as folder:
            submitted(Path(folder), jobs)
            words = ["sh", str(SCRIPT), "-b", program(""), "-p", f"{folder}/.headway", "-l", f"{folder}/own"]
            wall, cpu, _ = measure(words)
            print(f"| {jobs} jobs of /bin/true | {1000 * wall / jobs:.0f} | {1000 * cpu / jobs:.0f} |")


def submitted(folder: Path, jobs: int) -> None:
    """A workflow of no-ops in the store of a folder."""
    (folder / "w.py").write_text(
        f"from headway import Workflow\nw = Workflow()\nfor at in range({jobs}):\n    w.job(f'j{{at}}', '/bin/true')\n"
    )
    subprocess.run([program("headway"), "submit", "w.py"], cwd=folder, check=True, capture_output=True)


def calls(folder: str, jobs: int, repeat: int) -> None:
    """The services for one job, as often as is asked for; the first time warms up."""
    os.environ["HEADWAY_STORE"] = f"{folder}/.headway"
    found: dict[str, list[tuple[float, float, float]]] = {}
    floor = []
    for at in range(repeat + 1):
        who = ["sched=none", f"sched_id=p{at}", "submit_host=here", "host=here"]
        id = ""
        bare = measure([sys.executable, "-c", "pass"])
        for name in ("mqnextjob", "mqgetjobcommand", "mqgetjobattribute", "mqdonejob"):
            words = who if name == "mqnextjob" else [f"id={id}"]
            words += ["attribute=script"] if name == "mqgetjobattribute" else []
            out = Path(folder, "out")
            taken = measure(["sh", "-c", f'exec "$@" > {out}', "sh", program(name), *words])
            if name == "mqnextjob":
                id = out.read_text().strip()
                assert id, "no job was given"
            if at:
                found.setdefault(name, []).append(taken)
        if at:
            floor.append(bare)
    del os.environ["HEADWAY_STORE"]
    for name, runs in found.items():
        ratios = [run[1] / bare[1] for run, bare in zip(runs, floor, strict=True)]
        wall, cpu = ([1000 * run[at] for run in runs] for at in (0, 1))
        print(f"| {jobs:,} | {name} | {spread(wall, '.0f')} | {spread(cpu, '.0f')} | {spread(ratios, '.1f')} |")


def program(name: str) -> str:
    return str(Path(sys.executable).parent / name)


if __name__ == "__main__":
    main()
