"""What other processes on this host change in the same SQLite file: each listener has a datagram socket beside it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from headway.live.home.ownership import own_folder
from headway.model.messages import WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

FOLDER = "news"
FULL = 8  # datagrams that were waiting: a sender may have found the queue full, and said nothing
EVERY = WorkflowId(0)  # any workflow may have changed


class SqliteNews:
    """Keeps to database.News. What is said inside a transaction is sent once it is committed."""

    def __init__(self, folder: str) -> None:
        self._folder = f"{folder}/{FOLDER}"
        self._handle = -1  # of that folder
        self._told: dict[WorkflowId, bool] = {}
        self._ear: socket.socket | None = None
        self._name = ""
        self._also: Callable[[dict[WorkflowId, bool]], None] | None = None

    def also_tell(self, whom: Callable[[dict[WorkflowId, bool]], None]) -> None:
        """Others behind this very process hear of what is changed by it, too."""
        self._also = whom

    # --- what this process changes -----------------------------------------------------------------------------------

    def begin(self) -> None:
        """A transaction begins."""
        self._told.clear()

    def tell(self, workflow: WorkflowId, stops: bool = False) -> None:
        self._told[workflow] = stops or self._told.get(workflow, False)

    def send(self) -> None:
        """It is committed: all who listen hear of it. A listener that died is removed."""
        if not self._told:
            return
        if self._also is not None:
            self._also(dict(self._told))
        texts = [b"%d%s" % (workflow, b"!" * stops) for workflow, stops in self._told.items()]
        self._told.clear()
        folder = self._opened()
        names = os.listdir(f"/proc/self/fd/{folder}")  # noqa: PTH208 - by its handle
        others = [name for name in names if name != self._name]
        if not others:
            return
        import socket  # services, each a process of its own, do without if nobody listens

        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.setblocking(False)
            for name in others:
                self._send(out, texts, folder, name)

    def _send(self, out: socket.socket, texts: list[bytes], folder: int, name: str) -> None:
        try:
            for text in texts:
                out.sendto(text, f"/proc/self/fd/{folder}/{name}")
        except BlockingIOError:  # it has not read for long, and looks at everything when it does
            return
        except ConnectionRefusedError:
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=folder)
        except OSError:
            return

    # --- what others change ------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Has this process hear; what happened before is not heard, so look once after this."""
        if self._ear is not None:
            return
        import socket

        folder = self._opened()
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}"
        self._ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ear.bind(f"/proc/self/fd/{folder}/{self._name}")
        self._ear.setblocking(False)

    def fileno(self) -> int:
        return -1 if self._ear is None else self._ear.fileno()

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end."""
        news: dict[WorkflowId, bool] = {}
        if self._ear is None:
            return news
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                number, mark, _ = self._ear.recv(64).partition(b"!")
                count += 1
                if number.isdigit():
                    workflow = WorkflowId(int(number))
                    news[workflow] = bool(mark) or news.get(workflow, False)
        if count >= FULL:
            news[EVERY] = True
        return news

    def close(self) -> None:
        if self._ear is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._name, dir_fd=self._opened())
            self._ear.close()
            self._ear = None
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _opened(self) -> int:
        """The folder of the sockets, ours alone."""
        if self._handle < 0:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)  # noqa: PTH102 - as text, beside a store's file
            self._handle = own_folder(self._folder)
        return self._handle
