"""What commands answer: a module for each command. Command line, browser and page only print it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1  # of every answer; see docs/json.md


def document(answer: Mapping[str, object]) -> dict[str, object]:
    """An answer as it is handed out, with the number of its schema."""
    return {"schema": SCHEMA, **answer}
