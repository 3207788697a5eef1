"""The answer of `headway formats`."""

from __future__ import annotations

from typing import Any

from headway.formats.registry import FORMATS

_KEYS = ("name", "about", "reads", "writes", "runs_code")


def answer() -> dict[str, Any]:
    """The formats that Headway reads and writes."""
    return {"formats": [{key: getattr(format, key) for key in _KEYS} for format in FORMATS.values()]}
