"""What only root can do: for others it is reported as not run."""

from __future__ import annotations

import os

import pytest


def needs_root(what: str) -> None:
    """Skips the test for an ordinary user. Root's tests never skip: what does not start for root fails."""
    if os.geteuid() != 0:
        pytest.skip(f"not run, no root: {what}")
