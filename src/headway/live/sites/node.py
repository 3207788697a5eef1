"""What an allocation of a batch queue runs: a placeholder whose store is behind a door. Shipped; Python 3.9 and later.

It leaves when its time is over, when nothing can come, or when the queue wants it to: then it gives its jobs back.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import sys
import time
from pathlib import Path

from headway.live.client.line import Line
from headway.live.client.messages import Progress, Serve, Stop
from headway.live.doors.tls_relay import Address
from headway.live.home.folder import Home
from headway.live.sites.front import started
from headway.model.errors import HeadwayError
from headway.model.messages import NODES

MARGIN = 10.0  # seconds before the end of its time at which it has left
TRIES, PAUSE = 20, 3.0  # to reach the store's door at first
PATIENCE = 15.0  # seconds that a queue has to say how much time is left


def main(path: str) -> int:
    """One allocation, as the private file at this path describes it."""
    if not _is_first(path):
        print("headway: this allocation was begun before, and given back; another one is asked for.", file=sys.stderr)
        return 0
    said = json.loads(Path(path).read_text())
    begun = time.monotonic()
    ends = _ends(float(said["seconds"]))
    home = Home(Path(said["home"]).expanduser())
    instance = secrets.token_hex(16)
    address = Address(said["hosts"], said["port"], said["fingerprint"], said["token"], said["allocation"], instance)
    out, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    line = _line(home, address, out)
    if line is None:
        return 1
    left = max(1.0, ends - (time.monotonic() - begun) - MARGIN)
    named = {NODES: said["nodes"]} if said["nodes"] > 1 else {}
    line.say(Serve(said["slots"], left, said["unknown"], said["idle"], 0, named, said["launcher"]))
    return _watch(line, out)


def _is_first(path: str) -> bool:
    """Whether the queue starts this allocation for the first time: some start again what they have evicted."""
    try:
        os.close(os.open(f"{path}.begun", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


def _ends(seconds: float) -> float:
    """How long this allocation lasts: as its queue says, if it does; a user's own options may have another limit."""
    said = os.environ.get("SLURM_JOB_END_TIME", "")
    if said.isdigit():
        return min(seconds, float(said) - time.time())
    number = os.environ.get("SLURM_JOB_ID")  # of a Slurm that does not say it (22.05), but can be asked
    left = None if number is None else time_left(_asked("squeue", "--noheader", f"--jobs={number}", "--format=%L"))
    return seconds if left is None else min(seconds, left)


def time_left(said: str) -> float | None:
    """Seconds, as Slurm says them: 1-02:03:04, 2:03:04 or 3:04. None: without a limit, or it is not known."""
    days, _, rest = said.strip().rpartition("-")
    parts = [days or "0", *rest.split(":")]
    if len(parts) not in (3, 4) or not all(part.isdigit() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    hours = numbers[1] if len(numbers) == 4 else 0
    return float(((numbers[0] * 24 + hours) * 60 + numbers[-2]) * 60 + numbers[-1])


def _asked(*words: str) -> str:
    """What a command prints; "" if it cannot be asked."""
    import subprocess

    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    return ""


def _line(home: Home, address: Address, out: int) -> Line | None:
    """A line to a new runner here that has found its store."""
    for attempt in range(TRIES):
        ready = started_runner(home, address)
        while not select.select([ready, out], [], [], 60.0)[0]:
            pass
        os.close(ready)
        line = Line.to(home, 10.0)
        if line is not None:
            return line
        print(f"headway: {home.last_words() or 'no runner can be started'}", file=sys.stderr, flush=True)
        if select.select([out], [], [], PAUSE * min(attempt + 1, 5))[0]:
            return None
    return None


def started_runner(home: Home, address: Address) -> int:
    """A runner behind a keeper; what closes when it lets clients in, or has ended."""

    def become(told: int) -> int:
        from headway.live.placeholder.process import become_runner_behind_a_door

        return become_runner_behind_a_door(home, address, told)

    return started(home, become)


def _watch(line: Line, out: int) -> int:
    """Until the runner has nothing more to do here. Told to end, it gives back what it has not done."""
    while True:
        ready, _, _ = select.select([line.fileno(), out], [], [])
        if out in ready:
            os.read(out, 64)
            line.say(Stop("now"))
        try:
            for said in line.news() if line.fileno() in ready else ():
                if isinstance(said, Progress) and said.ended:
                    line.close()
                    return 0
        except HeadwayError as error:
            print(f"headway on {socket.gethostname()}: {error}", file=sys.stderr, flush=True)
            return 1
