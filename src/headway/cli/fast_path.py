"""The options of `headway run`; and most calls, read without click, whose import takes a short run's tenth part.

Whatever is not plain (a word that is not known here, a value that is not right, an environment that has a say) is left
to click, which reads the same and tells what is wrong. A test holds the two together.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway.live.home.settings import files
from headway.model.record import record
from headway.policies.what_next import ORDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_SLOTS = 999_999_999
EDITED = ("refuse", "rerun", "keep")
SYNC = ("normal", "full")
SHARES = ("private", "group", "all")


@record
class Options:
    """What the words of a call say; `headway run --help` tells what each means.

    The options of the command line are made of this: their names (`words`), and what holds without them.
    """

    workflow: str
    arguments: tuple[str, ...] = ()
    format_name: str | None = None
    slots: int | None = None
    order_name: str = "auto"
    store: str | None = None
    memory: str | None = None
    resources: tuple[str, ...] = ()
    fail_fast: bool = False
    retry: bool = False
    fresh: bool = False
    edited: str = EDITED[0]
    detach: bool = False
    sync: str = SYNC[0]
    share: str | None = None
    place: str | None = None
    as_json: bool = False
    until: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    always_make: bool = False
    array: str | None = None
    retries: int | None = None
    backoff: float | None = None
    more_memory: float | None = None
    notify: str | None = None
    mail: str | None = None
    dry_run: bool = False
    exports: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    deadline: float | None = None  # seconds from now


# Options that are not called like their field; and variables that have a say where an option is not given.
_CALLED = {
    "format_name": "--format",
    "order_name": "--order",
    "resources": "--resource",
    "exports": "--export",
    "sites": "--site",
    "place": "--in-place-of",
    "as_json": "--json",
    "since": "--from",
}
_SHORT = {"always_make": "-B"}
VARIABLES = {
    "order_name": "HEADWAY_ORDER",
    "store": "HEADWAY_STORE",
    "resources": "HEADWAY_RESOURCES",
    "slots": "HEADWAY_SLOTS",
    "sites": "HEADWAY_SITE",
    "exports": "HEADWAY_EXPORT",
}


def words(name: str) -> tuple[str, ...]:
    """What an option is called on the command line."""
    called = _CALLED.get(name) or f"--{name.replace('_', '-')}"
    return (called, _SHORT[name]) if name in _SHORT else (called,)


def without(name: str) -> object:
    """What holds without an option."""
    defaults: dict[str, object] = Options.__defaults__  # type: ignore[attr-defined]
    return defaults[name]


_FLAGS = {
    word: name
    for name in ("fail_fast", "retry", "fresh", "detach", "as_json", "always_make", "dry_run")
    for word in words(name)
}
_VALUES = {word: name for name in ("slots", "order_name", "store", "sync") for word in words(name)}
_HAVE_A_SAY = (*VARIABLES.values(), "_HEADWAY_COMPLETE")


def plain(given: Sequence[str]) -> Options | None:
    """What plain words say; None if they are not plain."""
    if any(os.environ.get(name) for name in _HAVE_A_SAY) or any(files(os.getcwd())):  # noqa: PTH109
        return None
    found: dict[str, Any] = {}
    rest = iter(given)
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
    if found.get("order_name", without("order_name")) not in ORDERS or found.get("sync", SYNC[0]) not in SYNC:
        return None
    if "slots" in found:
        slots = found["slots"]
        if not (slots.isascii() and slots.isdigit() and slots.strip("0") and len(slots) <= len(str(MOST_SLOTS))):
            return None
        found["slots"] = int(slots)
    return Options(**found)
