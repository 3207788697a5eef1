"""A store whose exchanges are carried out by another process, behind a relay that delays every message.

Run as `python -m tests.contracts.relayed STORE`, it is that process: a line in, a line out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Question, Reply
from headway.live.store import Store, opened
from headway.live.store.leases import Leases
from headway.model.messages import PlaceholderId
from tests.contracts.ported import End, Ported
from tests.infra import relay

DELAY = 0.05  # seconds that a message takes, each way


class Relayed(Ported):
    """The exchanges go through the relay, everything else is asked of the store itself."""

    def __init__(self, store: Store, place: str) -> None:
        super().__init__(store)
        command = [sys.executable, relay.__file__, str(DELAY), sys.executable, "-m", __name__, place]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )

    def answered(self, question: Question, placeholder: PlaceholderId) -> Reply:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(b"%d " % placeholder + encode(question))
        self.process.stdin.flush()
        reply = decode(self.process.stdout.readline())
        assert isinstance(reply, Reply)
        return reply


class Relays:
    """Stores behind relays, until they are closed."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def opened(self, place: str) -> Store:
        store = opened(place)
        relayed = Relayed(store, place)
        self._processes.append(relayed.process)
        store.leases = cast(Leases, relayed)
        return store

    def close(self) -> None:
        for process in self._processes:
            with process:
                process.kill()


@contextmanager
def relays() -> Iterator[Relays]:
    found = Relays()
    try:
        yield found
    finally:
        found.close()


def main() -> None:
    end = End(opened(sys.argv[1]))
    for line in sys.stdin.buffer:
        placeholder, _, text = line.partition(b" ")
        asked = decode(text)
        assert isinstance(asked, Question)
        end.placeholder, end.time = PlaceholderId(int(placeholder)), asked.clock
        sys.stdout.buffer.write(encode(end.exchange(asked)))
        sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
