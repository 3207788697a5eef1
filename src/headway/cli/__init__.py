"""What people type. Thin: it parses words, calls the layers below, prints, and exits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.cli.app import COMMANDS as COMMANDS
    from headway.cli.app import headway as headway
    from headway.cli.app import main as main
    from headway.cli.app import run as run

__all__ = ["COMMANDS", "headway", "main", "run"]


def __getattr__(name: str) -> Any:
    """Imports on first use: `mqsub`, which scripts call a thousand times, must not pay for click."""
    if name not in __all__:
        raise AttributeError(f"module 'headway.cli' has no attribute {name!r}")
    try:
        if name == "main" and sys.argv[1:2] == ["run"]:
            from headway.live.spare import prepare

            prepare()
        from headway.cli import app
    except KeyboardInterrupt:  # Ctrl-C so early is no reason for a traceback either
        raise SystemExit(130) from None
    return getattr(app, name)
