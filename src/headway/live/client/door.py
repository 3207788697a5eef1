"""The runner's door: a Unix socket in the folder of a store, for its user alone.

Sockets here are those of the C module. What `socket` adds is not needed, and every run would wait 2 ms for it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from _socket import AF_UNIX, SO_PEERCRED, SO_SNDTIMEO, SOCK_STREAM, SOL_SOCKET, socket
from pathlib import Path

from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as sockets

    FullSocket = sockets.socket

DOOR = "runner.sock"


class Door:
    """A socket to listen on. It stays in the folder it was made in, whatever comes to lie at that folder's path."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._path = _path(folder)
        self.remark = ""  # what was found in its place
        self.open()

    def open(self) -> None:
        if not self._unlink():
            self._clear()
        self.socket = socket(AF_UNIX, SOCK_STREAM)
        before = os.umask(0o077)
        try:
            self.socket.bind(self._path)
        finally:
            os.umask(before)
        self.socket.listen(64)
        self.socket.setblocking(False)

    def accept(self) -> socket:
        """The line of one who has knocked; BlockingIOError if nobody has."""
        handle, _ = self.socket._accept()  # type: ignore[attr-defined]
        return socket(fileno=handle)

    def hide(self) -> None:
        """Nobody finds it any more; who has already knocked can still be let in."""
        self._unlink()

    def _unlink(self) -> bool:
        """Removes a socket; False if there is something else."""
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISSOCK(os.lstat(self._path).st_mode):
                return False
            os.unlink(self._path)  # noqa: PTH108 - a path of our own making, through a folder's handle
        return True

    def _clear(self) -> None:
        """Keeps what is no socket under another name."""
        from headway.live.placeholder.aside import set_aside  # hardly a run needs it, and each would wait for it

        path = Path(os.readlink(_handle(self._folder)), DOOR)  # noqa: PTH115 - no path, a name
        try:
            self.remark = set_aside(path, "is no socket")
        except OSError as error:
            what = f"{path} is no socket, and cannot be renamed: {error.strerror}."
            raise HeadwayError(what, "Remove it, or choose another place with --store FOLDER.") from None


def knock(folder: int, patience: float) -> socket | None:
    """Connects to the runner's socket in a folder; None if no process listens. No link is followed.

    Where a runner lets nobody in, the places to wait in are taken after some time, also by those who have gone; who
    comes then waits for some seconds only, and hears of it by a TimeoutError.
    """
    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        if stat.S_ISSOCK(os.stat(DOOR, dir_fd=folder, follow_symlinks=False).st_mode):
            _limit(line, patience)  # a socket of Python's with a time limit would not wait at all
            line.connect(_path(folder))
            _limit(line, 0.0)
            return line
    except (FileNotFoundError, ConnectionRefusedError):
        pass
    except BlockingIOError:
        line.close()
        raise TimeoutError from None
    except BaseException:
        line.close()
        raise
    line.close()
    return None


def full(line: socket) -> FullSocket:
    """The same line with all that `socket` adds."""
    from socket import socket

    return socket(fileno=line.detach())


def _limit(line: socket, seconds: float) -> None:
    """How long connecting and sending may wait; 0: for ever."""
    width = (sys.maxsize.bit_length() + 1) // 8  # of C's long
    parts = (int(seconds), int(seconds % 1 * 1e6))
    line.setsockopt(SOL_SOCKET, SO_SNDTIMEO, b"".join(one.to_bytes(width, sys.byteorder) for one in parts))


def peer(line: socket) -> int:
    """The user at the other end of a line."""
    known = line.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)  # three integers: process, user, group
    return int.from_bytes(known[4:8], sys.byteorder)


def _path(folder: int) -> str:
    """Short enough however deep the folder lies: through a handle of the folder."""
    return f"{_handle(folder)}/{DOOR}"


def _handle(folder: int) -> str:
    return f"/proc/self/fd/{folder}"
