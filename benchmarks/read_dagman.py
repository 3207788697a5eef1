"""How fast and how large: reading and analysing a DAGMan file, against a plain Python loop over the same lines.

    .venv/bin/python benchmarks/read_dagman.py [--nodes 100000 1000000] [--repeat 5]

The DAG is a binary tree with one VARS line and one arc a node. Both sides are whole processes started from the shell's
point of view, taken in turns. DAGMan's own parser (C++, 25.14), measured on a machine of two cores: 1.6 s and 96 MB for
100,000 nodes, 18.5 s and 790 MB for a million, without any analysis.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

LOOP = "import sys\nfor line in open(sys.argv[1]):\n    line.split()\n"
DAGMAN = {100_000: (1.6, 96), 1_000_000: (18.5, 790)}


def write_tree(path: Path, nodes: int) -> None:
    with path.open("w") as out:
        for node in range(1, nodes + 1):
            out.write(f"JOB N{node} node.sub\n")
        for node in range(1, nodes + 1):
            out.write(f'VARS N{node} index="{node}"\n')
        for node in range(2, nodes + 1):
            out.write(f"PARENT N{node // 2} CHILD N{node}\n")


def measure(argv: list[str], exit_code: int = 0, env: Mapping[str, str] | None = None) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory in MB of one process."""
    start = time.perf_counter()
    errors = subprocess.DEVNULL if exit_code else None
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=errors, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != exit_code:
        sys.exit(f"{argv} failed with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def spread(values: list[float], form: str) -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    headway = str(Path(sys.executable).parent / "headway")
    print("median (least–most) of", options.repeat, "runs\n")
    print("| nodes | wall s | CPU s | peak MB | wall / plain loop | CPU / plain loop | DAGMan's parser, elsewhere |")
    print("|---|---|---|---|---|---|---|")
    for nodes in options.nodes:
        with tempfile.TemporaryDirectory() as folder:
            dag = Path(folder) / "tree.dag"
            write_tree(dag, nodes)
            (Path(folder) / "node.sub").write_text("executable = /bin/true\nqueue\n")
            ours, floors = [], []
            for _ in range(options.repeat):
                floors.append(measure([sys.executable, "-c", LOOP, str(dag)]))
                ours.append(measure([headway, "show", "--json", str(dag)]))
        ratios = [[our[at] / floor[at] for our, floor in zip(ours, floors, strict=True)] for at in (0, 1)]
        known = "{} s, {} MB".format(*DAGMAN[nodes]) if nodes in DAGMAN else "-"
        cells = [spread([our[at] for our in ours], form) for at, form in ((0, ".2f"), (1, ".2f"), (2, ".0f"))]
        cells += [spread(ratio, ".1f") for ratio in ratios]
        print(f"| {nodes:,} | {' | '.join(cells)} | {known} |", flush=True)


if __name__ == "__main__":
    main()
