"""What one workflow has seen of each site: rows of numbers by the place of a site, and how events change them.

Rows are lists here and in a run, and an array in a simulation: kernels compile these functions as they are, so they
use nothing but indices, numbers and loops. Every workflow has rows of its own (opportunistic.txt section 4).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TypeAlias

SUBMITTED = 0  # jobs sent there; one that was withdrawn counts where it was sent next, and no longer here
ENDED = 1  # jobs that ended well there
LAST = 2  # the number of the last such end, counted over all sites; 0: none
WAITING = 3  # jobs sent there that have not begun
BEGAN = 4  # jobs that began there, an old one counting for less
LET_DOWN = 5  # jobs withdrawn from there or failed there, an old one counting for less
SINCE = 6  # when the last two rows were brought up to date
WHOLE = 7  # numbers that belong to no site, at the places below
ROWS = 8

CHOSEN = 0  # one more than the place of the site chosen last; 0: none yet
ENDS = 1  # jobs that ended well, over all sites
HALF_LIFE = 2  # seconds after which what was seen counts half; 0: it counts for ever
WHOLE_SIZE = 3

HISTORY = 3600.0  # seconds: the half-life unless another is asked for

Rows: TypeAlias = MutableSequence[MutableSequence[float]]


def nothing_seen(sites: int, half_life: float = HISTORY) -> list[MutableSequence[float]]:
    """The rows of a workflow that begins."""
    rows: list[MutableSequence[float]] = [[0.0] * max(sites, WHOLE_SIZE) for _ in range(ROWS)]
    rows[WHOLE][HALF_LIFE] = half_life
    return rows


def sent(seen: Rows, site: int) -> None:
    """A job is sent to a site: Fig. 4 line 4.2."""
    seen[SUBMITTED][site] += 1.0
    seen[WAITING][site] += 1.0
    seen[WHOLE][CHOSEN] = site + 1.0


def began(seen: Rows, site: int, now: float) -> None:
    """A job that waited there runs."""
    fade(seen, site, now)
    seen[WAITING][site] -= 1.0
    seen[BEGAN][site] += 1.0


def ended(seen: Rows, site: int) -> None:
    """A job that ran there ended well."""
    seen[ENDED][site] += 1.0
    seen[WHOLE][ENDS] += 1.0
    seen[LAST][site] = seen[WHOLE][ENDS]


def failed(seen: Rows, site: int, now: float) -> None:
    """A job that ran there failed. It stays submitted and never counts as ended, so the site's ratio falls.

    The paper counts every end, which draws all jobs to a site that fails fast (docs/differences.md).
    """
    fade(seen, site, now)
    seen[LET_DOWN][site] += 1.0


def withdrawn(seen: Rows, site: int, now: float) -> None:
    """A job that waited there is planned again: its record will name another site (Fig. 4 line 4.1)."""
    fade(seen, site, now)
    seen[SUBMITTED][site] -= 1.0
    seen[WAITING][site] -= 1.0
    seen[LET_DOWN][site] += 1.0


def fade(seen: Rows, site: int, now: float) -> None:
    """Brings the rows that fade up to date."""
    kept = share_kept(seen, site, now)
    seen[BEGAN][site] *= kept
    seen[LET_DOWN][site] *= kept
    seen[SINCE][site] = now


def share_kept(seen: Rows, site: int, now: float) -> float:
    """What is left by now of what was seen of a site."""
    half_life: float = seen[WHOLE][HALF_LIFE]
    if half_life <= 0.0:
        return 1.0
    kept: float = 0.5 ** ((now - seen[SINCE][site]) / half_life)
    return kept
