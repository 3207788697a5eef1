"""How queues are told to be fair: the policies of batchqueue.txt as files, and those that users write like them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.engine.queue import FairShare, Policy
from headway.model.errors import InputError, UsageError, shown
from headway.model.quantities import seconds

NAMES = ("FCFS", "FL", "FS")
_HERE = Path(__file__).parent
_MOST = 1_000_000_000  # points
_DEEPEST = 1000  # intervals of fair share
_KEYS = {
    "size": ("percent", "cap"),
    "wait": ("hour",),
    "fair_share": ("percent", "interval", "depth", "decay"),
    "backfill": ("beside",),
}


def policy(name: str) -> Policy:
    """The policy of that name, or in that file."""
    if name in NAMES:
        return parse(str(_HERE / f"{name}.toml"), (_HERE / f"{name}.toml").read_text(), name)
    path = Path(name)
    if not path.is_file():
        raise UsageError(
            f"there is no queue policy {shown(name)}.", f"There are {', '.join(NAMES)}, and files like them."
        )
    try:
        text = path.read_text(errors="strict")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(name, 1, f"cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    return parse(name, text, path.stem)


def parse(path: str, text: str, name: str) -> Policy:
    """A policy as a file has it: sections size, wait, fair_share and backfill, each of which may be missing."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise InputError(path, 1, f"is no TOML: {error}.", "Compare it with FCFS.toml.") from None
    for section, values in found.items():
        if section not in _KEYS or not isinstance(values, dict):
            raise _wrong(path, text, section, f"{shown(section)} is no section", f"There are {', '.join(_KEYS)}.")
        for key in values:
            if key not in _KEYS[section]:
                raise _wrong(
                    path, text, key, f"{shown(key)} is no key of {section}", f"There are {', '.join(_KEYS[section])}."
                )
    size, wait, share = found.get("size", {}), found.get("wait", {}), found.get("fair_share")
    beside = found.get("backfill", {}).get("beside", False)
    if not isinstance(beside, bool):
        raise _wrong(path, text, "beside", "beside is neither true nor false", "")
    hour = _number(path, text, wait, "hour", 1.0)
    if hour < 0:
        raise _wrong(path, text, "hour", "who waits must not lose points", "Give 0 or more.")
    cap = _number(path, text, size, "cap", math.inf)
    if cap < 0:
        raise _wrong(path, text, "cap", "cap is the most that size counts, either way, and not below 0", "")
    return Policy(
        name,
        _number(path, text, size, "percent", 0.0),
        cap,
        hour,
        None if share is None else _fair_share(path, text, share),
        beside,
    )


def _fair_share(path: str, text: str, share: Mapping[str, Any]) -> FairShare | None:
    interval = share.get("interval", "1d")
    try:
        every = seconds(str(interval))
    except ValueError as expected:
        raise _wrong(path, text, "interval", f"interval is not {expected}", "") from None
    depth, decay = _number(path, text, share, "depth", 7), _number(path, text, share, "decay", 0.8)
    if every < 60 or not (1 <= depth <= _DEEPEST and depth == int(depth)) or not 0 < decay <= 1:
        raise _wrong(
            path,
            text,
            "fair_share",
            f"fair_share needs an interval of a minute or more, a whole depth up to {_DEEPEST:,}, a decay up to 1",
            "",
        )
    weight = _number(path, text, share, "percent", 0.0)
    return FairShare(weight, every, int(depth), decay) if weight else None


def _number(path: str, text: str, values: Mapping[str, Any], key: str, default: float) -> float:
    value = values.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise _wrong(path, text, key, f"{key} is no number", "")
    if abs(value) > _MOST and not (key == "cap" and value == math.inf):
        raise _wrong(path, text, key, f"{key} is too large", f"Give {_MOST:,} points at most.")
    return float(value)


def _wrong(path: str, text: str, word: str, what: str, fix: str) -> InputError:
    """An error at the first line that begins with a word."""
    starts = (number for number, line in enumerate(text.splitlines(), 1) if line.lstrip("[ ").startswith(word))
    return InputError(path, next(starts, 1), f"{what}.", fix)
