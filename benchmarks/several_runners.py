"""Two runners at one workflow on a PostgreSQL server: how soon work starts that became eligible elsewhere.

.venv/bin/python benchmarks/several_runners.py [--layers 100] [--seconds 0.1]

Each layer has two jobs, which wait for both jobs of the layer before. Each runner has one slot, so one of the two jobs
is started by the runner that did not make it eligible: by a notification of the server. The floor is one runner with
two slots on the same server, in the same run: no notification is needed there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from read_dagman import spread
from tests.contracts.conftest import emptied
from tests.infra.postgres import throw_away
from tests.live.crew_of_runners import Crew


def lines(layers: int, seconds: float) -> list[str]:
    found, above = [], ""
    for layer in range(layers):
        names = [f"L{layer}A", f"L{layer}B"]
        found += [f"mqsub -deps '{above}' -l {name} -c 'sleep {seconds}'" for name in names]
        above = " ".join(names)
    return found


def waits(crew: Crew) -> list[float]:
    """Milliseconds from the end of a layer to the start of each job of the next, by the server's clock."""
    attempts = {one["job"]: one for one in json.loads(crew.ask("history", "--json"))["attempts"]}
    found = []
    for layer in range(1, len(attempts) // 2):
        ready = max(attempts[f"L{layer - 1}{letter}"]["ended"] for letter in "AB")
        found += [1000 * (attempts[f"L{layer}{letter}"]["started"] - ready) for letter in "AB"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.1, help="that each job takes")
    options = parser.parse_args()
    print("| runners | jobs | ms from eligible to started | over 200 ms |")
    print("|---|---|---|---|")
    late = 0
    with throw_away() as server:
        for runners in (1, 2):
            emptied(server.url)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                crew = Crew(Path(folder), server.url, lines(options.layers, options.seconds))
                runs = [crew.start(number, "--slots", str(2 // runners)) for number in range(runners)]
                for run in runs:
                    code, answer = crew.ended(run)
                    assert code == 0, answer
                found = waits(crew)
            late = sum(wait > 200 for wait in found)
            print(f"| {runners} | {len(found)} | {spread(found, '.1f')} | {late} |", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
