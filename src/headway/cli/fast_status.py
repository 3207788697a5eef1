"""The words of most calls of `headway status`, read without click: people and scripts call it again and again.

Whatever is not plain is left to click, as in fast_path.py. A test holds the two together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FLAGS = {"--json": "as_json", "--all": "show_all"}
_VALUES = {"--store": "place", "--workflow": "wanted"}


def plain(words: Sequence[str]) -> dict[str, Any] | None:
    """What plain words say, as arguments of display.status.show; None if they are not plain."""
    if os.environ.get("_HEADWAY_COMPLETE"):
        return None
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            found[_FLAGS[word]] = True
        elif name in _VALUES:
            found[_VALUES[name]] = value if equals else next(rest, None)
        elif word.startswith("-") or "group" in found:
            return None
        else:
            found["group"] = word
    return None if None in found.values() else found
