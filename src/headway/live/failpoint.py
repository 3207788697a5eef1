"""Places where a test can have this process killed, to show that a crash there loses nothing.

HEADWAY_FAILPOINT=NAME:COUNT, read once, ends the process by SIGKILL when it comes by NAME for the COUNT-th time. With
HEADWAY_FAILPOINT_ONCE=FILE that happens in one process only: the one that manages to make the file.
"""

from __future__ import annotations

import os
import signal

_NAME, _, _COUNT = os.environ.get("HEADWAY_FAILPOINT", "").partition(":")
_passages = 0


def _nothing(name: str) -> None:
    """What a fail-point does when nobody tests."""


def _kill(name: str) -> None:
    global _passages
    if name != _NAME:
        return
    _passages += 1
    if _passages != int(_COUNT or 1):
        return
    once = os.environ.get("HEADWAY_FAILPOINT_ONCE")
    if once:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return
    os.kill(os.getpid(), signal.SIGKILL)


failpoint = _kill if _NAME else _nothing
