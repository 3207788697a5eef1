"""Files on a far host, as the near end of a channel asks for them: looked at, written in pieces, made whole."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path

from headway.live.sites.frames import DAMAGED, Found, Leaves, Look, Put, Read, Seal, Seen, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

PIECE = 1 << 19  # bytes of a file that are sent at once


def answered(message: Look | Put | Seal | Tree | Read) -> Seen | Leaves | Found:
    """What is said to a message about a file."""
    if isinstance(message, Look):
        return _seen(message.look, message.number)
    if isinstance(message, Put):
        return _put(message)
    if isinstance(message, Seal):
        return _sealed(message)
    if isinstance(message, Tree):
        return Leaves(_leaves(message.tree), message.number)
    return found(message)


def _opened(path: str) -> BinaryIO:
    """A plain file to read. OSError: it is none; a pipe would wait for a writer, and a device may have no end."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is no plain file")
    return os.fdopen(handle, "rb")


def found(wanted: Read) -> Found:
    """A piece of a file here."""
    try:
        with _opened(wanted.read) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(wanted.at, size))
            return Found(base64.b64encode(file.read(PIECE)).decode(), size, wanted.stream)
    except (OSError, ValueError):
        return Found("", -1, wanted.stream)


def _seen(path: str, number: int) -> Seen:
    known = hashlib.sha256()
    try:
        with _opened(path) as file:
            about = os.fstat(file.fileno())
            while data := file.read(1 << 20):
                known.update(data)
    except (OSError, ValueError):
        return Seen(number, -1)
    return Seen(number, about.st_size, known.hexdigest(), about.st_mode & 0o777)


def _put(message: Put) -> Seen:
    """Writes a piece; what is behind it is cut off. A file that is another's, or a link, is not written through."""
    try:
        Path(message.put).parent.mkdir(parents=True, exist_ok=True)
        data = base64.b64decode(message.data)
        handle = os.open(message.put, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.seek(message.at)
            file.write(data)
            file.truncate()
    except OSError as error:
        return Seen(message.number, -1, error=error.strerror or str(error))
    return Seen(message.number, message.at + len(data))


def _sealed(message: Seal) -> Seen:
    """The file is whole now, and gets its name."""
    seen = _seen(message.seal, message.number)
    if (seen.size, seen.digest) != (message.size, message.digest):
        return Seen(message.number, -1, error=DAMAGED)
    try:
        os.chmod(message.seal, message.mode)  # noqa: PTH101
        os.replace(message.seal, message.name)  # noqa: PTH105
    except OSError as error:
        return Seen(message.number, -1, error=error.strerror or str(error))
    return seen


def _leaves(path: str) -> list[str]:
    """The files below a folder, by their paths there; "": it is a file itself."""
    if os.path.isfile(path):  # noqa: PTH113
        return [""]
    names: list[str] = []
    for folder, _, files in os.walk(path):
        names += [os.path.relpath(os.path.join(folder, name), path) for name in files]  # noqa: PTH118
    return sorted(names)
