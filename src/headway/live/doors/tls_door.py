"""A store's door for other hosts: the lines of a runner's port over TLS 1.3, each connection admitted by a token.

One process serves all of them over one connection to the database: placeholders that have nothing to do cost it
nothing. What one of them changes, the others behind this door hear from here, and everybody else from the store.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from headway.live.doors.codec import LONGEST, encode
from headway.live.doors.messages import Trouble
from headway.live.doors.serving import Server
from headway.live.doors.store_end import StoreEnd
from headway.live.home.certificate import certificate
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.doors.messages import Response
    from headway.live.store import Store

    Admit = Callable[[dict[str, Any]], StoreEnd | None]  # who shows this gets that end of the store, or none

KNOCKING = 15.0  # seconds that somebody may take to say who they are
CARD = 4096  # bytes of that
ALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}  # gone after 30 s
PIECE = 1 << 16  # bytes that are read at once: no more is kept of somebody who has not been admitted


class Ear:
    """What one connection has not been told yet of what others changed. Keeps to what a Server asks of news."""

    def __init__(self) -> None:
        self._news: dict[WorkflowId, bool] = {}

    def note(self, news: dict[WorkflowId, bool]) -> None:
        for workflow, stops in news.items():
            self._news[workflow] = stops or self._news.get(workflow, False)

    def heard(self) -> dict[WorkflowId, bool]:
        news, self._news = self._news, {}
        return news

    def fileno(self) -> int:
        return -1


class TlsDoor:
    """Listens for placeholders."""

    def __init__(self, store: Store, folder: Path, admit: Admit) -> None:
        self._store, self._admit = store, admit
        path, self.fingerprint = certificate(folder)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.load_cert_chain(path)
        self._server: asyncio.Server | None = None
        self._there: dict[asyncio.StreamWriter, tuple[Server, Ear, StoreEnd]] = {}
        self._speaking: Ear | None = None  # whose exchange is under way
        self._ear = -1  # the handle of the store's news that is waited for
        store.news.also_tell(self._told_here)

    async def open(self, host: str, port: int) -> int:
        """Begins to listen; the port."""
        self._server = await asyncio.start_server(
            self._serve, host, port, ssl=self._context, ssl_handshake_timeout=KNOCKING, limit=PIECE
        )
        self._store.news.listen()
        self._watch()
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def count(self) -> int:
        """How many placeholders are connected."""
        return len(self._there)

    @property
    def ends(self) -> list[StoreEnd]:
        """Of all that are connected."""
        return [end for _, _, end in self._there.values()]

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._there):
            writer.close()

    # --- one placeholder ---------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            _notice_death(writer.get_extra_info("socket"))
            card = await asyncio.wait_for(reader.readuntil(b"\n"), KNOCKING)
            end = self._admitted(card)
            if end is None:
                writer.write(encode(Trouble("the store's door does not admit this placeholder.", "Ask for a new one.")))
                await writer.drain()
                return
            await self._talk(end, reader, writer)
        except HeadwayError as error:  # the store is away just now
            writer.write(encode(Trouble(error.what, error.fix)))
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # it has gone, or makes no sense
        except asyncio.CancelledError:
            pass  # this process ends; the placeholder finds the next one, or hears of it
        finally:
            self._there.pop(writer, None)
            writer.close()

    def _admitted(self, card: bytes) -> StoreEnd | None:
        if len(card) > CARD:
            return None
        try:
            said = json.loads(card)
        except (ValueError, RecursionError):
            return None
        return self._admit(said) if isinstance(said, dict) else None

    async def _talk(self, end: StoreEnd, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(response: Response) -> None:
            writer.write(encode(response))

        ear = Ear()
        server = Server(end, ear, say)
        self._there[writer] = server, ear, end
        async for line in _lines(reader):
            self._speaking = ear
            try:
                goes_on = server.answer(line)
            finally:
                self._speaking = None
            self._watch()
            await writer.drain()
            if not goes_on:
                return

    # --- what others change ------------------------------------------------------------------------------------------

    def _told_here(self, news: dict[WorkflowId, bool]) -> None:
        """One behind this door has changed something, or this process has."""
        self._spread(news, self._speaking)

    def _spread(self, news: dict[WorkflowId, bool], but: Ear | None = None) -> None:
        for server, ear, _ in self._there.values():
            if ear is not but:
                ear.note(news)
                asyncio.get_running_loop().call_soon(server.pass_on)

    def _hear(self) -> None:
        try:
            news = self._store.news.heard()
        except HeadwayError:
            self._watch()  # the connection is made again with the next exchange
            return
        if news:
            self._spread(news)

    def _watch(self) -> None:
        """Waits for what the store says of others, on the connection that there is now."""
        handle, loop = self._store.news.fileno(), asyncio.get_running_loop()
        if handle == self._ear:
            return
        if self._ear >= 0:
            loop.remove_reader(self._ear)
        self._ear = handle
        if handle >= 0:
            loop.add_reader(handle, self._hear)


def _notice_death(line: socket.socket) -> None:
    """Has the system end a connection whose other end is cut off or gone; that end may call again meanwhile."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in ALIVE.items():
        line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines, of which one may be much longer than what is read at once."""
    begun = bytearray()
    while data := await reader.read(PIECE):
        first, *more = data.split(b"\n")
        begun += first
        if len(begun) > LONGEST:
            raise ValueError("a line is too long")
        for piece in more:
            yield bytes(begun)
            begun = bytearray(piece)
