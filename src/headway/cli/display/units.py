"""Times, sizes, exit codes and counts as people read them."""

from __future__ import annotations

import signal
import time

_UNITS = ("B", "kB", "MB", "GB", "TB")


def moment(when: float | None) -> str:
    """A time of day where we are, with its date."""
    return "" if when is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))


def amount(count: float | None) -> str:
    """Bytes in the unit that fits."""
    if count is None:
        return ""
    unit = 0
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.3g} {_UNITS[unit]}"


def exit_text(code: int | None) -> str:
    """How an attempt ended: a signal by its name."""
    if code is None:
        return ""
    try:
        return signal.Signals(-code).name if code < 0 else str(code)
    except ValueError:
        return str(code)


def counted(count: int, one: str, many: str = "") -> str:
    """`1 job`, `2 jobs`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
