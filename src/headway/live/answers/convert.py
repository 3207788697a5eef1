"""The answer of `headway convert`: what was written, and what the format could not say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def answer(output: str, target: str, lost: Sequence[str], warnings: Sequence[str]) -> dict[str, Any]:
    """As docs/json.md says."""
    return {"output": output, "format": target, "lost": lost, "warnings": warnings}
