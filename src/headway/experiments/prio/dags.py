"""The four dags of the paper, as far as they can be known, by name; and the same with the jobs of the file shuffled."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from headway.experiments import paper_dags
from headway.model.dag import Dag
from headway.model.errors import UsageError

PAPER = ("airsn", "inspiral", "montage", "sdss")
_MOST_WIDE = 1_000_000


def named(name: str) -> Dag | None:
    """A dag of the paper: airsn, airsn:WIDTH, inspiral, montage or sdss; None if it is no such name."""
    kind, _, width = name.partition(":")
    if kind not in PAPER or (width and kind != "airsn"):
        return None
    if not width:
        return _flat(_MAKERS[kind]())
    if not (width.isdecimal() and 0 < int(width) <= _MOST_WIDE):
        raise UsageError(f"{kind}:WIDTH wants a number from 1 to {_MOST_WIDE:,}.", "The paper's own is airsn:250.")
    return _flat(paper_dags.airsn(int(width)))


_MAKERS: dict[str, Callable[[], paper_dags.Dag]] = {
    "airsn": paper_dags.airsn,
    "inspiral": paper_dags.inspiral,
    "montage": paper_dags.montage,
    "sdss": paper_dags.sdss,
}


def airsn_with(shape: str, depth: int) -> Dag:
    """AIRSN of width 250 with another inside of its handle."""
    return _flat(paper_dags.airsn(shape=shape, depth=depth))


def _flat(found: paper_dags.Dag) -> Dag:
    place = {job: at for at, job in enumerate(found.jobs)}
    return Dag(found.jobs, [place[parent] for parent, _ in found.edges], [place[child] for _, child in found.edges])


def shuffled(dag: Dag, seed: int) -> Dag:
    """The same dag as if its file named the jobs, and their arcs, in a random order."""
    places = list(range(len(dag)))
    Random(seed).shuffle(places)  # noqa: S311
    names = [""] * len(dag)
    for node, place in enumerate(places):
        names[place] = dag.names[node]
    arcs = sorted((places[parent], places[child]) for parent, child in dag.arcs())
    return Dag(names, [parent for parent, _ in arcs], [child for _, child in arcs])
