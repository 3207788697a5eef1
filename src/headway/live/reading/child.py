"""A user's program, run to its end: what it prints never reaches our stdout, and nothing of it outlives us."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType

from headway.model.errors import InputError
from headway.model.record import record

KEPT = 65536  # bytes of what it printed last
MOST = 64 * 2**20  # bytes after which it prints without end
PATIENCE = 5.0  # seconds in which what a program left behind may still end by itself
TURN = 0.25  # seconds between two looks at whether it has ended
FAREWELL = 1.0  # seconds between being asked to end and being ended
DEPTH, DEEPEST = "HEADWAY_DEPTH", 10  # programs that Headway runs may call Headway, but not for ever


@record
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


@contextlib.contextmanager
def started(
    path: str, command: Sequence[str], directory: str, environment: Mapping[str, str] | None, stdout: int, stderr: int
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that the file at `path` needs run; it and all that it started are gone afterwards, whatever happens."""
    depth = _depth(path)
    around = {**(os.environ if environment is None else environment), DEPTH: str(depth + 1)}
    with _endings() as endings:
        try:
            process = subprocess.Popen(
                command,
                cwd=directory,
                env=around,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,  # a group to end, and no terminal to wait for an answer on
            )
        except (OSError, ValueError) as error:
            raise InputError(path, 1, f"{command[0]} cannot be started: {error}.", "Check the arguments.") from None
        try:
            endings.let_go()
            yield process
        finally:
            endings.held = True
            _end(process, FAREWELL / (depth + 1))  # who is further inside must be done earlier
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def _end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Ends a program and its group: first so that a Headway in it can end what it runs itself, then for good."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all of it is gone
        os.killpg(process.pid, signal.SIGTERM)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


_Handler = Callable[[int, FrameType | None], object] | signal.Handlers


class _Endings:
    """The signals that end us, raised where we are; while a program is started or ended, only afterwards."""

    def __init__(self) -> None:
        self.held = True
        self.noted = 0

    def __call__(self, number: int, _: object) -> None:
        self.noted = number
        if not self.held:
            self.let_go()

    def let_go(self) -> None:
        self.held = False
        number, self.noted = self.noted, 0
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number:
            raise SystemExit(128 + number)


@contextlib.contextmanager
def _endings() -> Iterator[_Endings]:
    """Catches the signals that would end us, except where somebody else sees to them."""
    endings = _Endings()
    usual: dict[signal.Signals, _Handler] = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    ours = threading.current_thread() is threading.main_thread()
    caught = [number for number, handler in usual.items() if ours and signal.getsignal(number) == handler]
    try:
        for number in caught:
            signal.signal(number, endings)
        yield endings
    finally:
        for number in caught:
            signal.signal(number, usual[number])
    endings.let_go()


def _depth(path: str) -> int:
    """How many programs that Headway runs this Headway is inside of; an error where they seem to have no end."""
    text = os.environ.get(DEPTH, "")
    depth = int(text) if text.isdecimal() and len(text) < 5 else 0
    if depth >= DEEPEST:
        raise InputError(path, 1, f"reading it runs Headway {DEEPEST} levels deep.", "Does it read itself?")
    return depth


def run(
    path: str,
    command: Sequence[str],
    directory: str,
    environment: Mapping[str, str] | None = None,
    keep_stdout: bool = True,
) -> Ended:
    """Runs what the file at `path` needs run; its stdout is kept with its stderr, or dropped."""
    pipe, dropped = subprocess.PIPE, subprocess.DEVNULL
    with started(
        path,
        command,
        directory,
        environment,
        stdout=pipe if keep_stdout else dropped,
        stderr=subprocess.STDOUT if keep_stdout else pipe,
    ) as process:
        stream = process.stdout if keep_stdout else process.stderr
        assert stream is not None
        said = _last_of(path, process, stream.fileno())
        return Ended(process.wait(), said.decode("utf-8", "replace"))


def _last_of(path: str, process: subprocess.Popen[bytes], stream: int) -> bytes:
    """What it printed last; what it leaves running in the background is not waited for long."""
    kept, total, patience = b"", 0, PATIENCE
    while patience > 0:
        if not select.select([stream], [], [], TURN)[0]:
            patience -= TURN if process.poll() is not None else 0
            continue
        piece = os.read(stream, KEPT)
        if not piece:
            break
        kept = (kept + piece)[-KEPT:]
        total += len(piece)
        if total > MOST:
            raise InputError(path, 1, f"the script has printed {MOST >> 20} MB and goes on.", "Let it print less.")
    return kept
