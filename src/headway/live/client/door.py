"""The runner's door: a Unix socket in the folder of a store, for its user alone."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys

DOOR = "runner.sock"


class Door:
    """A socket to listen on. It stays in the folder it was made in, whatever comes to lie at that folder's path."""

    def __init__(self, folder: int) -> None:
        self._path = _path(folder)
        self.open()

    def open(self) -> None:
        self._unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o077)
        try:
            self.socket.bind(self._path)
        finally:
            os.umask(before)
        self.socket.listen(64)
        self.socket.setblocking(False)

    def hide(self) -> None:
        """Nobody finds it any more; who has already knocked can still be let in."""
        self._unlink()

    def _unlink(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108 - a path of our own making, through a folder's handle


def knock(folder: int) -> socket.socket | None:
    """Connects to the runner's socket in a folder; None if no process listens. No link is followed."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if stat.S_ISSOCK(os.stat(DOOR, dir_fd=folder, follow_symlinks=False).st_mode):
            line.connect(_path(folder))
            return line
    except (FileNotFoundError, ConnectionRefusedError):
        pass
    except BaseException:
        line.close()
        raise
    line.close()
    return None


def peer(line: socket.socket) -> int:
    """The user at the other end of a line."""
    known = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # three integers: process, user, group
    return int.from_bytes(known[4:8], sys.byteorder)


def _path(folder: int) -> str:
    """Short enough however deep the folder lies: through a handle of the folder."""
    return f"/proc/self/fd/{folder}/{DOOR}"
