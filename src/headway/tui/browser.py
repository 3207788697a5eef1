"""`headway browse`: TrellisDAG's jobs browser (Fig. 15) as a full-screen program that follows what happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Size
from textual.widgets import Static

from headway.live.answers.tree import TOP, Digits, Row, Tree
from headway.model.errors import HeadwayError
from headway.tui.dependencies import Dependencies
from headway.tui.find import Find
from headway.tui.keys import BINDINGS, COMMANDS, FINDING, shown
from headway.tui.level import Level, described
from headway.tui.steps import STEPS, Step
from headway.tui.watcher import Awaited, Changed, Failed, Lost, Opened, Said, Told, Watcher


class Browser(App[None]):
    """Where somebody is among the groups of a workflow."""

    CSS = """
    #place { height: 1; background: $primary; color: $text; }
    #place.lost { background: $error; }
    #details { height: auto; max-height: 7; border-top: solid $primary; }
    #said { height: auto; max-height: 3; color: $warning; }
    #keys { height: auto; max-height: 5; color: $text-muted; }
    Find { display: none; height: 1; border: none; padding: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, place: str | None, wanted: str | None, harmless: Callable[[str], str]) -> None:
        super().__init__()
        self._harmless = harmless
        self._watcher = Watcher(place, wanted, self._told)
        self._tree: Tree | None = None
        self._digits = Digits()
        self._name = ""
        self._path = ""  # of the group that was dived into
        self._with_empty = False
        self._pending: tuple[Step, list[Row]] | None = None  # what waits for a yes
        self._is_lost = False
        self.fault: Exception | None = None  # of ours
        self.is_ended = False  # by SIGTERM

    def compose(self) -> ComposeResult:
        yield Static("reading the store …", id="place", markup=False)
        yield Level(self._harmless)
        yield Static(id="details", markup=False)
        yield Static(id="said", markup=False)
        yield Find(placeholder="a part of a name", compact=True, select_on_focus=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._end)
        self.query_one(Level).focus()
        self._watcher.start()

    def _end(self) -> None:
        """SIGTERM: the terminal gets its screen back first."""
        self.is_ended = True
        self.exit()

    def on_resize(self, event: events.Resize) -> None:
        self._show_keys(event.size.width)

    def _check_size(self) -> None:
        """Textual asks for the size before it waits for changes of it: one in between is lost."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            real = os.get_terminal_size(sys.__stdout__.fileno())  # type: ignore[union-attr]
            if (real.columns, real.lines) != tuple(self.size):
                size = Size(real.columns, real.lines)
                self.post_message(events.Resize(size, size))

    def _show_keys(self, width: int) -> None:
        self.query_one("#keys", Static).update(Text(shown(width)))

    def on_unmount(self) -> None:
        self._watcher.stop()

    # --- what the watcher tells --------------------------------------------------------------------------------------

    def _told(self, told: Told) -> None:
        """In the watcher's thread."""
        self.call_later(self._take, told)

    def _take(self, told: Told) -> None:
        match told:
            case Opened():
                self._open(told)
            case Changed():
                self.query_one(Level).refresh()
                self._show_details()
            case Said():
                self._say(told.text)
            case Lost():
                self._is_lost = True
                self._say(told.text)
            case Failed():
                self.fault = told.error
                self.exit()
            case Awaited() if not self._is_covered:
                self.push_screen(Dependencies(told, self._harmless))
        self._show_place()

    def _open(self, told: Opened) -> None:
        if self._is_lost:
            self._say("The store is there again.")
        self._is_lost = False
        self._tree, self._digits, self._name = told.tree, told.digits, f"{told.workflow.id} {told.workflow.name}"
        if told.remark:
            self._say(told.remark)
        self._check_size()
        row = self.query_one(Level).row
        self._show_level(row.path if row else "")

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _show_level(self, at: str = "") -> None:
        """The rows of the group that was dived into, with the cursor at a path if it is there."""
        if self._tree is None:
            return
        level = self._tree.level(self._path) if self._path else TOP
        self._path = self._tree.path(level)
        rows = self._tree.rows(level, self._with_empty)
        cursor = next((number for number, row in enumerate(rows) if row.path == at), 0)
        self.query_one(Level).show(rows, self._digits, cursor)
        self._show_place()

    def _show_place(self) -> None:
        place = self.query_one("#place", Static)
        place.set_class(self._is_lost, "lost")
        done, total = self._digits.total()
        path = f" › {self._path}" if self._path else ""
        state = "not there: " if self._is_lost else ""
        text = f"{state}{self._name}{path}  {done}/{total}"
        place.update(Text(self._harmless(text), no_wrap=True, overflow="ellipsis"))

    def _show_details(self) -> None:
        row = self.query_one(Level).row
        text = "There are no jobs here." if row is None else described(row, self._digits.status(row))
        self.query_one("#details", Static).update(Text(self._harmless(text), overflow="fold"))

    def _say(self, text: str) -> None:
        self.query_one("#said", Static).update(Text(self._harmless(text), overflow="fold"))

    def on_level_moved(self) -> None:
        self._show_details()

    def on_level_opened(self) -> None:
        self.action_dive()

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_dive(self) -> None:
        row = self.query_one(Level).row
        self._forget()
        if row is None or self._tree is None:
            return
        if row.inside is None:
            self._say(f"{row.name} has no groups in it.")
            return
        self._path = row.path
        self._show_level()

    def action_up(self) -> None:
        self._forget()
        if self._tree is not None and self._path:
            left = self._path
            self._path = self._tree.path(self._tree.above(self._tree.level(left)))
            self._show_level(left)

    def action_dependencies(self) -> None:
        self._forget()
        row = self.query_one(Level).row
        if row is not None:
            self._watcher.dependencies(row)

    def action_step(self, number: int) -> None:
        step, rows = STEPS[number], self.query_one(Level).chosen()
        self._forget()
        if not rows:
            return
        if not step.asks:
            self._watcher.steer(step, rows)
            return
        jobs = sum(self._digits.status(row).total for row in rows)
        what = rows[0].name if len(rows) == 1 else f"{len(rows)} groups"
        self._pending = step, rows
        self._say(f"{step.name}: {what}, {jobs} jobs? y: yes, any other key: no")

    async def on_event(self, event: events.Event) -> None:
        """Keys that are no commands are taken here, each before the next one."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if self._is_finding and self.query_one(Find).takes(event):
                return
            if self._pending is not None:
                (step, rows), is_meant = self._pending, event.key == "y"
                self._forget()
                if is_meant:
                    self._watcher.steer(step, rows)
                    return
        await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys are commands now: while a name is typed, or something covers the groups, few of them."""
        if action in COMMANDS:
            return not self._is_finding and not self._is_covered
        return self._is_finding if action in FINDING else True

    @property
    def _is_covered(self) -> bool:
        return len(self.screen_stack) > 1

    @property
    def _is_finding(self) -> bool:
        return isinstance(self.focused, Find)

    def action_mark(self) -> None:
        self._forget()
        self.query_one(Level).mark()

    def action_prologues(self) -> None:
        """Shows prologue groups without jobs too, as the paper does, or hides them."""
        row = self.query_one(Level).row
        self._with_empty = not self._with_empty
        self._show_level(row.path if row else "")

    def action_refresh(self) -> None:
        self._forget()
        self._watcher.refresh()

    def action_find(self) -> None:
        self._forget()
        field = self.query_one(Find)
        field.value, field.display = "", True
        self.screen.set_focus(field)  # at once: the next key may be there already

    def action_found(self) -> None:
        text = self.query_one(Find).value
        self.action_not_found()
        if text and not self.query_one(Level).find(text):
            self._say(f"No group here has {text!r} in its name.")

    def action_not_found(self) -> None:
        self.query_one(Find).display = False
        self.screen.set_focus(self.query_one(Level))

    def on_input_blurred(self) -> None:
        if not self._is_finding:  # it may be typed into again by now
            self.action_not_found()

    def action_leave(self) -> None:
        self.exit()

    def _forget(self) -> None:
        """What was asked or said before does not hold any more."""
        self._pending = None
        self._say("")


def browse(place: str | None, wanted: str | None, harmless: Callable[[str], str]) -> None:
    """Shows a workflow until its user quits."""
    for size in ("COLUMNS", "LINES"):  # of the terminal when somebody set them: ours may get another size
        os.environ.pop(size, None)
    browser = Browser(place, wanted, harmless)
    browser.run()
    if browser.is_ended:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
    if browser.fault is not None:
        raise browser.fault
    if browser.return_code:  # Textual has printed what went wrong
        raise HeadwayError("the browser has failed.", "headway browse --plain does the same by numbers.")
