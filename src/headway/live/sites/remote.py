"""Commands and files at the host of a site, this computer or one behind ssh; nothing waits for them meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shlex import join, quote

from headway.live.sites.queues import Completed
from headway.live.sites.site import Site
from headway.model.errors import HeadwayError

PATIENCE = 60.0  # seconds that a command may take
PIECE = 1 << 18
LONGEST = 48  # characters of a folder's path, so that a socket in it can have a name as ssh gives it
STANDS = 60  # seconds that the connection stays open behind the last command


class Remote:
    """The host of one site."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._shared: list[str] | None = None  # options by which commands share a connection
        self._sockets = ""  # the folder of its socket
        self._first = asyncio.Lock()

    async def run(self, argv: Sequence[str], given: bytes = b"") -> Completed:
        """A command there, to its end. HeadwayError: nobody knows whether it was done."""
        return await self.shell(join(argv), given)

    async def shell(self, command: str, given: bytes = b"") -> Completed:
        code, out, said = await self._run(command, given)
        return Completed(code, out.decode(errors="replace"), said.decode(errors="replace"))

    async def _run(self, command: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
        async with self._first:
            if self._shared is None or (self._sockets and not Path(self._sockets).is_dir()):  # /tmp may be tidied
                self._shared = await self._sharing()
        return await self._started(self.site.arguments(f"exec sh -c {quote(command)}", *self._shared), command, given)

    async def _sharing(self) -> list[str]:
        """One login serves all commands for a while. A connection that the user shares by own settings stays in use."""
        if not self.site.host:
            return []
        _, out, _ = await self._started(["ssh", "-G", *self.site.ssh_options, "--", self.site.host], "ssh -G")
        settings = dict(line.partition(" ")[::2] for line in out.decode(errors="replace").splitlines())
        if settings.get("controlpath", "none") != "none":
            return []
        try:
            folder = tempfile.mkdtemp(prefix="headway-ssh-")  # for us alone
        except OSError:
            return []
        if len(folder) > LONGEST:
            Path(folder).rmdir()
            return []
        self._sockets = folder
        return [
            *("-o", "ControlMaster=auto", "-o", f"ControlPath={self._sockets}/%C"),
            *("-o", f"ControlPersist={STANDS}"),
        ]

    async def close(self) -> None:
        """Ends the connection that commands share."""
        if self._sockets:
            with contextlib.suppress(HeadwayError):
                await self._started([*self.site.arguments("exit", *(self._shared or ()), "-O", "exit")][:-1], "ssh -O")
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets, self._shared = "", None

    async def _started(self, argv: Sequence[str], command: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
        except OSError as error:
            raise HeadwayError(f"ssh cannot be started: {error.strerror}.", "Install OpenSSH's client.") from None
        try:
            out, said = await asyncio.wait_for(process.communicate(given), PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started would stay, one more at every look
            await process.wait()
            where = f" on {self.site.host}" if self.site.host else ""
            what = f"{command.split(maxsplit=1)[0]}{where} has not answered for {PATIENCE:.0f} s."
            raise HeadwayError(what, "It is tried again; try it by hand.") from None
        return process.returncode or 0, out, said

    async def write(self, path: str, data: bytes) -> None:
        """A file there that nobody else can read, whole or not at all."""
        folder = path.rpartition("/")[0]
        part = quote(f"{path}.part")
        # A connection that breaks looks to cat like the end of the data.
        words = (
            f"umask 077 && mkdir -p {quote(folder)} && cat > {part}"
            f" && test $(wc -c < {part}) -eq {len(data)} && mv {part} {quote(path)}"
        )
        done = await self.shell(words, data)
        if done.code:
            why = done.said.strip()[-200:].rstrip(".") or "not all of it has arrived"
            raise HeadwayError(f"{path} cannot be written at site {self.site.name}: {why}.")

    async def whole(self, path: str) -> bytes:
        """All of a file there that does not grow without end; empty if there is none."""
        text = b""
        while True:
            data, size = await self.piece(path, len(text))
            text += data
            if not data or len(text) >= size:
                return text

    async def piece(self, path: str, at: int) -> tuple[bytes, int]:
        """A part of a file there, and its size; -1: there is none."""
        words = f"wc -c < {quote(path)} && tail -c +{at + 1} {quote(path)} | head -c {PIECE}"
        try:
            code, out, _ = await self._run(words)
        except HeadwayError:
            return b"", -1
        first, _, rest = out.partition(b"\n")
        return (rest, int(first)) if code == 0 and first.strip().isdigit() else (b"", -1)
