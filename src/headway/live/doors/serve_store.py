"""`headway serve`: a door to a store for placeholders on hosts that cannot reach its server or its file.

Who has the card may take jobs: it has the door's address, the digest of its certificate and a token. It is a file that
only its user can read, to be copied to other hosts as a key is.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

from headway.live.doors.store_end import StoreEnd
from headway.live.doors.tls_door import TlsDoor
from headway.live.home.folder import Home, say
from headway.live.home.ownership import own_file
from headway.live.store import Store, opened
from headway.model.errors import HeadwayError, UsageError, shown
from headway.model.messages import LOCAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CARD = "door.card"
LOOPBACK = "127.0.0.1"


class StoreDoor:
    """One door, until it is told to close."""

    def __init__(self, place: str, folder: Path, listen: str) -> None:
        self._store: Store = opened(place)
        self._home = Home(folder)
        self.card = folder / CARD
        before = _read(self.card) if self.card.exists() else {}
        self._token = str(before.get("token") or secrets.token_urlsafe(32))
        host, _, port = listen.rpartition(":") if ":" in listen else (listen, "", "")
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
            raise UsageError(f"--listen {shown(listen)}: {port} is no port.", "Say HOST or HOST:PORT.")
        self._host = host or LOOPBACK
        same = before.get("hosts") == [self._host]
        self._port = int(port or (before.get("port", 0) if same else 0))
        self._door = TlsDoor(self._store, folder, self._admitted)

    def run(self, tell: Callable[[str, int], None]) -> None:
        """Serves until SIGTERM or Ctrl-C. `tell` hears where, when it does."""
        asyncio.run(self._live(tell))

    async def _live(self, tell: Callable[[str, int], None]) -> None:
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        try:
            port = await self._door.open(self._host, self._port)
        except OSError as error:
            what = f"this computer cannot listen at {self._host}:{self._port or 'any port'}: {error.strerror}."
            raise HeadwayError(what, "Give another address: --listen HOST:PORT.") from None
        said = {"hosts": [self._host], "port": port, "fingerprint": self._door.fingerprint, "token": self._token}
        aside = self.card.with_name(f".{CARD}")
        with os.fdopen(own_file(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            file.write(json.dumps(said) + "\n")
        aside.replace(self.card)
        tell(self._host, port)
        await over.wait()
        self._door.close()

    def _admitted(self, said: dict[str, Any]) -> StoreEnd | None:
        token = said.get("token")
        if said.get("allocation") == 0 and isinstance(token, str) and hmac.compare_digest(token, self._token):
            return StoreEnd(self._store, LOCAL)
        say("somebody with a wrong token was not let in.")
        return None


def read_card(path: str) -> dict[str, Any]:
    """What a placeholder needs to come in."""
    try:
        found = _read(Path(path))
        is_private = not Path(path).stat().st_mode & 0o077
    except OSError as error:
        raise UsageError(
            f"--server {shown(path)}: {error.strerror}.", "Give the card that headway serve has written."
        ) from None
    if not {"hosts", "port", "fingerprint", "token"} <= found.keys():
        raise UsageError(
            f"--server {shown(path)} is no card of a door.", "Give the file that headway serve has written."
        )
    if not is_private:
        what = f"--server {shown(path)}: others can read this card, and could take jobs with it."
        raise UsageError(what, f"Keep it to yourself: chmod 600 {shlex.quote(path)}")
    return found


def _read(path: Path) -> dict[str, Any]:
    with os.fdopen(own_file(path, os.O_RDONLY)) as file:
        try:
            said = json.loads(file.read())
        except ValueError:
            said = {}
    return said if isinstance(said, dict) else {}
