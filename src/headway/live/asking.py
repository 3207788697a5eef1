"""A question to the runner of a store, asked in passing: it does not wait for whoever asks."""

from __future__ import annotations

import json
import socket

from headway.live.home import Home
from headway.model.errors import HeadwayError
from headway.model.record import record

_PATIENCE = 60.0  # seconds


@record
class Said:
    """What a runner says: where a job writes that has a lease and runs, and what its clients are there for."""

    output: str | None
    workflows: frozenset[int]
    undecided: bool  # somebody has come who has not said yet which workflow to run


def asked(home: Home, lease: int = 0) -> Said | None:
    """What the runner says; None if there is none, or if it goes just now."""
    try:
        line = home.connect()
        if line is None:
            return None
        with line:
            line.settimeout(_PATIENCE)
            line.sendall(json.dumps({"where": lease}).encode() + b"\n")
            return _heard(line)
    except TimeoutError:
        raise HeadwayError("the runner does not answer.", f"{home.talk} may tell why: {home.last_words()}") from None
    except OSError:
        return None


def _heard(line: socket.socket) -> Said | None:
    """The answer, after the greeting."""
    text = b""
    while text.count(b"\n") < 2:
        data = line.recv(1 << 16)
        if not data:
            return None
        text += data
    said = json.loads(text.splitlines()[1])
    clients = said["clients"]
    return Said(said["output"], frozenset(clients) - {0}, clients.count(0) > 1)  # whoever asks is one as well
