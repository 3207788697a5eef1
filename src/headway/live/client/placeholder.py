"""A placeholder of its own on this host: it takes jobs of every workflow of a store that wants any site.

It is a runner with a folder in its user's home, and one client here that says what it may use. If this process dies,
the jobs that run are finished and recorded, and nothing new is begun.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from headway.live.client.line import Line
from headway.live.client.messages import Progress, Serve
from headway.live.client.starter import Starter
from headway.live.client.watch import Stops, reports, watched
from headway.live.home.folder import Home
from headway.live.home.ownership import own_file
from headway.live.store import FILE, is_server, opened
from headway.model.errors import HeadwayError, NotFoundError, shown
from headway.model.messages import LOCAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def served_place(place: str | None) -> str:
    """The file or server of a store, as `opened` takes it; a file is made fit for several placeholders."""
    if place is not None and is_server(place):
        return place
    from headway.live.home.store_location import found_store
    from headway.live.sites.opening import prepare

    home, store = found_store(place)
    store.close()
    if home is None:
        raise NotFoundError(f"there is no store at {shown(place or '.')}.")
    prepare(home)
    return str(home.folder / FILE)


def mark_of(place: str) -> str:
    """What tells a store from others."""
    store = opened(place)
    mark = store.id
    store.close()
    return mark


def own_home(mark: str) -> tuple[Home, int]:
    """A folder for a placeholder of this store on this host that no other has, the first that is free; and our claim.

    Its runner's lock does not do for that: two that come at once would find it free, and share one runner.
    """
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "headway"
    for number in range(1, 10_000):
        home = Home(state / f"{mark}-placeholder-{socket.gethostname()}-{number}")
        claim = own_file(home.folder / "claim", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            lock = home.locked()
        except BlockingIOError:
            lock = None
        if lock is not None:
            lock.close()
            return home, claim
        os.close(claim)
    raise HeadwayError(f"there are 10,000 placeholders of one store on {socket.gethostname()}.")


class DoorStarter(Starter):
    """Starts a runner whose store is behind a door."""

    def __init__(self, home: Home, card: dict[str, Any]) -> None:
        self._card = card
        super().__init__(home, "normal")

    def _become_runner(self, told: int) -> int:
        from secrets import token_hex

        from headway.live.doors.tls_relay import Address
        from headway.live.placeholder.process import become_runner_behind_a_door

        said = self._card
        address = Address(
            *(list(said["hosts"]), int(said["port"]), str(said["fingerprint"]), str(said["token"]), 0, token_hex(16))
        )
        return become_runner_behind_a_door(self._home, address, told)


class OwnPlaceholder:
    """One placeholder, from its start to its end."""

    def __init__(self, place: str | None, wish: Serve, card: dict[str, Any] | None = None) -> None:
        """`place`: the store; or `card`: what opens a door to it."""
        self._place, self._begun = (None if card is not None else place), time.monotonic()
        if card is None:
            assert place is not None
            self.home, self._claim = own_home(mark_of(place))
            self._line: Line = watched(self.home, Starter(self.home, "normal", place))
        else:
            self.home, self._claim = own_home(str(card["fingerprint"])[:16])
            self._line = watched(self.home, DoorStarter(self.home, card))
        self._wish, self._stops = wish, Stops()

    def leaves_work(self) -> bool:
        """Whether it ended because its time is over, and not all is done; through a door, only the first is known."""
        until = self._wish.until
        if until is None or self._stops.count or time.monotonic() < self._begun + until:
            return False
        if self._place is None:
            return True
        store = opened(self._place)
        try:
            return bool(store.placeholders.wanted(LOCAL))
        finally:
            store.close()

    def submit_next(self, command: str) -> int:
        """Runs the command that submits the next one; its exit code."""
        return subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, check=False).returncode

    def progress(self) -> Iterator[Progress]:
        """How far it is, until it ends: its time is over, nothing can come, or its user stops it."""
        self._line.say(self._wish)
        yield from reports(self._line, self._stops, tell=True)
        self._line.close()
        os.close(self._claim)
