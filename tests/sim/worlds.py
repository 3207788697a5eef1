"""Small worlds of sites and small workloads for tests."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from headway.model.dag import Dag
from headway.model.site import Site
from headway.policies.where.candidates import Needs
from headway.sim.site_work import Transfers, Workload
from headway.sim.sites import Load, Place, World


def plain(dag: Dag, seconds: float = 1.0, retries: int = 0) -> Workload:
    """Every job takes as long and needs nothing."""
    size = len(dag)
    return Workload(dag, [seconds] * size, [Needs()] * size, [retries] * size, [()] * size, [()] * size, [0] * size)


def quiet(*processors: int) -> World:
    """Sites of which nobody else takes anything."""
    return World(tuple(Place(Site(f"s{at}", count)) for at, count in enumerate(processors)))


@st.composite
def loads(draw: st.DrawFn) -> Load:
    low = draw(st.sampled_from([0.0, 0.3]))
    high = draw(st.sampled_from([low, 0.5, 1.0]))
    full = draw(st.sampled_from([0.0, 0.2, 0.7]))
    return Load(low, high, full, draw(st.sampled_from([3.0, 40.0])) if full else draw(st.sampled_from([5.0, math.inf])))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    places = []
    for at in range(draw(st.integers(1, 4))):
        site = Site(f"s{at}", draw(st.integers(2, 5)), files=tuple(draw(st.sets(st.sampled_from(["f0", "x"])))))
        load = draw(loads())
        if load.high == 1.0 and load.spell == math.inf:
            load = Load()
        places.append(
            Place(
                site,
                load,
                draw(st.sampled_from([0.0, 2.0])),
                draw(st.sampled_from([1.0, 2.0])),
                draw(st.sampled_from([1.0, 3.0])),
                draw(st.sampled_from([0.0, 0.0, 0.5])),
                0.5,
            )
        )
    spread, planning = draw(st.sampled_from([0.0, 0.1, 2.0])), draw(st.sampled_from([0.0, 0.25]))
    return World(tuple(places), planning, spread, Transfers(draw(st.sampled_from([0.0, 1.5])), 10.0))


@st.composite
def workloads(draw: st.DrawFn, dag: Dag) -> Workload:
    size = len(dag)

    def each(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=size, max_size=size))

    names = st.lists(st.sampled_from(["f0", "f1", "x"]), unique=True, max_size=2)
    made = [[f"f{node}"] if draw(st.booleans()) else [] for node in range(size)]
    return Workload(
        dag,
        each(st.sampled_from([0.0, 0.5, 1.0, 7.5])),  # type: ignore[arg-type]
        [Needs(cores=cores) for cores in each(st.sampled_from([1, 1, 2]))],  # type: ignore[arg-type]
        each(st.integers(0, 2)),  # type: ignore[arg-type]
        each(names),  # type: ignore[arg-type]
        made,
        each(st.integers(-1, 1)),  # type: ignore[arg-type]
        {"f0": 100, "x": 7},
    )
