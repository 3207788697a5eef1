"""Ports for the servers of one test run."""

from __future__ import annotations

import os


def ports(first: int, size: int) -> int:
    """The first of some ports that no other process of a test run takes: looking for free ones would race."""
    return first + os.getpid() % 100 * size
