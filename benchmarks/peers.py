"""What deadlines cost: cutting large workflows, and both simulators of peers (peer_messages.py: a single message).

    .venv/bin/python benchmarks/peers.py [--repeat 3] [--jobs 100000] [--nodes 300]
    .venv/bin/python benchmarks/peers.py --kernel 1048576 [--fan-out 4] [--hours 1] [--load 0.93]

With --kernel only the kernel is measured: an hour of fork-joins of 8 branches at priority 1.3, arrivals at 93% of all
power, every message of two phases with its bytes and its time on a link, updates once a second at most. Compiling it
is not counted, nor what comes after the last workflow has arrived; then all goes on to its end, to count misses.

Times are CPU times of one thread. Cutting is measured on random dags with three arcs a job, near (within 50 and 1,000
places) and far, and on a Laplace grid, where all jobs are equal and every cut changes all paths below it.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable
from random import Random

from read_dagman import spread

from headway.model.dag import Dag
from headway.policies.by_when.sequences import decomposition
from headway.sim.peer_scenario import BEGIN, HOUR, Scenario, laplace
from headway.sim.peers import Simulation


def random_dag(jobs: int, reach: int) -> tuple[Dag, list[int]]:
    """Three arcs a job, none of them further than so many places."""
    rng = Random(1)
    pairs = set()
    for _ in range(3 * jobs):
        one = rng.randrange(jobs - 1)
        pairs.add((one, rng.randrange(one + 1, min(jobs, one + 1 + reach))))
    arcs = sorted(pairs)
    names = [str(job) for job in range(jobs)]
    return Dag(names, [one for one, _ in arcs], [other for _, other in arcs]), [
        rng.randrange(1, 1000) for _ in range(jobs)
    ]


def grid_dag(jobs: int) -> tuple[Dag, list[int]]:
    count, arcs = laplace(math.isqrt(jobs))
    names = [str(job) for job in range(count)]
    return Dag(names, [one for one, _ in arcs], [other for _, other in arcs]), [1] * count


def cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def kernel(scenario: Scenario) -> None:
    """One simulated grid: CPU seconds, events and memory."""
    from headway.sim.kernels import peer_state as st
    from headway.sim.peer_answer import of_workflows
    from headway.sim.peer_grid import Grid

    Grid(Scenario(nodes=64, hours=0.1)).until(BEGIN + 1000)  # compiles it
    begun = time.process_time()
    grid = Grid(scenario)
    made = time.process_time() - begun
    grid.until(grid.end)
    seconds = time.process_time() - begun
    s, memory = grid.state, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    events = int(s.g[st.G_ALL_EVENTS])
    counts = {name: int(s.g[st.G_COUNTS + number]) for number, name in enumerate(st.NAMES)}
    nodes = scenario.nodes
    print(f"{nodes:,} peers, fan-out {scenario.fan_out}, {scenario.hours:g} h at {scenario.load:.0%}:", end=" ")
    print(f"{seconds:.0f} s of CPU ({made:.0f} of them to begin),")
    print(f"{events:,} events, {events / seconds:,.0f} a second,", end=" ")
    print(f"{memory / 1e9:.2f} GB, {memory / nodes / 1000:.1f} kB a peer")
    print(", ".join(f"{name} {count:,}" for name, count in counts.items()))
    grid.until(grid.last)
    told = {name: of_workflows(grid)[name] for name in ("submitted", "accepted", "rejected", "missed")}
    print("at the end of all: " + ", ".join(f"{count:,} {name}" for name, count in told.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--kernel", type=int, metavar="NODES")
    parser.add_argument("--fan-out", type=int, default=4)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--load", type=float, default=0.93)
    options = parser.parse_args()
    if options.kernel:
        kernel(Scenario(options.kernel, fan_out=options.fan_out, hours=options.hours, load=options.load, seed=1))
        return
    scenario = Scenario(nodes=options.nodes, hours=0.5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    simulation = Simulation(scenario)
    seconds = cpu(simulation.run)
    world = simulation.world
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    hours = (world.now - BEGIN) / HOUR
    print(f"{options.nodes:,} peers: {world.events / seconds:,.0f} events a second of CPU,", end=" ")
    print(
        f"{seconds / hours:.1f} s for a simulated hour, {memory / options.nodes / 1000:.1f} kB a peer, queues included"
    )
    print(f"\nmedian (least–most) of {options.repeat}\n")
    print("| workflow | jobs | arcs | sequences | CPU s |\n|---|---|---|---|---|")
    shapes = {f"random, within {reach:,}": random_dag(options.jobs, reach) for reach in (50, 1000, options.jobs)}
    for name, (dag, lengths) in {**shapes, "Laplace": grid_dag(options.jobs)}.items():
        count = len(decomposition(dag, lengths).sequences)
        times = [cpu(lambda dag=dag, lengths=lengths: decomposition(dag, lengths)) for _ in range(options.repeat)]
        print(f"| {name} | {len(dag):,} | {len(dag.children):,} | {count:,} | {spread(times, '.2f')} |", flush=True)


if __name__ == "__main__":
    main()
