"""The line in which a part of a name is typed."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input

from headway.tui.keys import bindings


class Find(Input):
    """It deals with a key before the next one is read, so those of one burst keep their order."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        (
            ("backspace", "delete_left"),
            ("delete", "delete_right"),
            ("left", "cursor_left"),
            ("right", "cursor_right"),
            ("home,ctrl+a", "home"),
            ("end,ctrl+e", "end"),
            ("ctrl+u", "delete_left_all"),
            ("ctrl+w", "delete_left_word"),
        )
    )

    def takes(self, event: events.Key) -> bool:
        """Takes a character; whether the key was one."""
        if event.character is None or not event.is_printable:
            return False
        self.insert_text_at_cursor(event.character)
        return True
