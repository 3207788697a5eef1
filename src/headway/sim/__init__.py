"""The simulated worlds: the same policies and rules as live, with made-up workers and run times."""

from __future__ import annotations

from importlib.util import find_spec

from headway.model.errors import not_installed

if find_spec("numpy") is None or find_spec("numba") is None:
    raise not_installed("a simulation", "numpy", "numba")
