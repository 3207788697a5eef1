"""The near end of a relay on a login host: what nodes say there is said to the store's door here."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from shlex import join

from headway.live.home.folder import Home, say
from headway.live.sites.login_relay import ALIVE, DATA, HELLO, OPEN, PIECE, SHUT, Frames, frame
from headway.live.sites.site import Site
from headway.model.errors import HeadwayError

PATIENCE = 60.0  # seconds until a relay has to be there
BEAT = 10.0  # seconds between two signs of life
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before it is started again


class Relay:
    """Of one site. It is started when it is first needed, and again whenever it ends."""

    def __init__(self, home: Home, site: Site, door: int) -> None:
        self._note = home.folder / "relay-port"  # where nodes that run know it
        self._site, self._door = site, door
        self._ready = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._trouble = ""
        self._nodes: dict[int, asyncio.StreamWriter] = {}
        self._pumps: set[asyncio.Task[None]] = set()
        self.hosts: list[str] = []
        self.port = 0

    async def there(self, command: list[str], folder: str) -> None:
        """Waits until nodes can call. `command`: what runs our modules on the login host, `folder`: for its files."""
        if self._life is None:
            self._life = asyncio.create_task(self._live(command, folder))
        try:
            await asyncio.wait_for(self._ready.wait(), PATIENCE)
        except TimeoutError:
            what = f"no relay can be started on {self._site.host}: {self._trouble or 'it does not answer'}."
            raise HeadwayError(
                what, "Try ssh by hand; or give the site an address where nodes reach this computer."
            ) from None

    async def close(self) -> None:
        if self._life is not None:
            self._life.cancel()
            await asyncio.gather(self._life, return_exceptions=True)

    async def _live(self, command: list[str], folder: str) -> None:
        pause = FIRST_PAUSE
        while True:
            port = self._note.read_text().strip() if self._note.exists() else "0"
            words = [*command, "--relay", folder, port if port.isdecimal() else "0"]
            if await self._once(join(words)):
                pause = FIRST_PAUSE
            self._ready.clear()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _once(self, command: str) -> bool:
        """One connection, from its beginning to its end; whether nodes could call."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._site.arguments(command), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            self._trouble = f"ssh cannot be started: {error.strerror}"
            return False
        beat = asyncio.create_task(self._beat(process))
        talk = asyncio.create_task(self._talk(process))
        try:
            if not await self._begun(process):
                return False
            await self._pass_on(process)
            return True
        finally:
            beat.cancel()
            self._ready.clear()
            for writer in self._nodes.values():
                writer.close()
            self._nodes.clear()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            await process.wait()
            await asyncio.gather(talk, return_exceptions=True)

    async def _begun(self, process: asyncio.subprocess.Process) -> bool:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            if line.startswith(HELLO):
                said = json.loads(line[len(HELLO) :])
                self.hosts, self.port = [str(host) for host in said["hosts"]], int(said["port"])
                self._note.write_text(f"{self.port}\n")
                self._trouble = ""
                self._ready.set()
                return True
        return False

    async def _pass_on(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None and process.stdin is not None
        frames = Frames()
        while data := await process.stdout.read(PIECE):
            for stream, kind, text in frames.of(data):
                if kind == OPEN:
                    await self._let_in(stream, process.stdin)
                elif stream in self._nodes and kind == DATA:
                    self._nodes[stream].write(text)
                elif stream in self._nodes and kind == SHUT:
                    self._nodes.pop(stream).close()

    async def _let_in(self, stream: int, out: asyncio.StreamWriter) -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._door)
        except OSError:
            out.write(frame(stream, SHUT))
            return
        self._nodes[stream] = writer
        pump = asyncio.create_task(self._answer(stream, reader, out))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)

    async def _answer(self, stream: int, reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        """What the door says to one node."""
        with contextlib.suppress(OSError):
            while data := await reader.read(PIECE):
                out.write(frame(stream, DATA, data))
                await out.drain()
            out.write(frame(stream, SHUT))
        writer = self._nodes.pop(stream, None)
        if writer is not None:
            writer.close()

    async def _beat(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            while True:
                await asyncio.sleep(BEAT)
                process.stdin.write(frame(0, ALIVE))
                await process.stdin.drain()

    async def _talk(self, process: asyncio.subprocess.Process) -> None:
        """What ssh, or the login host, says on standard error: its last line may tell why there is no relay."""
        assert process.stderr is not None
        while line := await process.stderr.readline():
            if text := line.decode(errors="replace").strip().rstrip("."):
                self._trouble = text
                say(f"site {self._site.name}: relay on {self._site.host}: {text}.")
