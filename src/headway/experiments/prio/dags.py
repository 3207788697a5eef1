"""The four dags of the paper, as far as they can be known, by name."""

from __future__ import annotations

from collections.abc import Callable

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
