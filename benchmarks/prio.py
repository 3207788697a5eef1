"""How fast and how large: PRIO on the paper's dags, and on dags like them and unlike them of up to a million jobs.

    .venv/bin/python benchmarks/prio.py [--repeat 3] [--most 1000000] [--only NAME]

Seconds are CPU time of the policy alone, from a dag in memory to ranks (the `seconds` key of `headway order --json`);
MB is the peak of the process, and in brackets its peak when there was only the dag. Exponents are fitted over 10,000 to
a million jobs. AIRSN is also taken from the shell.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from headway.experiments import paper_dags
from headway.live.reading.read import no_collection
from headway.model.dag import Dag
from headway.policies.what_next.prio.plan import Plan


def of(size: int, arcs_from: array[int], arcs_to: array[int]) -> Dag:
    return Dag([f"j{node}" for node in range(size)], arcs_from, arcs_to)


def airsn(size: int) -> Dag:
    return paper_dags.airsn((size - 23) // 3).dag()


def inspiral(size: int) -> Dag:
    return paper_dags.inspiral(segments=max(1, 10 * size // 2988), groups=max(1, 29 * size // 2988)).dag()


def montage(size: int) -> Dag:
    """One band, as large as it takes."""
    return paper_dags.montage(size // 10, 4 * (size // 10), 1).dag()


def sdss(size: int) -> Dag:
    """Stripes of 505 sources of three sinks each, neighbours sharing one."""
    arcs_from, arcs_to, catalogs, at = array("i"), array("i"), [], 0
    for _ in range(max(1, size // 2528)):
        found = at + 505
        coalesced = found + 1011
        catalog = coalesced + 1011
        for source in range(505):
            arcs_from.extend([at + source] * 3)
            arcs_to.extend(range(found + 2 * source, found + 2 * source + 3))
        arcs_from.extend(range(found, coalesced))
        arcs_to.extend(range(coalesced, catalog))
        arcs_from.extend(range(coalesced, catalog))
        arcs_to.extend([catalog] * 1011)
        catalogs.append(catalog)
        at = catalog + 1
    arcs_from.extend(catalogs)
    arcs_to.extend([at] * len(catalogs))
    return of(at + 1, arcs_from, arcs_to)


def layered(size: int) -> Dag:
    """Layers of 1,000 jobs, each with one to three parents at random in the layer above."""
    draw, arcs_from, arcs_to = random.Random(1), array("i"), array("i")
    for node in range(1000, size):
        above = (node // 1000 - 1) * 1000
        parents = {above + draw.randrange(1000) for _ in range(draw.randint(1, 3))}
        arcs_from.extend(parents)
        arcs_to.extend([node] * len(parents))
    return of(size, arcs_from, arcs_to)


def forest(smallest: int, largest: int) -> Callable[[int], Dag]:
    """Bipartite dags side by side, each sink with one to three parents at random: a type of its own almost each."""

    def make(size: int) -> Dag:
        draw, arcs_from, arcs_to, at = random.Random(1), array("i"), array("i"), 0
        while at < size:
            jobs = draw.randint(smallest, largest)
            sources = draw.randint(2, max(2, jobs // 2))
            for sink in range(sources, jobs):
                parents = draw.sample(range(sources), draw.randint(1, min(sources, 3)))
                arcs_from.extend(at + parent for parent in parents)
                arcs_to.extend([at + sink] * len(parents))
            at += jobs
        return of(at, arcs_from, arcs_to)

    return make


def sparse(degree: float) -> Callable[[int], Dag]:
    """Any two jobs joined with the same chance, so many arcs a job."""

    def make(size: int) -> Dag:
        draw = random.Random(1)
        arcs = {tuple(sorted(draw.sample(range(size), 2))) for _ in range(int(size * degree))}
        pairs = sorted(arcs)
        return of(size, array("i", [one for one, _ in pairs]), array("i", [two for _, two in pairs]))

    return make


MAKE: dict[str, Callable[[int], Dag]] = {
    "AIRSN": lambda size: paper_dags.airsn().dag(),
    "Inspiral": lambda size: paper_dags.inspiral().dag(),
    "Montage": lambda size: paper_dags.montage().dag(),
    "SDSS": lambda size: paper_dags.sdss().dag(),
    "SDSS, window": lambda size: paper_dags.sdss("window").dag(),
    "forest, components of 4-14 jobs": forest(4, 14),
    "forest, components of 50-200 jobs": forest(50, 200),
    "forest, components of 100-500 jobs": forest(100, 500),
    "sparse, 1 arc a job": sparse(1),
    "sparse, 2 arcs a job": sparse(2),
    "sparse, 5 arcs a job": sparse(5),
    "sparse, 10 arcs a job": sparse(10),
    "AIRSN-like": airsn,
    "Inspiral-like": inspiral,
    "Montage-like": montage,
    "SDSS-like": sdss,
    "layered random": layered,
}
SIZES = {name: 100_000 if name.startswith("forest") else 50_000 for name in MAKE}
LIKE = ("AIRSN-like", "Inspiral-like", "Montage-like", "SDSS-like", "layered random")
PAPER = {"AIRSN": "<1 s, 2 MB", "Inspiral": "16 s, 21 MB", "Montage": "8 s, 104 MB", "SDSS": "845 s, 1.3 GB"}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(name: str, size: int) -> dict[str, float]:
    with no_collection():
        dag = MAKE[name](size)
        before = peak()
        begun = time.process_time()
        plan = Plan(dag)
        assert len(plan.ranks) == len(dag)
        seconds = time.process_time() - begun
    return {"jobs": len(dag), "types": len(plan.profiles), "seconds": seconds, "peak": peak(), "before": before}


def measured(name: str, size: int, repeat: int) -> list[dict[str, float]]:
    call = [sys.executable, __file__, "--one", name, "--size", str(size)]
    return [json.loads(subprocess.run(call, capture_output=True, check=True).stdout) for _ in range(repeat)]


def spread(values: list[float], form: str) -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def row(name: str, size: int, repeat: int) -> list[dict[str, float]]:
    runs = measured(name, size, repeat)
    jobs, types = int(runs[0]["jobs"]), int(runs[0]["types"])
    peaks = f"{statistics.median(run['peak'] for run in runs):.0f} ({runs[0]['before']:.0f})"
    seconds = spread([run["seconds"] for run in runs], ".3f" if jobs < 10_000 else ".2f")
    print(f"| {name} | {jobs:,} | {types:,} | {seconds} | {peaks} | {PAPER.get(name, '')} |", flush=True)
    return runs


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of a line through the logarithms, by least squares."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    return statistics.linear_regression(xs, ys).slope


def from_the_shell(repeat: int) -> None:
    headway = str(Path(sys.executable).parent / "headway")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "airsn.dag").write_text(paper_dags.airsn().dagman())
        times = []
        for _ in range(repeat):
            begun = time.perf_counter()
            call = [headway, "order", "airsn.dag", "--by", "prio"]
            subprocess.run(call, cwd=folder, capture_output=True, check=True)
            times.append(time.perf_counter() - begun)
    print(f"\nAIRSN from the shell, wall: {spread(times, '.2f')} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--only", choices=list(MAKE))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one, options.size)))
        return
    print("| dag | jobs | types | CPU s | peak MB (dag alone) | the paper's |\n|---|---|---|---|---|---|")
    names = [options.only] if options.only else list(MAKE)
    for name in names:
        if name not in LIKE:
            row(name, SIZES[name], options.repeat)
    exponents = {}
    for name in names:
        if name in LIKE:
            sizes = [size for size in (10_000, 100_000, 1_000_000) if size <= options.most]
            runs = [row(name, size, options.repeat) for size in sizes]
            exponents[name] = exponent(
                [(each[0]["jobs"], statistics.median(run["seconds"] for run in each)) for each in runs]
            )
    print("\nFitted exponents:", ", ".join(f"{name} {value:.2f}" for name, value in exponents.items()))
    from_the_shell(max(options.repeat, 5))


if __name__ == "__main__":
    main()
