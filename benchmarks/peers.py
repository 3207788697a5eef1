"""What deadlines cost: cutting large workflows, handling a message on real dags, and both simulators of peers.

    .venv/bin/python benchmarks/peers.py [--repeat 3] [--jobs 100000] [--nodes 300]
    .venv/bin/python benchmarks/peers.py --kernel 1048576 [--fan-out 4] [--hours 1]

With --kernel only the kernel is measured: an hour of fork-joins of 8 branches at priority 1.3, arrivals at 93% of all
power, every message of two phases with its bytes and its time on a link, updates once a second at most. Compiling it
is not counted, and what is over when the last workflow has arrived.

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

from headway.engine.peer import Peer
from headway.engine.peering.messages import Letter
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


def handled(simulation: Simulation) -> list[float]:
    """Microseconds of every message of a run."""
    taken, whole = list[float](), Peer.handle

    def timed(self: Peer, letter: Letter, now: int) -> list[Letter]:
        begun = time.perf_counter()
        found = whole(self, letter, now)
        taken.append((time.perf_counter() - begun) * 1e6)
        return found

    Peer.handle = timed  # type: ignore[method-assign]
    try:
        simulation.run()
    finally:
        Peer.handle = whole  # type: ignore[method-assign]
    return sorted(taken)


def kernel(nodes: int, fan_out: int, hours: float) -> None:
    """One simulated grid: CPU seconds, events and memory."""
    from headway.sim.kernels import peer_state as st
    from headway.sim.peer_grid import Grid

    Grid(Scenario(nodes=64, hours=0.1)).until(BEGIN + 1000)  # compiles it
    begun = time.process_time()
    grid = Grid(Scenario(nodes=nodes, fan_out=fan_out, hours=hours, seed=1))
    made = time.process_time() - begun
    grid.until(grid.end)
    seconds = time.process_time() - begun
    s, memory = grid.state, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    events = int(s.g[st.G_ALL_EVENTS])
    counts = {name: int(s.g[st.G_COUNTS + number]) for number, name in enumerate(st.NAMES)}
    print(f"{nodes:,} peers, fan-out {fan_out}, {hours:g} h: {seconds:.0f} s of CPU ({made:.0f} of them to begin),")
    print(f"{events:,} events, {events / seconds:,.0f} a second,", end=" ")
    print(f"{memory / 1e9:.2f} GB, {memory / nodes / 1000:.1f} kB a peer")
    print(f"{len(s.arrival):,} workflows; {', '.join(f'{name} {count:,}' for name, count in counts.items())}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--kernel", type=int, metavar="NODES")
    parser.add_argument("--fan-out", type=int, default=4)
    parser.add_argument("--hours", type=float, default=1.0)
    options = parser.parse_args()
    if options.kernel:
        kernel(options.kernel, options.fan_out, options.hours)
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
    taken = handled(Simulation(scenario))
    most, late = taken[-1], taken[int(0.99 * len(taken))]
    print(f"a message: mean {sum(taken) / len(taken):.0f} µs, 99% up to {late:.0f} µs, at most {most:,.0f} µs")
    print(f"\nmedian (least–most) of {options.repeat}\n")
    print("| workflow | jobs | arcs | sequences | CPU s |\n|---|---|---|---|---|")
    shapes = {f"random, within {reach:,}": random_dag(options.jobs, reach) for reach in (50, 1000, options.jobs)}
    for name, (dag, lengths) in {**shapes, "Laplace": grid_dag(options.jobs)}.items():
        count = len(decomposition(dag, lengths).sequences)
        times = [cpu(lambda dag=dag, lengths=lengths: decomposition(dag, lengths)) for _ in range(options.repeat)]
        print(f"| {name} | {len(dag):,} | {len(dag.children):,} | {count:,} | {spread(times, '.2f')} |", flush=True)


if __name__ == "__main__":
    main()
