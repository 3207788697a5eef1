"""The rows of one level: a table of which only the lines on the screen are ever made, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from headway.engine.groups import WORDS
from headway.live.answers.tree import Digits, Row, Status, What
from headway.model.states import State
from headway.tui.keys import bindings

_WIDE, _NARROW = 72, 52  # columns from which there is room for all, and for all but the attribute
_STYLES = {
    State.RUNNING: Style(color="cyan", bold=True),
    State.DONE: Style(color="green"),
    State.FAILED: Style(color="red", bold=True),
    State.DISABLED: Style(color="yellow"),
}
_CURSOR, _MARKED, _HEAD = Style(reverse=True), Style(bold=True), Style(bold=True, underline=True)


class Level(ScrollView, can_focus=True):
    """Groups and jobs under a cursor."""

    DEFAULT_CSS = "Level { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        (
            ("up,k", "move(-1)"),
            ("down,j", "move(1)"),
            ("pageup", "page(-1)"),
            ("pagedown", "page(1)"),
            ("home,g", "move(-1000000000)"),
            ("end,G", "move(1000000000)"),
        )
    )

    class Moved(Message):
        """The cursor is at another row."""

    class Opened(Message):
        """A row was clicked twice."""

    def __init__(self, harmless: Callable[[str], str]) -> None:
        super().__init__()
        self._harmless = harmless
        self._rows: Sequence[Row] = ()
        self._digits = Digits()
        self.marked: set[int] = set()  # places in the rows
        self.cursor = 0

    def show(self, rows: Sequence[Row], digits: Digits, cursor: int) -> None:
        """Shows other rows."""
        self._rows, self._digits, self.marked = rows, digits, set()
        self.virtual_size = Size(0, len(rows) + 1)
        self._go(cursor)

    @property
    def row(self) -> Row | None:
        """The one under the cursor."""
        return self._rows[self.cursor] if self._rows else None

    @property
    def rows(self) -> Sequence[Row]:
        return self._rows

    def chosen(self) -> list[Row]:
        """Those that are marked, or else the one under the cursor."""
        if self.marked:
            return [self._rows[number] for number in sorted(self.marked)]
        return [self._rows[self.cursor]] if self._rows else []

    def mark(self) -> None:
        """Marks the row under the cursor, or no more, and goes on to the next."""
        self.marked ^= {self.cursor}
        self.action_move(1)

    def find(self, text: str) -> bool:
        """Goes on to the next row with a text in its name; whether there is one."""
        count = len(self._rows)
        for step in range(1, count + 1):
            at = (self.cursor + step) % count
            if text.lower() in self._rows[at].name.lower():
                self._go(at)
                return True
        return False

    # --- moving ------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        self._go(self.cursor + by)

    def action_page(self, by: int) -> None:
        self._go(self.cursor + by * max(1, self.size.height - 2))

    def on_click(self, event: Click) -> None:
        number = self.scroll_offset.y + event.y - 1
        if event.y >= 1 and number < len(self._rows):
            is_again = number == self.cursor and event.chain == 2
            self._go(number)
            if is_again:
                self.post_message(self.Opened())

    def on_resize(self, _: Resize) -> None:
        self._go(self.cursor)

    def _go(self, number: int) -> None:
        self.cursor = max(0, min(number, len(self._rows) - 1))
        height = max(2, self.size.height)
        top = self.scroll_offset.y
        if self.cursor < top:
            top = self.cursor
        elif self.cursor > top + height - 2:  # one line is the heads of the columns
            top = self.cursor - height + 2
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.refresh()
        self.post_message(self.Moved())

    # --- drawing -----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width  # without the scroll bar
        if y == 0:
            return self._line(width, "ID", "Group", "Status", "Attribute", "Done", _HEAD, Style())
        number = self.scroll_offset.y + y - 1
        if number >= len(self._rows):
            return Strip.blank(width, Style.null())  # with NO_COLOR every text needs a style
        row = self._rows[number]
        status = self._digits.status(row)
        style = _CURSOR if number == self.cursor else _MARKED if number in self.marked else Style()
        mark = "*" if number in self.marked else " "
        name = mark + self._harmless(row.name)
        id = "" if row.id is None else str(row.id)
        done = f"{status.done}/{status.total}"
        return self._line(
            width, id, name, status.word, status.attribute, done, style, _STYLES.get(status.state, Style())
        )

    def _line(
        self, width: int, id: str, name: str, word: str, attribute: str, done: str, style: Style, state: Style
    ) -> Strip:
        """The columns that there is room for. The name gets what the others leave."""
        numbers = max(2, len(str(self._rows[-1].id or 0))) if self._rows else 2
        counted = 2 * len(str(len(self._digits.digits))) + 1
        parts = [(f"{id:>{numbers}} ", style)] if width >= _NARROW or width - numbers > 30 else []
        after = [(f" {word:<11}", style + state)]
        if width >= _WIDE:
            after.append((f" {attribute:<9}", style))
        if width >= _NARROW or width - counted > 30:
            after.append((f" {done:>{counted}}", style))
        room = width - sum(len(text) for text, _ in (*parts, *after))
        segments = [Segment(text, style) for text, style in (*parts, (fitted(name, max(4, room)), style), *after)]
        return Strip(segments).crop_extend(0, width, style)


def fitted(text: str, width: int) -> str:
    """A text in so many columns. Of one that is too long both ends are kept: names often differ there."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    end = (width - 1) // 2
    return set_cell_size(text[: width - 1 - end], width - 1 - end) + "…" + _end(text, end)


def _end(text: str, width: int) -> str:
    at = len(text)
    while at > 0 and cell_len(text[at - 1 :]) <= width:
        at -= 1
    return " " * (width - cell_len(text[at:])) + text[at:]


def described(row: Row, status: Status) -> str:
    """A sentence on a row for people."""
    what = {What.GROUP: "group", What.PROLOGUE: "prologue group", What.JOB: "job"}[row.what]
    parts = ", ".join(f"{count} {WORDS[state]}" for state, count in status.counts.items())
    jobs = f" ({status.total} jobs: {parts})" if status.total > 1 else ""
    return f"{what} {row.path}: {status.word.lower()}{jobs}"
