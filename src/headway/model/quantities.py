"""Durations and sizes as people write and read them: `1h 30m`, `2G`, 3 min 05 s."""

from __future__ import annotations

import math
import re

_UNIT_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_UNIT_BYTES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# Compiled when first used: a short run waits for each, and most need none.
_DURATION_PART = r"\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([smhdw]?)"
_SIZE = r"\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*([kmgtp]?)i?b?\s*"


def seconds(text: str) -> float:
    """`90`, `1.5h`, `1h 30m`, `2d` as seconds; ValueError says what was expected."""
    total, at = 0.0, 0
    stripped = text.rstrip()
    while at < len(stripped) or at == 0:
        part = re.compile(_DURATION_PART, re.IGNORECASE).match(stripped, at)
        if part is None or (not part[2] and part.span() != (0, len(stripped))):  # a bare number stands alone
            raise ValueError('a duration such as "90", "30m" or "1h 30m"')
        total += float(part[1]) * _UNIT_SECONDS[part[2].lower()]
        at = part.end()
    if not math.isfinite(total):
        raise ValueError("a duration that is finite")
    return total


def duration(seconds: float) -> str:
    """A length of time for people: 0.12 s, 12.3 s, 75 s, 3 min 05 s, 2 h 10 min, 4 d 4 h."""
    if seconds < 99.5:
        digits = 0 if seconds == int(seconds) else 2 if seconds < 9.995 else 1
        return f"{max(0.0, seconds):.{digits}f} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours_left = divmod(hours, 24)
    if hours >= 100:
        return f"{days} d {hours_left} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {left:02} s"


def size(text: str) -> int:
    """`2048`, `2G`, `512 MiB` as bytes (powers of 1024); ValueError says what was expected."""
    match = re.fullmatch(_SIZE, text, re.IGNORECASE)
    if match is None:
        raise ValueError('a size such as "2048", "512M" or "2G"')
    value = float(match[1]) * 1024.0 ** _UNIT_BYTES[match[2].lower()]
    if not math.isfinite(value):
        raise ValueError("a size that is finite")
    return int(match[1]) if match[1].isdecimal() and not match[2] else int(value)


def plain(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))
