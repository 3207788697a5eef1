"""The four dags of the paper, as far as they can be known, by name; of some there is more than one reading."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from headway.experiments import paper_dags
from headway.experiments.paper_dags import PaperDag
from headway.model.errors import UsageError

_MOST_WIDE = 1_000_000
MAKERS: dict[str, Callable[[], PaperDag]] = {
    "airsn": paper_dags.airsn,
    "inspiral": paper_dags.inspiral,
    "montage": paper_dags.montage,
    "sdss": paper_dags.sdss,
}
# Each fits all that the paper states of its dag. The first is the one that claims are judged by; `prio_dags` says why.
READINGS: dict[str, dict[str, Callable[[], PaperDag]]] = {
    "montage": {
        "three bands": paper_dags.montage,
        "one band": partial(paper_dags.montage, 788, 3149, 1),
        "grid": paper_dags.montage_grid,
    },
    "sdss": {"w3": paper_dags.sdss, "window": partial(paper_dags.sdss, "window")},
}


def made(name: str, reading: str = "") -> PaperDag:
    """A dag of the paper in one of its readings; without one, in that which claims are judged by."""
    return READINGS[name][reading]() if reading else MAKERS[name]()


def named(name: str) -> PaperDag | None:
    """A dag of the paper: airsn, airsn:WIDTH, inspiral, montage or sdss; None if it is no such name."""
    kind, _, width = name.partition(":")
    if kind not in MAKERS or (width and kind != "airsn"):
        return None
    if not width:
        return MAKERS[kind]()
    if not (width.isdecimal() and 0 < int(width) <= _MOST_WIDE):
        raise UsageError(f"{kind}:WIDTH wants a number from 1 to {_MOST_WIDE:,}.", "The paper's own is airsn:250.")
    return paper_dags.airsn(int(width))
