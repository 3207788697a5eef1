"""A process that will be the runner, begun before it is known where: it imports what a runner needs meanwhile.

Every run waits for its runner, and most of what a short one takes is imports. Imports nothing itself but os.
"""

from __future__ import annotations

import os

_spare: tuple[int, int] | None = None  # its process, and the pipe on which it waits to be told


def prepare() -> None:
    """Forks the process, once; it goes when whoever forked it goes without having told it anything."""
    global _spare
    if _spare is not None:
        return
    told, tell = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child:
        os.close(told)
        _spare = child, tell
        return
    code = 1
    try:
        os.setsid()  # before anything else: Ctrl-C is meant for our client
        os.close(tell)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):  # nobody is to wait for what we might say
            os.dup2(nowhere, number)
        code = _wait(told)
    finally:
        os._exit(code)


def _wait(told: int) -> int:
    from headway.live.home import Home
    from headway.live.placeholder.process import become_runner

    heard = b""
    while not heard.endswith(b"\n"):
        more = os.read(told, 1 << 16)
        if not more:
            return 0
        heard += more
    import json
    from pathlib import Path

    said = json.loads(heard)
    return become_runner(Home(Path(said["home"])), said["sync"], said["server"])


def taken() -> tuple[int, int] | None:
    """The process and its pipe, for whoever asks first."""
    global _spare
    found, _spare = _spare, None
    return found
