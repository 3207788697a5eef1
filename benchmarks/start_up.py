"""What a call costs before it does anything: `headway --help`, `headway show` of one job, `mqsub`; against bare Python.

And how soon a file is refused that would grow without end: 1 MB of xz that unpacks to 6 GB.

.venv/bin/python benchmarks/start_up.py [--repeat 20]

With --against, `headway --help` and `headway show` of one job are measured beside another tree of Headway instead, in
pairs as in run_local.py.

.venv/bin/python benchmarks/start_up.py --against DIR [--repeat 60]
"""

from __future__ import annotations

import argparse
import lzma
import os
import random
import sys
import tempfile
from pathlib import Path

from against import environment, upper_bound
from read_dagman import measure, spread

REFUSED = "headway show, refused for its size"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, help="20, or 60 pairs")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another tree of Headway")
    options = parser.parse_args()
    if options.against is not None:
        compare(options.against.resolve(), options.repeat or 60)
        return
    repeat = options.repeat or 20
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "one.sh"
        script.write_text("mqsub -l A -c true\n")
        os.environ["HEADWAY_SUBMISSIONS"] = str(Path(folder) / "submissions.sh")
        bomb = Path(folder) / "bomb.dag.xz"
        bomb.write_bytes(lzma.compress(b"# nothing but a remark\n" * 3_000_000, preset=0) * 90)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "headway --help": [str(programs / "headway"), "--help"],
            "headway show, one job": [str(programs / "headway"), "show", str(script)],
            "mqsub": [str(programs / "mqsub"), "-l", "A", "-c", "true"],
            REFUSED: [str(programs / "headway"), "show", str(bomb)],
        }
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
        for _ in range(repeat):
            for name, argv in commands.items():
                found[name].append(measure(argv, 2 if name == REFUSED else 0))
    floor = found["python -c pass"]
    print(f"median (least–most) of {repeat} runs\n")
    print("| command | wall ms | CPU ms | CPU / bare Python |")
    print("|---|---|---|---|")
    for name, runs in found.items():
        ratios = [run[1] / bare[1] for run, bare in zip(runs, floor, strict=True)]
        wall, cpu = ([1000 * run[at] for run in runs] for at in (0, 1))
        print(f"| {name} | {spread(wall, '.0f')} | {spread(cpu, '.0f')} | {spread(ratios, '.1f')} |")


def compare(other: Path, pairs: int) -> None:
    """How many times the CPU and the wall time of another tree this one takes."""
    trees = [Path(__file__).resolve().parent.parent, other]
    environments = {tree: environment(tree) for tree in trees}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "one.sh"
        script.write_text("mqsub -l A -c true\n")
        commands = {"headway --help": ["--help"], "headway show, one job": ["show", str(script)]}
        print(f"{pairs} pairs against the other tree: ratio (upper 95% bound)\n")
        print("| command | CPU | wall time | CPU ms |")
        print("|---|---|---|---|")
        for name, words in commands.items():
            ratios: tuple[list[float], list[float]] = ([], [])
            spent = []
            for pair in range(-2, pairs):  # the first two fill what Python and the system keep
                found = {}
                for tree in random.sample(trees, 2):
                    found[tree] = measure([sys.executable, "-m", "headway", *words], env=environments[tree])
                if pair >= 0:
                    spent.append(1000 * found[trees[0]][1])
                    for at, values in enumerate(ratios):
                        values.append(found[trees[0]][1 - at] / found[trees[1]][1 - at])
            bounds = ["{:.3f} ({:.3f})".format(*upper_bound(values)) for values in ratios]
            print(f"| {name} | {bounds[0]} | {bounds[1]} | {spread(spent, '.0f')} |", flush=True)


if __name__ == "__main__":
    main()
