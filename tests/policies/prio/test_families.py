from __future__ import annotations

from random import Random

import pytest

from headway.policies.what_next.eligible import eligible
from headway.policies.what_next.prio.families import Block, Budget, schedule
from headway.policies.what_next.prio.plan import Plan
from tests.policies.prio.graphs import (
    best_curve,
    block_dag,
    clique,
    complete,
    cycle,
    dag_of,
    m,
    n,
    umbrella,
    w,
)

FAMILIES = [
    *[("V", complete(1, sinks)) for sinks in (1, 2, 5)],
    *[("Λ", complete(sources, 1)) for sources in (2, 3, 6)],
    *[("complete", complete(sources, sinks)) for sources, sinks in ((2, 2), (2, 4), (4, 2), (3, 3))],
    *[("W", w(sources, degree)) for sources, degree in ((2, 2), (2, 3), (4, 2), (5, 3), (3, 4), (6, 2))],
    *[("M", m(sinks, degree)) for sinks, degree in ((2, 2), (2, 3), (4, 2), (3, 3), (2, 5))],
    *[("N", n(size)) for size in (3, 4, 6)],
    *[("cycle", cycle(size)) for size in (3, 4, 6)],
    *[("clique", clique(size)) for size in (4, 5)],
    *[("tree", umbrella(fringes)) for fringes in (3, 5)],
]


@pytest.mark.parametrize(
    ("kind", "arcs"), FAMILIES, ids=lambda value: value if isinstance(value, str) else str(len(value))
)
def test_a_family_is_known_in_any_order_of_the_file_and_its_schedule_is_the_best_there_is(
    kind: str, arcs: list[tuple[int, int]]
) -> None:
    random = Random(1)
    for _ in range(6):
        dag = block_dag(arcs, random)
        plan = Plan(dag)
        assert plan.kinds == [kind] and plan.proved == [True]
        assert eligible(dag, plan.order) == best_curve(dag)


def any_block(random: Random) -> list[tuple[int, int]]:
    sources, sinks = random.randint(2, 5), random.randint(2, 6)
    return [
        (source, sink)
        for sink in range(sinks)
        for source in random.sample(range(sources), random.randint(1, min(3, sources)))
    ]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("sets", [0, 1 << 17])
def test_what_is_proved_of_any_block_is_true(seed: int, sets: int) -> None:
    random = Random(seed)
    for _ in range(100):
        arcs = any_block(random)
        used = sorted({source for source, _ in arcs})
        dag = dag_of(12, [(source, 6 + sink) for source, sink in arcs])
        sinks = sorted({6 + sink for _, sink in arcs})
        if len(used) < 2 or len(sinks) < 2 or not connected(arcs):
            continue
        found = schedule(Block(used, [dag.parents_of(sink) for sink in sinks]), Budget(sets))
        reached = [len(used)]
        for gain in found.gains:
            reached.append(reached[-1] + gain)
        best = best_of_sources(arcs, used)
        assert sorted(found.order) == used
        if found.proved is not None:
            assert (reached == best) is found.proved, arcs
        assert found.proved is not None or not sets, "so small a block is always settled"


def connected(arcs: list[tuple[int, int]]) -> bool:
    source, sinks = {arcs[0][0]}, set[int]()
    for _ in arcs:
        sinks |= {sink for one, sink in arcs if one in source}
        source |= {one for one, sink in arcs if sink in sinks}
    return source == {one for one, _ in arcs}


def best_of_sources(arcs: list[tuple[int, int]], sources: list[int]) -> list[int]:
    needs: dict[int, int] = {}
    for source, sink in arcs:
        needs[sink] = needs.get(sink, 0) | 1 << sources.index(source)
    best = [0] * (len(sources) + 1)
    for executed in range(1 << len(sources)):
        count = executed.bit_count()
        best[count] = max(best[count], len(sources) - count + sum(not need & ~executed for need in needs.values()))
    return best


def test_a_small_block_of_no_family_gets_its_best_schedule_where_outdegree_misses_it() -> None:
    random = Random(4)
    helped = 0
    for _ in range(400):
        arcs = any_block(random)
        used = sorted({source for source, _ in arcs})
        sinks = sorted({sink for _, sink in arcs})
        if len(used) < 2 or len(sinks) < 2 or not connected(arcs):
            continue
        block = Block(used, [[source for source, other in arcs if other == sink] for sink in sinks])
        searched, plain = schedule(block, Budget()), schedule(block, Budget(0))
        helped += searched.proved is True and plain.gains != searched.gains
    assert helped
