"""Loops that Numba compiles. A property test holds each to the engine's answers on small cases."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba

_HERE = Path(__file__).parent
_RULES = [_HERE.parents[1] / "policies" / name for name in ("where", "by_when")]  # compiled into kernels
Function = TypeVar("Function", bound=Callable[..., Any])


def forget_stale(folder: Path, *others: Path) -> None:
    """Removes machine code older than any kernel, or than other folders of code that kernels call.

    Numba compares only the file of a function, not what it calls.
    """
    newest = max(source.stat().st_mtime for place in (folder, *others) for source in place.glob("*.py"))
    for kept in folder.glob("__pycache__/*.nb[ic]"):
        if kept.stat().st_mtime < newest:
            kept.unlink(missing_ok=True)


with suppress(OSError):
    forget_stale(_HERE, *_RULES)


def kept(kernel: str = "grid", function: str = "sample") -> bool:
    """Whether there is machine code from an earlier process: without it, the first call takes some seconds."""
    return any(_HERE.glob(f"__pycache__/{kernel}.{function}*.nbi"))


def compiled(function: Function) -> Function:
    """The function as machine code beside which other threads go on; kept for the next process where that can be."""
    return _jit(function, {})


def uncounted(function: Function) -> Function:
    """The same for one that makes no arrays: Numba need not count who refers to them, which takes most of the time."""
    try:
        return _jit(function, {"_nrt": False})
    except KeyError:  # a Numba that does not know this
        return _jit(function, {})


def part(function: Function) -> Function:
    """The same for a part of a kernel that nobody calls from Python: what would unpack its arguments is not made."""
    wrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    try:
        return _jit(function, {"_nrt": False, **wrapped})
    except KeyError:
        return _jit(function, wrapped)


def _jit(function: Function, options: dict[str, Any]) -> Function:
    try:
        fast: Function = numba.njit(function, nogil=True, cache=True, **options)
    except RuntimeError:  # no folder for a cache
        fast = numba.njit(function, nogil=True, **options)
    return fast
