"""A relay on the login host of a queue whose nodes cannot reach the store's computer. Shipped; Python 3.9 and later.

Nodes call this host. What they say goes over the ssh connection that started this process, and back; it is TLS between
them and the store's door, so nothing can be read here. It ends with that connection.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator

HELLO = b"headway-relay "  # before the line that says where nodes call; a login may print other things first
HEAD = struct.Struct(">IBI")  # stream, what it is, bytes that follow
OPEN, DATA, SHUT, ALIVE = range(4)
PIECE = 1 << 16
SILENCE = 60.0  # seconds without a sign of life from the other end
MOST_UNSENT = 64 << 20  # bytes that a node may leave unread
_SIOCGIFADDR = 0x8915


class Frames:
    """Whole frames of what has come so far."""

    def __init__(self) -> None:
        self._heard = bytearray()

    def of(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        self._heard += data
        while len(self._heard) >= HEAD.size:
            stream, kind, size = HEAD.unpack_from(self._heard)
            if len(self._heard) < HEAD.size + size:
                return
            text = bytes(self._heard[HEAD.size : HEAD.size + size])
            del self._heard[: HEAD.size + size]
            yield stream, kind, text


def frame(stream: int, kind: int, text: bytes = b"") -> bytes:
    return HEAD.pack(stream, kind, len(text)) + text


def main(folder: str, port: str) -> int:
    """Listens at the port that nodes know from before, if it is free, and relays until the connection ends."""
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103 - the fewest imports
    claim = _claimed(folder)
    door = _listening(int(port))
    said = {"hosts": addresses(), "port": door.getsockname()[1]}
    os.write(1, HELLO + json.dumps(said).encode() + b"\n")
    with contextlib.suppress(OSError):
        Relay(door).run()
    os.close(claim)
    return 0


class Relay:
    """What nodes say, to and fro."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)
        self._poll.register(door, select.POLLIN)
        self._nodes: dict[int, socket.socket] = {}  # by stream
        self._streams: dict[int, int] = {}  # by handle
        self._unsent: dict[int, bytearray] = {}  # by stream
        self._last = 0

    def run(self) -> None:
        frames, heard = Frames(), time.monotonic()
        while time.monotonic() < heard + SILENCE:
            for handle, mask in self._poll.poll(1000):
                if handle == 0:
                    data = os.read(0, PIECE)
                    if not data:
                        return
                    heard = time.monotonic()
                    for stream, kind, text in frames.of(data):
                        self._take(stream, kind, text)
                elif handle == self._door.fileno():
                    self._welcome()
                elif handle in self._streams:
                    self._attend(self._streams[handle], mask)

    def _welcome(self) -> None:
        node, _ = self._door.accept()
        node.setblocking(False)
        self._last += 1
        self._nodes[self._last], self._streams[node.fileno()] = node, self._last
        self._unsent[self._last] = bytearray()
        self._poll.register(node, select.POLLIN)
        _say(frame(self._last, OPEN))

    def _attend(self, stream: int, mask: int) -> None:
        if mask & select.POLLOUT:
            self._flush(stream)
        if stream in self._nodes and mask & ~select.POLLOUT:
            try:
                data = self._nodes[stream].recv(PIECE)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if data:
                _say(frame(stream, DATA, data))
            else:
                _say(frame(stream, SHUT))
                self._drop(stream)

    def _take(self, stream: int, kind: int, text: bytes) -> None:
        if stream not in self._nodes:
            return  # it has gone
        if kind == DATA:
            self._unsent[stream] += text
            self._flush(stream)
        elif kind == SHUT:
            self._drop(stream)

    def _flush(self, stream: int) -> None:
        unsent = self._unsent[stream]
        try:
            while unsent:
                del unsent[: self._nodes[stream].send(unsent)]
        except BlockingIOError:
            pass
        except OSError:
            unsent.clear()  # it has gone, which is heard
        if len(unsent) > MOST_UNSENT:
            _say(frame(stream, SHUT))
            self._drop(stream)
            return
        self._poll.modify(self._nodes[stream], select.POLLIN | (select.POLLOUT if unsent else 0))

    def _drop(self, stream: int) -> None:
        node = self._nodes.pop(stream)
        self._poll.unregister(node)
        del self._streams[node.fileno()], self._unsent[stream]
        node.close()


def _say(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def _claimed(folder: str) -> int:
    """The only relay of this site here: one whose connection broke unnoticed has the port still, and is ended."""
    path = f"{folder}/relay-{socket.gethostname()}"
    claim = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for attempt in range(100):
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            other = os.pread(claim, 32, 0)
            if not attempt and other.isdigit():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(other), signal.SIGTERM)
            time.sleep(0.1)
    else:
        sys.exit(f"headway: another relay has {path} and does not end")
    os.ftruncate(claim, 0)
    os.pwrite(claim, str(os.getpid()).encode(), 0)
    return claim


def _listening(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(("", port))
    except OSError:
        if not port:
            raise
        door.bind(("", 0))  # somebody else has it now
    door.listen(128)
    return door


def addresses() -> list[str]:
    """How nodes may call this host: by its name, else by one of its addresses."""
    found = [socket.gethostname()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                packed = struct.pack("256s", name.encode()[:15])
                found.append(socket.inet_ntoa(fcntl.ioctl(asking.fileno(), _SIOCGIFADDR, packed)[20:24]))
    return [one for one in dict.fromkeys(found) if not one.startswith("127.")]
