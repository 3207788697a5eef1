"""How JSON is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping

SCHEMA = 1  # of every --json answer; see docs/json.md


def print_json(answer: Mapping[str, object]) -> None:
    """One JSON value on stdout, and nothing else there."""
    print(json.dumps({"schema": SCHEMA, **answer}), flush=True)
