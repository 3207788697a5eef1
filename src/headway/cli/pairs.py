"""Arguments of TrellisDAG's services: key=value, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.model.errors import UsageError, shown

LONGEST = 1000  # characters of a value


def pairs(name: str, words: Sequence[str], keys: Sequence[str], needed: Sequence[str] = ()) -> Mapping[str, str]:
    """What a service was told, by key."""
    found: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise UsageError(f"{shown(word)} is not KEY=VALUE.", f"{name} --help shows the keys.")
        if key not in keys:
            raise UsageError(f"there is no key {shown(key)}.", _like(key, keys))
        if key in found:
            raise UsageError(f"{key} is given twice.", "Give it once.")
        if len(value) > LONGEST or not value.isprintable():
            raise UsageError(f"the value of {key} is too long, or no text.", "Give a single line.")
        found[key] = value
    for key in needed:
        if not found.get(key):
            raise UsageError(f"{key} is missing.", f"{name} --help shows the keys.")
    return found


def _like(key: str, keys: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(key, keys, 1)
    return f"Did you mean {close[0]}?" if close else f"Known here: {', '.join(keys)}."
