"""The door for other hosts, as strangers use it: what they send costs little, and nobody else is harmed by it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from headway.live.doors.store_end import StoreEnd
from headway.live.doors.tls_door import TlsDoor
from headway.live.doors.tls_relay import Address, relay
from headway.live.home.folder import Home
from headway.live.store import opened
from headway.model.errors import HeadwayError

Visit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def visited(folder: Path, visit: Visit, admit: Callable[[Any], StoreEnd | None] | None = None) -> None:
    """One connection to a door of its own."""
    home = Home(folder / "store")
    store = opened(home.database)

    async def run() -> None:
        door = TlsDoor(store, home.folder, admit or (lambda said: None))
        port = await door.open("127.0.0.1", 0)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        await visit(reader, writer)
        writer.close()
        door.close()

    asyncio.run(run())
    store.close()


def test_a_stranger_cannot_fill_the_memory_of_the_door(tmp_path: Path) -> None:
    taken = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        with pytest.raises(OSError):
            for _ in range(1024):
                writer.write(b"x" * (1 << 16))
                await writer.drain()
                taken += 1 << 16

    visited(tmp_path, flood)
    assert taken < 1 << 25  # what the buffers of two sockets hold; a line may have twice that


def test_what_a_stranger_shows_that_is_nested_too_deeply_is_refused_in_a_sentence(tmp_path: Path) -> None:
    async def show(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"[" * 4000 + b"\n")
        assert b"does not admit" in await reader.readline()

    visited(tmp_path, show)


def test_a_placeholder_hears_that_the_store_is_away_when_it_knocks(tmp_path: Path) -> None:
    def away(said: Any) -> StoreEnd | None:
        raise HeadwayError("the store is away.")

    async def knock(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"{}\n")
        assert b"the store is away" in await reader.readline()

    visited(tmp_path, knock, away)


def test_lines_of_those_who_are_admitted_may_be_long_and_come_in_pieces(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"{}\n")
        for _ in range(2):  # the second is read from its very beginning
            writer.write(b'["Nothing", ["' + b"x" * (3 << 20) + b'"]]\n')
            await writer.drain()
            assert b"Trouble" in await reader.readline()

    home = Home(tmp_path / "store")
    visited(tmp_path, talk, lambda said: StoreEnd(opened(home.database), "a"))


def test_a_placeholder_finds_the_door_behind_an_address_where_something_else_answers(tmp_path: Path) -> None:
    """As on nodes whose bridge for containers has an address of the login host, too."""
    home = Home(tmp_path / "store")
    store = opened(home.database)
    shown = list[Any]()

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        shown.append(await reader.read(1 << 16))
        writer.close()

    def admit(said: Any) -> StoreEnd | None:
        shown.append(said["token"])
        return None

    async def run() -> None:
        door = TlsDoor(store, home.folder, admit)
        port = await door.open("127.0.0.1", 0)
        stranger = await asyncio.start_server(other, "127.0.0.2", port)
        here, there = socket.socketpair()
        address = Address(["127.0.0.3", "127.0.0.2", "127.0.0.1"], port, door.fingerprint, "secret", 1, "me")
        passing = asyncio.create_task(asyncio.to_thread(relay, address, there.detach()))
        here.settimeout(20)
        said = await asyncio.to_thread(here.recv, 1 << 16)
        assert b"does not admit" in said
        here.close()
        await passing
        stranger.close()
        door.close()

    asyncio.run(run())
    store.close()
    assert shown[-1] == "secret" and not any(b"secret" in one for one in shown[:-1])
