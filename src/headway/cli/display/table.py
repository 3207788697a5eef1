"""Tables for people. Imports little: jobs and scripts call what prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headway.cli.display.terminal import one_line
from headway.model.messages import LOCAL


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines in columns as wide as they must be; a heading that begins with > is of a column aligned to the right."""
    right = [heading.startswith(">") for heading in headings]
    lines = [[heading.removeprefix(">") for heading in headings], *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for cell, width, at in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]


def without_local(
    headings: Sequence[str], rows: Iterable[Sequence[str]]
) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
    """The same without the column `site`, if all is at this computer, as it mostly is."""
    column, rows = headings.index("site"), list(rows)
    if any(row[column] != LOCAL for row in rows):
        return headings, rows
    return [*headings[:column], *headings[column + 1 :]], [[*row[:column], *row[column + 1 :]] for row in rows]


def shortened(text: str, most: int) -> str:
    """A text that fits."""
    return text if len(text) <= most else text[: most - 1] + "…"
