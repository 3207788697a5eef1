"""The far end of a channel: finds or starts the runner on this host, and passes on what goes to it and comes from it.

It is shipped to hosts without Headway, and needs only Python 3.9. If it dies with its connection, the runner and its
jobs go on.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from headway.live.client.door import full
from headway.live.client.messages import REQUESTS, Attach
from headway.live.home.folder import Home
from headway.live.sites.frames import (
    CONTROL,
    PORT,
    VERSION,
    Begin,
    Folder,
    Lines,
    Look,
    Open,
    Put,
    Read,
    Ready,
    Seal,
    Shut,
    Sorry,
    Tree,
    control,
    controlled,
    frame,
    unframed,
)
from headway.live.sites.front_files import answered
from headway.model.errors import HeadwayError, shown

TRIES = 100  # to find a runner or to start one, while another is about to come or to go
PAUSE = 0.05  # seconds between two of them
KNOCKING = 10.0  # seconds that a runner may take to let somebody in


def main() -> int:
    """Serves one channel on standard input and output."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # nobody else may write into the channel
    os.close(nothing)
    front = Front(incoming, outgoing)
    try:
        front.run()
    except HeadwayError as error:
        with contextlib.suppress(OSError):
            front.say(control(Sorry(error.what, error.fix)))
        return 1
    except BrokenPipeError:
        return 0
    return 0


class Front:
    """One channel, as its far end sees it."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._frames = Lines()
        self._poll = select.poll()
        self._poll.register(incoming, select.POLLIN)
        self._streams: dict[int, socket.socket] = {}  # by the handle of their socket
        self._numbers: dict[int, int] = {}  # streams, by the same
        self._heard: dict[int, Lines] = {}
        self._ready = -1  # can be read when a new runner lets clients in
        self._early: dict[int, list[bytes]] = {}  # what clients said that came before

    def run(self) -> None:
        waiting = self._begin()
        for line in waiting:
            self._take(line)
        while True:
            for handle, _ in self._poll.poll():
                if handle == self._incoming:
                    data = os.read(self._incoming, 1 << 20)
                    if not data:
                        return
                    for line in self._frames.of(data):
                        self._take(line)
                elif handle == self._ready:
                    self._open_door()
                elif handle in self._streams and not self._pass_on(handle):
                    return

    def say(self, text: bytes) -> None:
        while text:
            text = text[os.write(self._outgoing, text) :]

    # --- beginning -------------------------------------------------------------------------------------------------

    def _begin(self) -> list[bytes]:
        """Waits to be told what is wanted, and sees to a runner; what came beside that."""
        lines: list[bytes] = []
        while not lines:
            data = os.read(self._incoming, 1 << 16)
            if not data:
                raise BrokenPipeError
            lines = self._frames.of(data)
        _, first = unframed(lines[0])
        begin = controlled(first)
        if not isinstance(begin, Begin) or begin.begin != VERSION:
            raise HeadwayError("the two ends of a channel are of different versions of Headway.")
        self._home = _home(begin)
        port, self._ready = found_runner(self._home)
        if self._ready >= 0:
            self._poll.register(self._ready, select.POLLIN)
        host, cores = socket.gethostname(), len(os.sched_getaffinity(0))
        directory = str(_expanded(begin.directory)) if begin.directory else ""
        self.say(control(Ready(VERSION, host, cores, str(self._home.folder), directory)))
        self._add(PORT, port)
        return lines[1:]

    def _add(self, stream: int, line: socket.socket) -> None:
        handle = line.fileno()
        self._streams[handle], self._numbers[handle], self._heard[handle] = line, stream, Lines()
        self._poll.register(handle, select.POLLIN)

    # --- passing on ------------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        """A frame from the near end."""
        stream, text = unframed(line)
        if stream == CONTROL:
            self._control(text)
            return
        if stream in self._early:
            self._early[stream].append(text)
        for handle, number in self._numbers.items():
            if number == stream:
                with contextlib.suppress(OSError):  # it goes just now, which we shall see
                    self._streams[handle].sendall(text)
                return

    def _control(self, text: bytes) -> None:
        message = controlled(text)
        if isinstance(message, Open):
            if self._ready < 0:
                self._let_in(message.open)
            else:
                self._early[message.open] = []
        elif isinstance(message, Shut):
            self._early.pop(message.shut, None)
            for handle, number in list(self._numbers.items()):
                if number == message.shut:
                    self._drop(handle)
        elif isinstance(message, (Read, Look, Put, Seal, Tree)):
            self.say(control(answered(message)))
        elif isinstance(message, Folder):
            try:
                Path(message.folder).expanduser().mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise HeadwayError(
                    f"{message.folder} cannot be made on {socket.gethostname()}: {error.strerror}.",
                    "Name another directory for this site in headway.toml.",
                ) from None

    def _open_door(self) -> None:
        """The new runner has recovered: clients that came meanwhile are let in."""
        self._poll.unregister(self._ready)
        os.close(self._ready)
        self._ready = -1
        early, self._early = self._early, {}
        for stream, lines in early.items():
            self._let_in(stream)
            for line in lines:
                self._take(frame(stream, line))

    def _let_in(self, stream: int) -> None:
        """A client of the near end becomes one of the runner here; the greeting is for us."""
        line = _greeted(self._home)
        if line is None:  # it goes just now: so does its port, which ends this
            self.say(control(Shut(stream)))
            return
        self._add(stream, line)

    def _pass_on(self, handle: int) -> bool:
        """The runner says something to the near end; False if it has gone."""
        stream = self._numbers[handle]
        try:
            data = self._streams[handle].recv(1 << 20)
        except OSError:
            data = b""
        self.say(b"".join(frame(stream, line) for line in self._heard[handle].of(data)))
        if data:
            return True
        self._drop(handle)
        self.say(control(Shut(stream)))
        return stream != PORT

    def _drop(self, handle: int) -> None:
        self._poll.unregister(handle)
        self._streams.pop(handle).close()
        del self._numbers[handle], self._heard[handle]


def _expanded(directory: str) -> Path:
    """A site's directory, with a home for its ~."""
    try:
        return Path(directory).expanduser()
    except RuntimeError:
        what = f"nobody on {socket.gethostname()} has the home that {shown(directory)} names."
        raise HeadwayError(what, "Correct the directory of this site in headway.toml.") from None


def _folder(begin: Begin) -> Path:
    """Where the runner keeps its files: apart for each store, site and host, since hosts may share a file system."""
    name = "-".join(_plain(word) for word in (begin.store, begin.site, socket.gethostname()))
    if begin.directory:
        return _expanded(begin.directory) / ".headway" / name
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "headway" / name


def _home(begin: Begin) -> Home:
    """The same, made if it is not there."""
    try:
        return Home(_folder(begin))
    except HeadwayError as error:
        where = (
            "Name another directory for this site in headway.toml." if begin.directory else "Make room for it there."
        )
        raise HeadwayError(f"on {socket.gethostname()}: {error.what}", where) from None


def _plain(word: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._" else "_" for letter in word)


def found_runner(home: Home) -> tuple[socket.socket, int]:
    """A line that is a runner's way to its store; and, if it was just started, what closes when clients can come.

    -1: they can come now.
    """
    for _ in range(TRIES):
        line = _greeted(home)
        if line is not None:
            line.sendall(REQUESTS.encode(Attach()))
            return line, -1
        ours, ready = _started(home)
        readable, _, _ = select.select([ours], [], [], KNOCKING)
        if readable and ours.recv(1, socket.MSG_PEEK):
            return ours, ready
        ours.close()
        os.close(ready)
        time.sleep(PAUSE)
    last = home.last_words()
    raise HeadwayError(f"no runner can be started on {socket.gethostname()}.", f"{home.talk} may tell why: {last}")


def _greeted(home: Home) -> socket.socket | None:
    """A line to the runner that is there; None if there is none, or if it goes just now."""
    try:
        found = home.connect(KNOCKING)
    except TimeoutError:
        raise HeadwayError(
            f"the runner on {socket.gethostname()} does not answer.", f"{home.talk} may tell why: {home.last_words()}"
        ) from None
    if found is None:
        return None
    line = full(found)
    line.settimeout(KNOCKING)
    heard = b""
    with contextlib.suppress(OSError):
        while not heard.endswith(b"\n"):  # one byte at a time: what follows is for others
            data = line.recv(1)
            if not data:
                break
            heard += data
    if not heard.endswith(b"\n"):
        line.close()
        return None
    line.settimeout(None)
    return line


def _started(home: Home) -> tuple[socket.socket, int]:
    """A new runner with its end of a line to us."""
    ours, theirs = socket.socketpair()

    def become(told: int) -> int:
        from headway.live.placeholder.process import become_far_runner

        ours.close()
        return become_far_runner(home, theirs, told)

    ready = started(home, become)
    theirs.close()
    return ours, ready


def started(home: Home, become: Callable[[int], int]) -> int:
    """A new runner behind a keeper; what closes when it lets clients in, or has ended.

    It is no child of ours: a login ends before it.
    """
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()
            if os.fork():
                os._exit(0)
            from headway.live.client.starter import keep_runner

            code = keep_runner(home.folder, told, lambda: become(told))
        except BaseException:
            import traceback

            traceback.print_exc()  # to the near end: there is no log yet
        finally:
            os._exit(code)
    os.waitpid(child, 0)
    os.close(told)
    return ready


if __name__ == "__main__":
    sys.exit(main())
