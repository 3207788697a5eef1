"""A site that works for all workflows submitted to a store though nobody waits for it here: `headway sites start`.

How many placeholders it keeps is noted in the folder of the site's process, so that the next process goes on with it.
"""

from __future__ import annotations

import contextlib
import os
import socket

from headway.live.client.line import Line
from headway.live.client.messages import REQUESTS, RESPONSES, Fetch, Heard, Progress, Serve, Stand, Stop, Use
from headway.live.home.folder import Home
from headway.live.home.ownership import own_file
from headway.live.sites.frames import Lines
from headway.live.sites.opening import prepare, site_home
from headway.live.sites.site import Site
from headway.live.sites.start import start
from headway.live.store import SITES
from headway.model.errors import HeadwayError, UsageError
from headway.model.messages import LOCAL

NOTE = "standing"
TROUBLE = "trouble"  # why a site cannot be used just now
PATIENCE = 90.0  # seconds that a host or a queue has to answer


def standing(home: Home) -> int:
    """How many placeholders the process of this folder keeps; 0: it works for those alone who wait for it here."""
    try:
        text = (home.folder / NOTE).read_text().strip()
    except OSError:
        return 0
    return int(text) if text.isascii() and text.isdecimal() else 0


def stands(home: Home, site: str) -> tuple[int, str]:
    """The same of a site of the store in a folder, which may never have been used; and what is wrong with it."""
    folder = home.folder / SITES / site
    if not folder.is_dir():
        return 0, ""
    own = Home(folder, to_look=True)
    count, problem = standing(own), ""
    if count:
        with contextlib.suppress(TimeoutError, PermissionError):  # it hangs, but it is there
            line = own.connect()
            if line is None:
                problem = f"its process on this computer has ended. Start it again: headway sites start {site}."
            else:
                line.close()
                problem = _trouble(own)
    return count, problem


def _trouble(home: Home) -> str:
    with contextlib.suppress(OSError):
        return (home.folder / TROUBLE).read_text(errors="replace").strip()
    return ""


class Troubles:
    """Notes why a site cannot be used, for those who look at sites: nobody need be there who could be told."""

    def __init__(self, home: Home) -> None:
        self._file, self._said = home.folder / TROUBLE, ""
        self._file.unlink(missing_ok=True)  # of the last process

    def note(self, trouble: str) -> None:
        """This is wrong now; "": nothing is."""
        if trouble == self._said:
            return
        self._said = trouble
        with contextlib.suppress(OSError):
            if not trouble:
                self._file.unlink(missing_ok=True)
                return
            with os.fdopen(own_file(self._file, os.O_WRONLY | os.O_CREAT), "w") as out:
                out.truncate()
                out.write(f"{trouble}\n")


def note(home: Home, count: int) -> None:
    """Remembers it for the next process."""
    file = home.folder / NOTE
    if not count:
        file.unlink(missing_ok=True)
        return
    aside = file.with_name(f".{NOTE}")
    with os.fdopen(own_file(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as out:
        out.write(f"{count}\n")
    aside.replace(file)


def begin(home: Home, place: str, site: Site, count: int | None) -> int:
    """Has a site work for a store from now on; how many placeholders it keeps. HeadwayError: it cannot be used."""
    if site.name == LOCAL:
        raise UsageError("local is this computer.", "headway placeholder takes jobs here.")
    if not site.queue and count not in (None, 1):
        what = f"site {site.name} is one host, with one placeholder."
        raise UsageError(what, "How many jobs run there at once says slots = N in headway.toml.")
    most = count or (site.allocations if site.queue else 1)
    prepare(home)
    start(home, place, site.name)
    line = Line.to(site_home(home, site.name), PATIENCE)
    if line is None:
        raise HeadwayError(f"the process of site {site.name} has ended.", "Start it again.")
    try:
        with line:
            line.say(Use(site.said()))
            said = line.ask(Stand(most), PATIENCE)
            if isinstance(said, Heard) and not site.queue:
                said = line.ask(Fetch(os.devnull), PATIENCE)  # answered by the host itself
        if said is None:
            raise HeadwayError(f"the process of site {site.name} has ended.", "Start it again.")
    except HeadwayError:
        end(home, site.name)
        raise
    return most


def end(home: Home, site: str, now: bool = False) -> bool:
    """Lets a site begin nothing more; `now`: what runs there is given back. Whether it was working."""
    folder = home.folder / SITES / site
    if not folder.is_dir():
        return False
    own = Home(folder)
    was = standing(own) > 0
    line = Line.to(own, PATIENCE)
    if line is None:
        note(own, 0)
        return was
    with line:
        line.ask(Stand(0, now), PATIENCE)
    return was


class Servant:
    """A client that a channel is itself: it has the host's runner serve the whole store, until it is told to end."""

    def __init__(self) -> None:
        self.line, self.far = socket.socketpair()
        self.line.setblocking(False)
        self._lines = Lines()
        self._say(Serve(0))

    def fileno(self) -> int:
        return self.line.fileno()

    def stop(self, now: bool) -> None:
        self._say(Stop("now" if now else "gently"))

    def hear(self) -> bool:
        """Reads what the runner tells, which nobody waits for; False once it has come to its end."""
        try:
            data = self.line.recv(1 << 16)
        except BlockingIOError:
            return True
        if not data:
            return False
        said = [RESPONSES.decode(line) for line in self._lines.of(data)]
        return not any(isinstance(one, Progress) and one.ended for one in said)

    def close(self) -> None:
        self.line.close()

    def _say(self, message: Serve | Stop) -> None:
        with contextlib.suppress(OSError):
            self.line.sendall(REQUESTS.encode(message))
