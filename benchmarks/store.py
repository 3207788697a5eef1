"""What the jobs database costs: exchanges a second and microseconds a job, by batch, on SQLite and PostgreSQL.

.venv/bin/python benchmarks/store.py [--jobs 4000] [--repeat 3] [--postgres URL]

An exchange ends a batch of jobs and takes the next one. "apart": jobs that depend on nothing; "chains": each end makes
the next job of a chain eligible. Without a URL a PostgreSQL server is started, with fsync off, and stopped again.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.infra.postgres import server

from headway.engine.ready import Room
from headway.live.store import Store, opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import Finish

BATCHES = (1, 2, 4, 8, 10, 100)


def submission(jobs: int, chains: int | None) -> Submission:
    """Jobs apart, or in so many chains side by side."""
    names = [f"step-{number}" for number in range(jobs)]
    parents = list(range(jobs - chains)) if chains else []
    dag = Dag(names, parents, [parent + (chains or 0) for parent in parents])
    flat = Flat(dag, [Job(f"simulate --seed {number} > out.{number}") for number in range(jobs)], frozenset())
    return Submission("bench", f"/bench-{jobs}-{chains}.dag", "/somewhere", flat, [0] * jobs)


def measured(store: Store, jobs: int, batch: int, chained: bool) -> tuple[float, float, int]:
    """Wall and CPU seconds of running it all, and how many exchanges that took."""
    workflow = store.submissions.add(submission(jobs, batch if chained else None), time.time())
    placeholder = store.placeholders.enter("here", 1, time.time())
    leases = store.leases.exchange(placeholder, [], Room(batch, batch), [workflow], time.time()).leases
    wall, cpu, exchanges = time.perf_counter(), time.process_time(), 0
    while leases:
        now = time.time()
        finished = [Finish(lease.id, 0, now, now, 1 << 20, 0.01) for lease in leases]
        leases = store.leases.exchange(placeholder, finished, Room(batch, batch), [workflow], now).leases
        exchanges += 1
    return time.perf_counter() - wall, time.process_time() - cpu, exchanges


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--only", help="sqlite: leave PostgreSQL out")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores = {"SQLite": opened(folder / "a"), "SQLite, full sync": opened(folder / "b", "full")}
        if not options.only:
            stores["PostgreSQL"] = opened(options.postgres or stack.enter_context(server()))
        print(f"median of {options.repeat} runs of {options.jobs} jobs\n")
        print("| store | jobs | batch | exchanges a second | wall µs a job | CPU µs a job (client) |")
        print("|---|---|---|---|---|---|")
        for name, store in stores.items():
            for chained in (False, True):
                for batch in BATCHES:
                    runs = [measured(store, options.jobs, batch, chained) for _ in range(options.repeat)]
                    wall, cpu = (statistics.median(run[at] for run in runs) for at in (0, 1))
                    print(
                        f"| {name} | {'chains' if chained else 'apart'} | {batch} | {runs[0][2] / wall:,.0f}"
                        f" | {wall / options.jobs * 1e6:.0f} | {cpu / options.jobs * 1e6:.0f} |"
                    )
            store.close()


if __name__ == "__main__":
    main()
