"""Tables for people, without what commands cost that need more."""

from __future__ import annotations

from collections.abc import Sequence

from headway.cli.display.terminal import one_line


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()) -> list[str]:
    """Lines in columns; numbers stand to the right."""
    cells = [list(heads), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    lines = []
    for row in cells:
        padded = [cell.rjust(widths[at]) if at in numbers else cell.ljust(widths[at]) for at, cell in enumerate(row)]
        lines.append("  ".join(padded).rstrip())
    return lines


def shortened(text: str, most: int) -> str:
    """A text that fits."""
    return text if len(text) <= most else text[: most - 1] + "…"
