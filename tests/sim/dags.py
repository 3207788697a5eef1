"""Dags for simulations: random small ones, and shapes whose answers are known."""

from __future__ import annotations

from hypothesis import strategies as st

from headway.model.dag import Dag


@st.composite
def small_dags(draw: st.DrawFn, most: int = 14) -> Dag:
    """Arcs lead from earlier to later nodes of a random numbering; some nodes are milestones."""
    size = draw(st.integers(0, most))
    numbering = draw(st.permutations(range(size)))
    pairs = [(low, high) for low in range(size) for high in range(low + 1, size)]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * size)) if pairs else []
    milestones = bytes(draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=size, max_size=size)))
    return Dag(
        [f"n{node}" for node in range(size)],
        [numbering[low] for low, _ in arcs],
        [numbering[high] for _, high in arcs],
        milestones=milestones,
    )


def bag(size: int) -> Dag:
    return Dag([f"n{node}" for node in range(size)], [], [])


def chain(size: int) -> Dag:
    return Dag([f"n{node}" for node in range(size)], range(size - 1), range(1, size))
