"""How JSON is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping

from headway.live.answers import document


def print_json(answer: Mapping[str, object]) -> None:
    """One JSON value on stdout, and nothing else there. What it says is built below the command line."""
    print(json.dumps(document(answer)), flush=True)
