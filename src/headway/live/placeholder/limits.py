"""Limits of this process: open files, and how long it may be silent."""

from __future__ import annotations

import contextlib
import os
import resource

from headway.model.messages import PATIENCE, Seconds

SPARE = 96  # handles for those that have ended, for clients and for files of our own
FEWEST = 40  # handles without which there is no room for one job and a few clients
SILENCE = "HEADWAY_SILENCE"  # seconds without a sign of life after which jobs may be given to others


def most_files() -> int:
    """How many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


def patience() -> Seconds:
    """How long this placeholder may be silent before its jobs are given to others."""
    with contextlib.suppress(ValueError):
        return min(max(float(os.environ.get(SILENCE, PATIENCE)), 0.1), 86400.0)
    return PATIENCE
