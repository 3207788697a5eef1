"""Dags for the tests of PRIO, and brute force."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from headway.model.dag import Dag


def dag_of(size: int, arcs: Iterable[tuple[int, int]]) -> Dag:
    pairs = list(arcs)
    return Dag([f"j{node}" for node in range(size)], [one for one, _ in pairs], [two for _, two in pairs])


def random_dag(random: Random, most: int, density: float = 0.5) -> Dag:
    """Any dag of some jobs, its file in any order."""
    size = random.randint(1, most)
    names = list(range(size))
    random.shuffle(names)
    chance = random.random() * density
    return dag_of(
        size,
        [(names[one], names[two]) for one in range(size) for two in range(one + 1, size) if random.random() < chance],
    )


def composed_dag(random: Random, most: int) -> Dag:
    """Blocks of known families put together sink on source, as the theory likes them, its file in any order."""
    arcs: list[tuple[int, int]] = []
    loose: list[int] = []
    size = 0
    while size < most:
        sources, block = random.choice(BLOCKS)
        width = 1 + max(sink for _, sink in block)
        if size + sources + width > most:
            break
        merged = random.sample(loose, random.randint(0, min(len(loose), sources)))
        above = merged + list(range(size, size + sources - len(merged)))
        size += sources - len(merged)
        below = list(range(size, size + width))
        size += width
        loose = [node for node in loose if node not in merged] + below
        arcs += [(above[source], below[sink]) for source, sink in block]
    names = list(range(size))
    random.shuffle(names)
    return dag_of(size, [(names[one], names[two]) for one, two in arcs])


def w(sources: int, degree: int) -> list[tuple[int, int]]:
    return [(at, at * (degree - 1) + sink) for at in range(sources) for sink in range(degree)]


def m(sinks: int, degree: int) -> list[tuple[int, int]]:
    return [(source, sink) for sink, source in w(sinks, degree)]


def n(size: int) -> list[tuple[int, int]]:
    return [(at, at) for at in range(size)] + [(at, at + 1) for at in range(size - 1)]


def cycle(size: int) -> list[tuple[int, int]]:
    return [(at, at) for at in range(size)] + [(at, (at + 1) % size) for at in range(size)]


def clique(size: int) -> list[tuple[int, int]]:
    pairs = [(one, two) for one in range(size) for two in range(one)]
    return [(end, sink) for sink, pair in enumerate(pairs) for end in pair]


def complete(sources: int, sinks: int) -> list[tuple[int, int]]:
    return [(source, sink) for source in range(sources) for sink in range(sinks)]


def umbrella(fringes: int) -> list[tuple[int, int]]:
    """AIRSN's: one source before all sinks, and for each sink one of its own."""
    return [(0, sink) for sink in range(fringes)] + [(1 + sink, sink) for sink in range(fringes)]


def block_dag(arcs: list[tuple[int, int]], random: Random | None = None) -> Dag:
    """Numbers the sinks after the sources; in any order of the file if that is asked for."""
    sources = 1 + max(source for source, _ in arcs)
    size = sources + 1 + max(sink for _, sink in arcs)
    names = list(range(size))
    if random is not None:
        random.shuffle(names)
    return dag_of(size, [(names[source], names[sources + sink]) for source, sink in arcs])


BLOCKS = [
    (1 + max(source for source, _ in arcs), arcs)
    for arcs in (
        complete(1, 1),
        complete(1, 2),
        complete(1, 3),
        complete(2, 1),
        complete(2, 2),
        w(2, 2),
        w(3, 2),
        w(2, 3),
    )
] + [(1 + max(source for source, _ in arcs), arcs) for arcs in (m(2, 2), m(2, 3), n(3), cycle(3), complete(3, 1))]


def parent_masks(dag: Dag) -> list[int]:
    return [sum(1 << parent for parent in dag.parents_of(node)) for node in range(len(dag))]


def best_curve(dag: Dag) -> list[int]:
    """The most jobs that can be eligible after 0, 1, … steps: over every set of jobs closed under parents."""
    masks = parent_masks(dag)
    best = [0] * (len(dag) + 1)
    seen, stack = {0}, [0]
    while stack:
        done = stack.pop()
        ready = [node for node, mask in enumerate(masks) if not done >> node & 1 and mask & ~done == 0]
        best[done.bit_count()] = max(best[done.bit_count()], len(ready))
        for node in ready:
            if done | 1 << node not in seen:
                seen.add(done | 1 << node)
                stack.append(done | 1 << node)
    return best


def is_schedule(dag: Dag, order: list[int]) -> bool:
    place = {node: at for at, node in enumerate(order)}
    return len(place) == len(order) == len(dag) and all(place[one] < place[two] for one, two in dag.arcs())
