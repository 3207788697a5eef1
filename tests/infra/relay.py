"""A slow connection: passes bytes on, both ways, each after a delay. Run as `relay.py SECONDS COMMAND…`, it stands
between its own standard input and output and those of a command."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections import deque


def relay(delay: float, ways: dict[int, int]) -> None:
    """Passes on from each handle to another until one of them is closed."""
    waiting = {source: deque[tuple[float, bytes]]() for source in ways}
    while True:
        due = [queue[0][0] for queue in waiting.values() if queue]
        pause = max(0.0, min(due) - time.monotonic()) if due else None
        ready, _, _ = select.select(list(ways), [], [], pause)
        for source in ready:
            data = os.read(source, 1 << 16)
            waiting[source].append((time.monotonic() + delay, data))
        for source, queue in waiting.items():
            while queue and queue[0][0] <= time.monotonic():
                _, data = queue.popleft()
                if not data:
                    return
                while data:
                    data = data[os.write(ways[source], data) :]


def main() -> None:
    with subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as behind:
        assert behind.stdin is not None and behind.stdout is not None
        try:
            relay(float(sys.argv[1]), {0: behind.stdin.fileno(), behind.stdout.fileno(): 1})
        except OSError:
            pass
        finally:
            behind.kill()


if __name__ == "__main__":
    main()
