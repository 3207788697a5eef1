"""A real PostgreSQL server for tests. Where it cannot start, tests fail: a store that is not tested is none."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL of a throw-away server's database."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path may have 107 characters
    try:
        for _ in range(3):
            port = _free_port()
            up = subprocess.run([HERE / "pg-up", folder, "-p", str(port)], capture_output=True, text=True, check=False)
            if up.returncode == 0:
                break  # else somebody took the port meanwhile
        assert up.returncode == 0, f"PostgreSQL does not start: {up.stdout}{up.stderr}"
        yield f"postgresql://postgres@127.0.0.1:{port}/test"
    finally:
        subprocess.run([HERE / "pg-down", folder, "--purge"], capture_output=True, check=False)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
