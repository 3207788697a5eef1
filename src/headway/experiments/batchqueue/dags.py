"""The workflows of batchqueue.txt: five families of 25, by names such as EMAN:12."""

from __future__ import annotations

import re
from functools import cache

from headway.experiments.named_dag import PaperDag
from headway.experiments.other_dags import paper004_configs

FAMILIES = ("EMAN", "BLAST", "Montage", "FFT", "Gauss")
CONFIGURATIONS = 25


@cache
def configurations() -> dict[str, list[PaperDag]]:
    return paper004_configs()


def named(name: str) -> PaperDag | None:
    """EMAN:0 to Gauss:24; None: none of them."""
    found = re.fullmatch(r"([a-z]+):(\d{1,2})", name, re.IGNORECASE)
    family = next((one for one in FAMILIES if found and one.lower() == found[1].lower()), None)
    if found is None or family is None or int(found[2]) >= CONFIGURATIONS:
        return None
    return configurations()[family][int(found[2])]
