"""How long choosing a site takes, and how many jobs the sites simulator places: per core, with the real policies.

    .venv/bin/python benchmarks/sites.py [--repeat 5] [--runs 2000]

Choices are those of `headway.policies.where`, in plain Python, as a run would make them, with twelve and with a
thousand sites that have all seen jobs. The simulator runs the paper's pipeline (300 jobs) at its twelve sites with a
patience of ten minutes: the kernel, which compiles the same policies, and the slow world on the engine beside it. Times
are CPU times of one thread; compiling is not counted. A withdrawn job that is placed again counts once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from random import Random

from read_dagman import spread

from headway.experiments.opportunistic.osg import PATIENCE, world
from headway.experiments.opportunistic.pipeline import pipeline
from headway.policies.where import POLICIES, View, where
from headway.policies.where.seen import began, ended, nothing_seen, sent
from headway.sim.sites import Model, Strategy
from headway.sim.slow_sites import Run


def seen_by_all(sites: int) -> View:
    """A workflow that has sent jobs everywhere: some have ended, some run, some wait."""
    rng, rows = Random(sites), nothing_seen(sites)
    for site in range(sites):
        for at in range(rng.randrange(1, 20)):
            sent(rows, site)
            if at % 3:
                began(rows, site, rng.random() * 1000)
            if at % 3 == 1:
                ended(rows, site)
    processors = [float(rng.randrange(1, 1000)) for _ in range(sites)]
    return View(list(range(sites)), rows, processors, [float(rng.randrange(3)) for _ in range(sites)])


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def choices(name: str, sites: int, repeat: int) -> list[float]:
    """Microseconds of one choice."""
    choose, view, rng = where(name), seen_by_all(sites), Random(1)
    times = 60_000 // sites + 50

    def some() -> None:
        for at in range(times):
            choose(view, 1000.0 + at, rng)

    return [cpu(some) / times * 1e6 for _ in range(repeat)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2000)
    options = parser.parse_args()
    model = Model(pipeline(), world())
    jobs = model.load.dag.job_count
    few = max(options.runs // 200, 1)
    print(f"median (least–most) of {options.repeat}; µs a choice, thousand jobs placed a second on one core\n")
    print("| policy | 12 sites, µs | 1,000 sites, µs | kernel, thousand jobs/s | slow world, thousand jobs/s |")
    print("|---|---|---|---|---|")
    for name in POLICIES:
        strategy = Strategy(name, PATIENCE)
        model.sample(strategy, 0, 1)
        fast, slow = [], []
        for turn in range(options.repeat):
            taken = cpu(lambda turn=turn, strategy=strategy: model.sample(strategy, turn, options.runs))
            fast.append(jobs * options.runs / taken / 1e3)
            runs = [Run(model, where(name), strategy, turn, number) for number in range(few)]
            slow.append(jobs * few / cpu(lambda runs=runs: [run.measured() for run in runs]) / 1e3)
        cells = [spread(choices(name, sites, options.repeat), ".1f") for sites in (12, 1000)]
        print(f"| {name} | {' | '.join(cells)} | {spread(fast, ',.0f')} | {spread(slow, '.1f')} |", flush=True)


if __name__ == "__main__":
    main()
