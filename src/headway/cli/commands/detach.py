"""`headway run --detach`: the run goes on in a process of its own, once it is known that it can."""

from __future__ import annotations

import os
import signal
import sys

from headway.live.home.folder import Home
from headway.live.home.ownership import own_file

_told = -1  # where whoever started us waits to hear that we have begun


def detached() -> int | None:
    """Forks. In the new process: None. In the old one: its exit code, once the new one has begun or failed."""
    global _told
    hears, tells = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        os.close(hears)
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        _told = tells
        return None
    os.close(tells)
    heard = os.read(hears, 1 << 12)
    if heard:
        print(f"workflow {heard.decode()} runs in the background: headway attach watches it.", file=sys.stderr)
        return 0
    _, status = os.waitpid(child, 0)  # it has said why
    return os.waitstatus_to_exitcode(status)


def begun(home: Home, workflow: int) -> None:
    """From here on nobody sees what is said: it goes to a file."""
    log = own_file(home.folder / "run.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nowhere = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    sys.stdout.flush()
    sys.stderr.flush()
    for source, number in ((nowhere, 0), (log, 1), (log, 2)):
        os.dup2(source, number)
    os.write(_told, str(workflow).encode())
    os.close(_told)
