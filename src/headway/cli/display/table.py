"""Tables for people, and times and sizes as they stand in them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Sequence

from headway.cli.display.terminal import one_line

_UNITS = ("B", "kB", "MB", "GB", "TB")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they must be; a heading that begins with > is of one that stands at the right."""
    right = [heading.startswith(">") for heading in headings]
    lines = [[heading.removeprefix(">") for heading in headings], *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for cell, width, at in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def brief(seconds: float | None) -> str:
    """A duration in a table: 0.12 s, 3:05, 2:10:00, 3 d 04:00."""
    if seconds is None:
        return ""
    if seconds < 99.5:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


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
