"""A user's program, run to its end: what it prints never reaches our stdout, and nothing of it outlives us."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from headway.model.errors import InputError

KEPT = 65536  # bytes of what it printed last
MOST = 64 * 2**20  # bytes after which it prints without end


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it printed last."""

    status: int
    said: str

    @property
    def last_words(self) -> str:
        """The last line that it printed."""
        lines = [line for line in self.said.splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""

    @property
    def how(self) -> str:
        """The status as a sentence's end."""
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"signal {signal.Signals(-self.status).name}"
        except ValueError:
            return f"signal {-self.status}"


def run(
    path: str,
    command: Sequence[str],
    directory: str,
    environment: Mapping[str, str] | None = None,
    keep_stdout: bool = True,
) -> Ended:
    """Runs what the file at `path` needs run; its stdout is kept with its stderr, or dropped."""
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if keep_stdout else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if keep_stdout else subprocess.PIPE,
            process_group=0,
        )
    except (OSError, ValueError) as error:
        raise InputError(path, 1, f"{command[0]} cannot be started: {error}.", "Check the arguments.") from None
    stream = process.stdout if keep_stdout else process.stderr
    assert stream is not None
    try:
        with stream:
            said = _last_of(path, stream)
        return Ended(process.wait(), said.decode("utf-8", "replace"))
    except BaseException:
        _end(process)
        raise


def _last_of(path: str, stream: IO[bytes]) -> bytes:
    kept, total = b"", 0
    while piece := os.read(stream.fileno(), KEPT):
        kept = (kept + piece)[-KEPT:]
        total += len(piece)
        if total > MOST:
            raise InputError(path, 1, f"the script has printed {MOST >> 20} MB and goes on.", "Let it print less.")
    return kept


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program and all that it started in its process group."""
    with contextlib.suppress(ProcessLookupError):  # all of it is gone already
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
