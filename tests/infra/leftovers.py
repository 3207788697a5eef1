"""Tests leave no process behind: what one of them started and nobody ended is killed, and fails the session."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MARK = "HEADWAY_TESTS"  # in the environment of all that this process starts
OWN = b"multiprocessing.resource_tracker"  # Python's own helper, which ends with the process that uses it
PATIENCE = float(os.environ.get("HEADWAY_TESTS_PATIENCE", "10"))  # seconds: a runner that nobody needs ends by itself

_left: list[str] = []


def mark() -> None:
    """From now on, what this process starts can be told from what others do."""
    os.environ[MARK] = f"{os.getpid()}-{time.monotonic_ns()}"


def started() -> Iterator[tuple[int, str]]:
    """Processes that carry our mark, with their command lines. What has ended but was not reaped has none."""
    wanted = f"{MARK}={os.environ[MARK]}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) != os.getpid() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
                if words and OWN not in words:
                    yield int(folder.name), words.decode(errors="replace")
        except OSError:
            continue  # it has just ended, or is another user's


def ended() -> list[str]:
    """Waits a little, then kills what is left; the command line of each."""
    until = time.monotonic() + PATIENCE
    while (left := list(started())) and time.monotonic() < until:
        time.sleep(0.05)
    for pid, _ in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return [f"{pid}: {words}" for pid, words in left]


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if worker is not None:
        worker["left"] = ended()
        return
    _left.extend(ended())
    if _left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of several has ended."""
    _left.extend(getattr(node, "workeroutput", {}).get("left", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _left:
        terminalreporter.write_line(f"left behind by a test, and killed: {line}", red=True)
