"""A real terminal: tmux, with a server of its own for each test."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.live.ledger import until


class Terminal:
    """A program in a terminal of so many columns and lines."""

    def __init__(self, socket: str, command: Sequence[str], cwd: Path, columns: int, lines: int, term: str) -> None:
        self._socket = socket
        size = ["-x", str(columns), "-y", str(lines)]
        inner = f"TERM={term} {shlex.join(command)}; echo code $?; exec cat"
        self._tmux("-f", os.devnull, "new-session", "-d", *size, "-c", str(cwd), inner)

    def press(self, *keys: str) -> None:
        """Keys by the names that tmux has for them: Enter, Left, or a character."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def lines(self) -> list[str]:
        """What is on the screen, without spaces at the ends of lines."""
        text = self._tmux("capture-pane", "-p")
        return [line.rstrip() for line in text.splitlines()]

    def screen(self) -> str:
        return "\n".join(self.lines())

    def shows(self, *texts: str) -> str:
        """Waits until all of these are on the screen, each in one line or over several; the screen."""

        def is_there() -> bool:
            screen = self.screen()
            return all(text in screen or text in " ".join(screen.split()) for text in texts)

        try:
            until(is_there, 30)
        except AssertionError:
            raise AssertionError(f"{texts} is not on the screen:\n{self.screen()}") from None
        return self.screen()

    def shows_no(self, text: str) -> str:
        """Waits until something is not on the screen any more."""
        until(lambda: text not in self.screen(), 30)
        return self.screen()

    def row(self, name: str) -> list[str]:
        """The columns of the row of a group: id, name, status, attribute, done."""
        found = [line for line in self.lines() if name in line.split()]
        return found[0].split() if found else []

    def resize(self, columns: int, lines: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        environment = {key: value for key, value in os.environ.items() if key not in ("TMUX", "TMUX_PANE")}
        command = ["tmux", "-S", self._socket, "-u", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=30).stdout


@contextlib.contextmanager
def terminal(
    *command: str, cwd: Path, columns: int = 100, lines: int = 24, term: str = "screen-256color"
) -> Iterator[Terminal]:
    """A terminal in which a command runs. Nothing of it is left afterwards."""
    with tempfile.TemporaryDirectory(prefix="tmux-") as folder:  # short: a socket's path may have 107 characters
        found = Terminal(f"{folder}/s", command, cwd, columns, lines, term)
        try:
            yield found
        finally:
            found.close()
