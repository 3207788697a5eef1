"""The way from a placeholder to its store over TLS 1.3: a process between the runner's pipe and the store's door.

The door's certificate is known by its digest, which came with the allocation's script: no authority is asked. What is
shown to the door is in a private file, and never in arguments or logs. Standard library only: it is shipped.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import select
import socket
import ssl

from headway.live.doors.codec import encode
from headway.live.doors.messages import Trouble
from headway.model.record import record

CALLING = 15.0  # seconds that connecting may take
PIECE = 1 << 16


@record
class Address:
    """Where a store's door is, how it is known, and what is shown to it."""

    hosts: list[str]
    port: int
    fingerprint: str  # of its certificate, SHA-256
    token: str
    allocation: int
    instance: str  # of this process: a token counts for the first that shows it


def relay(address: Address, handle: int) -> None:
    """Connects, and passes on what comes from either side until one of them ends. The runner hears why it cannot be."""
    pipe = socket.socket(fileno=handle)
    try:
        door = _called(address)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            pipe.sendall(encode(Trouble(f"the store at {address.hosts[0]}:{address.port} cannot be reached: {error}.")))
        return
    _pass_on(pipe, door)


def _called(address: Address) -> ssl.SSLSocket:
    """A connection to the door, at the first of its addresses where it really answers."""
    last: Exception = OSError("it has no address")
    for host in address.hosts:
        try:
            return _connected(host, address)
        except (OSError, ValueError) as error:  # an address may be another host's here: a bridge of containers, say
            last = error
    raise last


def _connected(host: str, address: Address) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # it is known by its very certificate
    plain = socket.create_connection((host, address.port), CALLING)
    with contextlib.closing(plain):  # unless it is wrapped by then
        line = context.wrap_socket(plain)
    found = hashlib.sha256(line.getpeercert(binary_form=True) or b"").hexdigest()
    if not hmac.compare_digest(found, address.fingerprint):
        line.close()
        raise ValueError("another certificate answers there than the one that this allocation was told of")
    said = {"token": address.token, "allocation": address.allocation, "instance": address.instance}
    line.sendall(json.dumps(said).encode() + b"\n")
    line.settimeout(None)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        with contextlib.suppress(AttributeError, OSError):
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return line


def _pass_on(pipe: socket.socket, door: ssl.SSLSocket) -> None:
    door.setblocking(False)  # what can be read may be TLS's own, with nothing in it for us
    try:
        while True:
            ready = [door] if door.pending() else select.select([pipe, door], [], [])[0]
            if door in ready:
                with contextlib.suppress(ssl.SSLWantReadError):
                    data = door.recv(PIECE)
                    if not data:
                        return
                    pipe.sendall(data)
            if pipe in ready:
                data = pipe.recv(PIECE)
                if not data:
                    return
                _send(door, data)
    except OSError:
        return


def _send(door: ssl.SSLSocket, data: bytes) -> None:
    """All of it, however long the door takes."""
    while data:
        try:
            data = data[door.send(data) :]
        except ssl.SSLWantWriteError:
            select.select([], [door], [])
        except ssl.SSLWantReadError:
            select.select([door], [], [])
