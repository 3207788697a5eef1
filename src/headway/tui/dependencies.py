"""What a group waits for, over the browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from headway.tui.watcher import Awaited

_MOST = 2000  # names that are listed


class Dependencies(ModalScreen[None]):
    """Names of jobs, and how they stand."""

    DEFAULT_CSS = """
    Dependencies { align: center middle; }
    Dependencies VerticalScroll { width: 90%; height: auto; max-height: 80%; border: round $accent; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter,w,u", "app.pop_screen", "Back")]

    def __init__(self, found: Awaited, harmless: Callable[[str], str]) -> None:
        super().__init__()
        self._found, self._harmless = found, harmless

    def compose(self) -> ComposeResult:
        jobs = self._found.jobs
        lines = [f"{self._found.row.path} waits for {'nothing.' if not jobs else f'{len(jobs)} jobs:'}"]
        lines += [f"{name}: {word}" for name, word in jobs[:_MOST]]
        if len(jobs) > _MOST:
            lines.append(f"… and {len(jobs) - _MOST} more")
        with VerticalScroll():
            yield Static(Text(self._harmless("\n".join(lines)), overflow="fold"))
