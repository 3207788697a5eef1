"""The words of most calls of `headway run`, read without click, whose import takes a short run's tenth part.

Whatever is not plain (a word that is not known here, a value that is not right, an environment that has a say) is left
to click, which reads the same and tells what is wrong. A test holds the two together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway.cli.commands.running import MOST_SLOTS, Options
from headway.policies.what_next import ORDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FLAGS = {
    "--fail-fast": "fail_fast",
    "--retry": "retry",
    "--fresh": "fresh",
    "--detach": "detach",
    "--json": "as_json",
    "--always-make": "always_make",
    "-B": "always_make",
    "--dry-run": "dry_run",
}
_VALUES = {"--slots": "slots", "--order": "order_name", "--store": "store", "--sync": "sync"}
_HAVE_A_SAY = ("HEADWAY_ORDER", "HEADWAY_STORE", "HEADWAY_RESOURCES", "_HEADWAY_COMPLETE")


def plain(words: Sequence[str]) -> Options | None:
    """What plain words say; None if they are not plain."""
    if any(os.environ.get(name) for name in _HAVE_A_SAY):
        return None
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _FLAGS:
            found[_FLAGS[word]] = True
        elif name in _VALUES:
            found[_VALUES[name]] = value if equals else next(rest, None)
        elif word.startswith("-") or not word or "workflow" in found:
            return None
        else:
            found["workflow"] = word
    if "workflow" not in found or None in found.values():
        return None
    if found.get("order_name", "auto") not in ORDERS or found.get("sync", "normal") not in ("normal", "full"):
        return None
    if "slots" in found:
        slots = found["slots"]
        if not (slots.isascii() and slots.isdigit() and slots.strip("0") and len(slots) <= len(str(MOST_SLOTS))):
            return None
        found["slots"] = int(slots)
    return Options(**found)
