from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from headway.policies.what_next.prio.decompose import Decomposition
from headway.policies.what_next.prio.graph import graph
from tests.policies.prio.graphs import composed_dag, dag_of, random_dag
from tests.policies.prio.literal import Part, components


def found(arcs: list[tuple[int, int]], size: int) -> Counter[Part]:
    parts = Decomposition(graph(dag_of(size, arcs))).run()
    pairs = zip(map(frozenset, parts.nonsinks), map(frozenset, parts.sinks), strict=True)
    return Counter(pairs) + Counter((frozenset[int](), frozenset([node])) for node in parts.singles)


@pytest.mark.parametrize("seed", range(8))
def test_the_components_are_those_of_the_paper_word_for_word(seed: int) -> None:
    random = Random(seed)
    for _ in range(150):
        dag = random_dag(random, 14, 0.6)
        assert found(list(dag.arcs()), len(dag)) == components(dag)
    for _ in range(10):
        dag = random_dag(random, 60, 0.2)
        assert found(list(dag.arcs()), len(dag)) == components(dag)
    for _ in range(20):
        dag = composed_dag(random, 40)
        assert found(list(dag.arcs()), len(dag)) == components(dag)


def test_a_shortcut_does_not_hide_a_building_block() -> None:
    assert sorted(len(nonsinks) for nonsinks, _ in found([(0, 1), (1, 2), (0, 2)], 3).elements()) == [1, 1]


def test_where_nothing_is_bipartite_a_smallest_closed_subgraph_is_one_component() -> None:
    # a -> c -> d and b -> d, a -> e and b -> e: c makes d's block no block, and e ties a to b
    assert found([(0, 2), (2, 3), (1, 3), (0, 4), (1, 4)], 5) == Counter([(frozenset({0, 1, 2}), frozenset({3, 4}))])


def test_tangles_in_a_row_cost_no_more_than_their_sum() -> None:
    arcs = []
    for link in range(20_000):  # each is a component that is not bipartite, and starts where the last one ended
        a = 4 * link
        arcs += [(a, a + 2), (a + 2, a + 3), (a + 1, a + 3), (a, a + 4), (a + 1, a + 4)]
    parts = Decomposition(graph(dag_of(4 * 20_000 + 1, arcs))).run()
    assert len(parts.tangled) == 20_000
