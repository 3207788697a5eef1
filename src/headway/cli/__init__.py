"""What people type. Thin: it parses words, calls the layers below, prints, and exits."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from headway.cli.app import COMMANDS as COMMANDS
    from headway.cli.app import headway as headway

__all__ = ["COMMANDS", "headway", "main"]


def main(words: list[str] | None = None) -> NoReturn:
    """The `headway` command: exits 0 done, 1 failed inside, 2 bad usage or input, 3 jobs failed, 4 no such thing."""
    try:
        given = sys.argv[1:] if words is None else words
        if given[:1] == ["run"]:
            _run(given[1:])
        elif given[:1] == ["status"]:
            _status(given[1:])
        from headway.cli import app
    except KeyboardInterrupt:  # Ctrl-C so early is no reason for a traceback either
        raise SystemExit(130) from None
    app.main(words)


def _run(words: list[str]) -> None:
    """Runs a workflow at once, if the words are plain; everything else, and what is wrong with them, is click's."""
    import gc

    gc.disable()  # all that is imported and read now stays: to look for cycles in it takes a short run's tenth part
    from headway.cli.fast_path import plain

    options = plain(words)
    if options is not None:
        from headway.cli.commands.running import run
        from headway.cli.exits import end_with

        end_with(lambda: run(options))


def _status(words: list[str]) -> None:
    """The same for `headway status`."""
    from headway.cli.fast_status import plain

    options = plain(words)
    if options is not None:
        from headway.cli.exits import end_with

        def show() -> None:
            from headway.cli.display.status import show

            show(**options)

        end_with(show)


def __getattr__(name: str) -> Any:
    """Imports on first use: `mqsub`, which scripts call a thousand times, must not pay for click."""
    if name not in __all__:
        raise AttributeError(f"module 'headway.cli' has no attribute {name!r}")
    from headway.cli import app

    return getattr(app, name)
