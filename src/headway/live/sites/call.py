"""One connection to a far host: ssh with the far end of a channel behind it, from the first byte to its end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess

from headway.live.sites.frames import VERSION, Begin, Lines, control
from headway.live.sites.shipping import HAVE, NEED, command, package
from headway.live.sites.site import Site

MOST_SAID = 4096  # bytes of what ssh says that are kept
GOODBYE = 2.0  # seconds that ssh has to end by itself


class Call:
    """An ssh that was started. What comes before the far end begins (a login's talk) is passed over."""

    def __init__(self, site: Site, store: str) -> None:
        self._site, self._store = site, store
        ours, theirs = socket.socketpair()
        said, saying = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self._ssh = subprocess.Popen(
                site.arguments(command(package(), site.python)),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=saying,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(saying)
        ours.setblocking(False)
        self.line, self._said = ours, said
        self._talk = b""
        self._has_begun = False
        self._lines = Lines()
        self._unsent = b""

    def fileno(self) -> int:
        return self.line.fileno()

    def heard(self) -> list[bytes] | None:
        """Frames that have come; None: it is over."""
        try:
            data = self.line.recv(1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            return None
        lines = self._lines.of(data)
        while lines and not self._has_begun:
            first = lines.pop(0).strip()
            if first in (NEED, HAVE):
                self._has_begun = True
                begin = control(Begin(VERSION, self._store, self._site.name, self._site.directory))
                self.say((package().data if first == NEED else b"") + begin)
        return lines

    def say(self, text: bytes) -> None:
        self._unsent += text
        self.flush()

    @property
    def is_behind(self) -> bool:
        return bool(self._unsent)

    def flush(self) -> None:
        """Sends what the line takes; that it is over is heard."""
        with contextlib.suppress(BlockingIOError):
            try:
                while self._unsent:
                    self._unsent = self._unsent[self.line.send(self._unsent) :]
            except BlockingIOError:
                raise
            except OSError:
                self._unsent = b""

    def why(self) -> str:
        """What ssh, or the far host, has said on standard error; the last line of it that says something."""
        with contextlib.suppress(OSError):
            while data := os.read(self._said, 1 << 16):
                self._talk = (self._talk + data)[-MOST_SAID:]
        lines = [line.strip() for line in self._talk.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else ""

    @property
    def all_said(self) -> str:
        self.why()
        return self._talk.decode(errors="replace")

    def end(self) -> int:
        """Ends it; the exit code of ssh."""
        self.line.close()
        try:
            code = self._ssh.wait(GOODBYE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._ssh.pid, signal.SIGKILL)
            code = self._ssh.wait()
        self.why()
        os.close(self._said)
        return code
