"""The answer of `headway explain`: why a job is not running."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def answer(job: str, state: str, because: Sequence[str]) -> dict[str, Any]:
    """As docs/json.md says."""
    return {"job": job, "state": state, "because": because}
