"""What a call costs before it does anything: `headway --help`, `headway show` of one job, `mqsub`; against bare Python.

And how soon a file is refused that would grow without end: 1 MB of xz that unpacks to 6 GB.

.venv/bin/python benchmarks/start_up.py [--repeat 20]
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
import tempfile
from pathlib import Path

from read_dagman import measure, spread

REFUSED = "headway show, refused for its size"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    repeat = parser.parse_args().repeat
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


if __name__ == "__main__":
    main()
