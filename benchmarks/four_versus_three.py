"""TrellisDAG's experiment on every kind of placeholder, on real servers that are started for it (needs root; an hour).

    .venv/bin/python benchmarks/four_versus_three.py [--quick] [-o DIR]

Two reports, as `headway reproduce trellisdag --on …` writes them; interrupted, it goes on.

    runners  the store is on a PostgreSQL server; placeholders on this computer, at a host behind ssh, and in Slurm and
             Grid Engine as the engine asks for them
    scripts  the store is a file; placeholder.sh in Grid Engine, as in the paper with one job each and submitted again,
             and twenty placeholders at as many hosts behind ssh. The script calls a service three times a job: with a
             server, twenty of them would take more of two cores for starting its client than there is.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.infra.hosts import throw_away as hosts
from tests.infra.postgres import throw_away as postgres
from tests.infra.queues import gridengine, slurm

ROOT = Path(__file__).parents[1]
SLOTS = 20  # the paper's
PARTS = {"runners": ("local", "ssh", "slurm", "gridengine"), "scripts": ("gridengine-scripts", "ssh-*")}
SITES = f"""\
[sites.ssh]
host = "h1"
shared = true
slots = {SLOTS}
"""
EACH = """
[sites.ssh-{0}]
host = "h{0}"
shared = true
slots = 1
"""
QUEUE = """
[sites.{0}]
queue = "{0}"
allocations = {1}
cores = 1
time = "50m"
job_time = "1m"
idle = "30"
look = "1"
"""


def main() -> None:
    """Starts the servers, and the experiments on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="twenty seconds a run, not two minutes")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/reproduced/trellisdag")
    parser.add_argument("--part", choices=PARTS, help="this report alone")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers end with it
    with ExitStack() as servers:
        enter = servers.enter_context
        folder = Path(enter(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        server, far = enter(postgres("fsync = on")), enter(hosts(SLOTS))
        queues = enter(slurm(SLOTS, 1)), enter(gridengine(SLOTS))
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
        paths = []
        for one in (far, *queues):
            more = {name: value for name, value in one.environment.items() if os.environ.get(name) != value}
            paths.append(more.pop("PATH", ""))
            environment |= more
        environment["PATH"] = ":".join([str(Path(sys.executable).parent), *filter(None, paths), os.environ["PATH"]])
        sites = [EACH.format(number + 1) for number in range(SLOTS)]
        sites += [QUEUE.format(name, SLOTS) for name in ("slurm", "gridengine")]
        (folder / "headway.toml").write_text(SITES + "".join(sites))
        for part, places in PARTS.items():
            if options.part in (None, part):
                command = [sys.executable, "-m", "headway", "reproduce", "trellisdag"]
                command += [word for on in places for word in ("--on", on)]
                command += ["--store", server.url] if part == "runners" else []
                output = options.output / ("" if part == "runners" else part)
                command += ["--quick" if options.quick else "--full", "-o", str(output.resolve())]
                subprocess.run(command, cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main()
