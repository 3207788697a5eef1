"""SIGKILL, hundreds of times, at random moments: what is run again, and whether anything is lost or runs beside itself.

.venv/bin/python benchmarks/crashes.py [--kills 300] [--seed 1]

Each round is a new store with a layered workflow whose jobs write to a ledger, some of them with their environment
cleared or in a session of their own. It is started and killed five times, then left alone; then ledger and store are
compared. Exits 1 if anything was wrong. Of three rounds one has longer jobs, with times in which nobody is there, and
one is a DAG with scripts, nodes of several processes, a service, a retry and sub-DAGs, nested twice. Only where the
keeper is killed as well (`all`) may a job run again.

With --runners N a PostgreSQL server is started, and N runs of one workflow work at once: their clients and runners are
killed, or stopped for a while and continued, also for longer than the silence that is allowed (1.5 s here).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.contracts.conftest import emptied
from tests.infra.postgres import throw_away
from tests.live.crew_of_runners import Crew
from tests.live.ledger import Site
from tests.live.ledger_of_dag import DagSite

KILLS = 5  # in a round
ROUNDS = 10  # kills and stops in a round of several runners


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runners", type=int, default=1, metavar="N", help="at one workflow on a PostgreSQL server")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    if options.runners > 1:
        return several(rng, options.runners, options.kills)
    wrong = 0
    print("| killed | kills | jobs | run again | violations |")
    print("|---|---|---|---|---|")
    for victims in ("client", "runner", "both", "all"):
        kills = jobs = reruns = violations = 0
        while kills < options.kills / 4:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                is_dag = kills % (3 * KILLS) == 2 * KILLS
                is_long = kills % (3 * KILLS) == KILLS
                pause = 0.1 if is_long else 0.02
                site = DagSite(Path(folder)) if is_dag else Site(Path(folder), layers=5, width=5, pause=pause)
                for _ in range(KILLS):
                    site.crash(rng, victims, longest=1.5 if is_dag else 0.8, absent=0.5 if is_long else 0.0)
                site.finish()
                found = site.violations()
                reruns += site.reruns()
            for sentence in found:
                print(f"{victims}: {sentence}", file=sys.stderr)
            kills, jobs, violations = kills + site.kills, jobs + site.jobs, violations + len(found)
        print(f"| {victims} | {kills} | {jobs:,} | {reruns} | {violations} |", flush=True)
        wrong += violations
    return 1 if wrong else 0


def several(rng: random.Random, runners: int, kills: int) -> int:
    """Rounds of one workflow with several runners."""
    done = jobs = reruns = wrong = 0
    print("| runners | kills and stops | jobs | run again | violations |")
    print("|---|---|---|---|---|")
    with throw_away() as server:
        while done < kills:
            emptied(server.url)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                silence = {"HEADWAY_SILENCE": "1.5"}
                crew = Crew.of_layers(Path(folder), server.url, 5, 3 * runners, silence, pause=0.2)
                crew.harass(rng, runners, ROUNDS)
                crew.finish()
                found = crew.violations()
                done, jobs, reruns, wrong = done + ROUNDS, jobs + crew.jobs, reruns + crew.reruns(), wrong + len(found)
            for sentence in found:
                print(sentence, file=sys.stderr)
    print(f"| {runners} | {done} | {jobs:,} | {reruns} | {wrong} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
