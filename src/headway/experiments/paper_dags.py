"""Generators of the dags that the papers used.

Nothing is random unless a seed is passed, so the same call always gives the same dag. How sure each feature is:

- [S] stated by the paper
- [D] deduced: the only value, or by far the simplest, that fits what is stated
- [K] known from the application (publications, public instances)
- [A] assumed
"""

from __future__ import annotations

from headway.experiments.named_dag import PaperDag
from headway.experiments.other_dags import (
    blast,
    eman,
    fft,
    fork_join,
    gauss,
    laplace,
    montage7,
    paper004_configs,
    pipeline,
    set_runtimes,
)
from headway.experiments.prio_dags import airsn, inspiral, montage, montage_grid, sdss

__all__ = [
    "PaperDag",
    "airsn",
    "blast",
    "eman",
    "fft",
    "fork_join",
    "gauss",
    "inspiral",
    "laplace",
    "montage",
    "montage7",
    "montage_grid",
    "paper004_configs",
    "pipeline",
    "sdss",
    "set_runtimes",
]
