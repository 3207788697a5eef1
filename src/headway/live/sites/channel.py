"""The near end of a channel: a process for each site of a store that keeps the connection to the runner there.

To commands on this host it is that runner: its door is in the site's folder. To the runner it is its store. It stays
while somebody here wants something of the site, or the runner there has something to tell.
"""

from __future__ import annotations

import math
import os
import select
import signal
import time
from pathlib import Path

from headway.live.client.messages import REQUESTS, Cancel, Heard, Piece, Stand, Watch
from headway.live.doors.codec import encode
from headway.live.doors.serving import Server
from headway.live.home.folder import Home, say
from headway.live.sites.call import Call
from headway.live.sites.faults import LastingError, fault
from headway.live.sites.frames import (
    CONTROL,
    FIRST_CLIENT,
    PORT,
    Found,
    Leaves,
    Open,
    Read,
    Ready,
    Seen,
    Shut,
    Sorry,
    control,
    controlled,
    frame,
    unframed,
)
from headway.live.sites.guests import Guest
from headway.live.sites.origin import remember
from headway.live.sites.site import Site
from headway.live.sites.site_end import SiteEnd
from headway.live.sites.standing import Servant, Troubles, note, standing
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import Seconds, WorkflowId

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

    from headway.live.sites.staging import Staging

RETRY = 10.0  # seconds until files that could not be copied are tried again
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before a host is called again
WELCOME = 10.0  # seconds that a new channel waits for its first client
_IN_USE = "Let that run end first (headway attach, headway cancel). After its end the host is free in some seconds."
ALONE = 600.0  # seconds for which a host that cannot be reached is called though nobody here wants anything


class Channel:
    """The state of one channel. `run` is its life."""

    def __init__(self, home: Home, place: str | Path, sync: str, site: Site) -> None:
        self._home, self._place, self._sync, self._site = home, place, sync, site
        self._store = opened(place, sync)
        remember(place)
        self._poll = select.poll()
        self._door = home.listen()
        self._poll.register(self._door.socket, select.POLLIN)
        self._told, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # can be read when a signal has come: SIGTERM
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        self._poll.register(self._told, select.POLLIN)
        self._guests: dict[int, Guest] = {}  # by the handle of their line
        self._next = FIRST_CLIENT
        self._call: Call | None = None
        self._server: Server | None = None
        self._staging: Staging | None = None  # of files, where the site does not share ours
        self._retry = math.inf  # when files that could not be copied are tried again
        self._ears: set[int] = set()  # handles of the store that are waited for
        self._cores = 0  # of the host, once it is known
        self._trouble = ""  # why the site cannot be used just now
        self._troubles = Troubles(home)
        self._again = 0.0  # when to call
        self._pause = FIRST_PAUSE
        self._has_left = False  # the runner there has nothing more to tell
        self._since = time.monotonic()  # when somebody was here, or the runner there
        self._servant: Servant | None = None  # our own client, while the site works for the whole store
        if standing(home):
            self._serve()

    def run(self, told: int) -> None:
        os.close(told)
        while True:
            now = time.monotonic()
            if self._call is None and now >= self._again:
                self._connect(now)
            events = self._poll.poll(self._timeout(now))
            now = time.monotonic()
            for handle, mask in events:
                self._attend(handle, mask, now)
            if now >= self._retry:
                self._retry = math.inf
                if self._staging is not None:
                    self._staging.copying.retry()
            self._see_to_copies(now)
            self._see_to_guests()
            if self._is_over(now) or any(handle == self._told for handle, _ in events):
                self._end()
                return

    # --- the connection ----------------------------------------------------------------------------------------------

    def _connect(self, now: Seconds) -> None:
        self._has_left = False
        try:
            self._call = Call(self._site, f"{self._store.id}-{self._home.identity:x}")
        except OSError as error:
            self._fail(HeadwayError(f"ssh cannot be started: {error.strerror}.", "Install OpenSSH's client."), now)
            return
        self._poll.register(self._call, select.POLLIN)

    def _lose(self, now: Seconds, error: HeadwayError | None = None) -> None:
        """The connection is over: says why, and calls again after a while."""
        call, was_ready = self._call, self._server is not None
        assert call is not None
        self._poll.unregister(call)
        self._forget_server()
        self._call = None
        code = call.end()
        for guest in self._guests.values():
            guest.lose_runner()
        if self._has_left:
            self._again = now
            return
        if was_ready:
            self._pause = FIRST_PAUSE
        self._fail(error or fault(self._site, code, call.all_said, was_ready), now)

    def _fail(self, error: HeadwayError, now: Seconds) -> None:
        if str(error) != self._trouble:
            say(f"site {self._site.name}: {error}")
        self._trouble = str(error)
        self._troubles.note(self._trouble)
        self._again = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        for guest in list(self._guests.values()):
            if guest.is_waiting or (isinstance(error, LastingError) and guest.wants_work):
                guest.refuse(HeadwayError(f"site {self._site.name}: {error.what}", error.fix))
            else:
                guest.worry(f"site {self._site.name}: {error}")

    def _begin(self, ready: Ready) -> None:
        """The far end is there."""
        self._cores, self._trouble, self._pause = ready.cores, "", FIRST_PAUSE
        self._troubles.note("")
        end = SiteEnd(
            *(self._store, self._site, ready, self._home.folder),
            lambda message: self._say(control(message)),
            lambda news: self._say(frame(PORT, encode(news))),
        )
        self._staging = end.staging
        self._server = Server(end, self._store.news, lambda response: self._say(frame(PORT, encode(response))))
        for guest in self._guests.values():
            guest.worry("")
            self._introduce(guest)

    def _introduce(self, guest: Guest) -> None:
        self._say(control(Open(guest.stream)))
        for wish in guest.wishes(self._slots):
            self._say(frame(guest.stream, REQUESTS.encode(wish)))
        for line in guest.waiting():
            self._pass_on(guest, line)

    @property
    def _slots(self) -> int:
        return self._site.slots or self._cores or 1

    def _forget_server(self) -> None:
        self._server = self._staging = None
        self._watch_ears()

    def _watch_ears(self) -> None:
        """Waits for what others change in the store while there is somebody to be told."""
        now = set() if self._server is None else set(self._server.ears())
        for handle in self._ears - now:
            self._poll.unregister(handle)
        for handle in now - self._ears:
            self._poll.register(handle, select.POLLIN)
        self._ears = now

    def _say(self, text: bytes) -> None:
        if self._call is not None:
            self._call.say(text)

    # --- what happens ------------------------------------------------------------------------------------------------

    def _attend(self, handle: int, mask: int, now: Seconds) -> None:
        if handle == self._door.socket.fileno():
            self._welcome()
        elif handle in self._guests:
            self._hear(self._guests[handle], mask)
        elif self._servant is not None and handle == self._servant.fileno():
            if not self._servant.hear():
                self._poll.unregister(handle)
                self._servant.close()
                self._servant = None
        elif self._call is not None and handle == self._call.fileno():
            self._hear_far(mask, now)
        elif self._server is not None and handle in self._ears:
            self._server.pass_on()
            self._watch_ears()

    def _welcome(self) -> None:
        from headway.live.client.door import full, peer

        try:
            line = full(self._door.accept())
        except BlockingIOError:
            return
        if peer(line) != os.geteuid():
            line.close()
            return
        self._let_in(line)

    def _let_in(self, line: socket.socket) -> None:
        guest = Guest(line, self._next, self._site.name)
        self._next += 1
        self._guests[line.fileno()] = guest
        self._poll.register(line, select.POLLIN)
        if self._server is not None:
            self._introduce(guest)

    def _serve(self) -> None:
        """Works for the whole store, as our own client wants."""
        self._servant = Servant()
        self._poll.register(self._servant, select.POLLIN)
        self._let_in(self._servant.far)

    def _steer(self, guest: Guest, wish: Stand) -> None:
        """Somebody wants it to work for the whole store from now on, or no more."""
        note(self._home, wish.stand)
        if wish.stand and self._servant is None:
            self._serve()
        elif not wish.stand and self._servant is not None:
            self._servant.stop(wish.now)
        guest.give(Heard(True))

    def _hear(self, guest: Guest, mask: int) -> None:
        if mask & select.POLLOUT:
            guest.flush()
        if mask & ~select.POLLOUT:
            was_working = guest.wants_work
            lines = guest.heard(self._slots)
            if guest.wants_work and not was_working:
                self._call_at_once()
            for line in lines:
                self._pass_on(guest, line)
            if guest.uses is not None:
                self._use(Site.heard(guest.uses), guest)
                guest.uses = None
            if guest.stands is not None:
                self._steer(guest, guest.stands)
                guest.stands = None

    def _call_at_once(self) -> None:
        """Somebody comes with work, and may know that the host is back: no pause, and what was wrong may be mended."""
        if self._call is None:
            self._trouble, self._again, self._pause = "", 0.0, FIRST_PAUSE

    def _use(self, site: Site, guest: Guest) -> None:
        """Goes on with other settings of the site, if they have changed: the host is called again, its jobs go on."""
        if site == self._site:
            return
        if (site.host, site.directory) != (self._site.host, self._site.directory) and self._server is not None:
            what = f"site {site.name} is in use with another host or directory."
            guest.refuse(HeadwayError(what, _IN_USE))
            return
        self._site, self._again, self._pause = site, 0.0, FIRST_PAUSE
        if self._call is not None:
            self._lose(time.monotonic(), HeadwayError("its settings have changed."))
            self._again = 0.0

    def _pass_on(self, guest: Guest, line: bytes) -> None:
        """Something that a guest says goes to the runner; a file that it wants is the far end's business."""
        wanted = guest.wanted_file(line)
        if self._server is None:
            guest.answer_alone(line, {one.run.workflow for one in self._guests.values() if one.run is not None})
            self._cancel(guest, REQUESTS.decode(line))
            if self._trouble:
                guest.worry(f"site {self._site.name}: {self._trouble}")
        elif wanted is not None:
            self._say(control(Read(wanted.fetch, wanted.at, guest.stream)))
        else:
            self._say(frame(guest.stream, line))

    def _cancel(self, guest: Guest, message: object) -> None:
        """Ends a run while its host is away. What runs there ends when it is back."""
        if isinstance(message, Cancel):
            if message.now:
                self._store.steering.call_off(WorkflowId(message.cancel))
            for one in self._guests.values():
                if one.run is not None and one.run.workflow == message.cancel:
                    one.end()
        elif isinstance(message, Watch) and not any(
            one.run is not None and one.run.workflow == message.watch for one in self._guests.values()
        ):
            guest.end()

    def _hear_far(self, mask: int, now: Seconds) -> None:
        call = self._call
        assert call is not None
        if mask & select.POLLOUT:
            call.flush()
        try:
            lines = call.heard() if mask & ~select.POLLOUT else []
            for line in lines or ():
                self._take(line)
        except HeadwayError as error:  # what comes makes no sense, or the far end is sorry
            self._lose(now, error)
            return
        if lines is None:
            self._lose(now)

    def _take(self, line: bytes) -> None:
        """A frame from the far end."""
        stream, text = unframed(line)
        if stream == CONTROL:
            self._control(text)
        elif stream == PORT and self._server is not None:
            if not self._server.answer(text):
                self._has_left = True
            self._watch_ears()
        else:
            for guest in self._guests.values():
                if guest.stream == stream:
                    guest.pass_on(text)

    def _control(self, text: bytes) -> None:
        message = controlled(text)
        if isinstance(message, Ready):
            self._begin(message)
        elif isinstance(message, (Seen, Leaves)) or (isinstance(message, Found) and message.stream < 0):
            self._copied(message)
        elif isinstance(message, Found):
            for guest in self._guests.values():
                if guest.stream == message.stream:
                    guest.give(Piece(message.found, message.size))
        elif isinstance(message, Sorry):
            raise LastingError(message.sorry, message.fix)
        elif isinstance(message, Shut) and message.shut != PORT:
            for guest in self._guests.values():
                if guest.stream == message.shut and guest.is_refused:  # else the runner goes, and the next one hears it
                    guest.is_gone = True

    def _copied(self, message: Seen | Leaves | Found) -> None:
        """The answer to something about a file that is copied."""
        if self._staging is None:
            return
        number = (
            message.seen
            if isinstance(message, Seen)
            else -message.stream
            if isinstance(message, Found)
            else message.number
        )
        self._staging.copying.heard(number, message)

    def _see_to_copies(self, now: Seconds) -> None:
        """What could not be copied is tried again later; guests hear why."""
        if self._staging is None or self._trouble:
            return
        if self._staging.copying.is_waiting and self._retry == math.inf:
            self._retry = now + RETRY
        for guest in self._guests.values():
            guest.worry(f"site {self._site.name}: {self._staging.trouble}" if self._staging.trouble else "")

    # --- guests and the end ------------------------------------------------------------------------------------------

    def _see_to_guests(self) -> None:
        """Drops those that are gone, and waits for lines that did not take all."""
        for handle, guest in list(self._guests.items()):
            if guest.is_gone:
                self._poll.unregister(handle)
                del self._guests[handle]
                guest.line.close()
                if self._server is not None:
                    self._say(control(Shut(guest.stream)))
            else:
                self._poll.modify(handle, select.POLLIN | (select.POLLOUT if guest.is_behind else 0))
        if self._call is not None:
            self._poll.modify(self._call, select.POLLIN | (select.POLLOUT if self._call.is_behind else 0))

    def _is_over(self, now: Seconds) -> bool:
        if self._guests or self._server is not None:
            self._since = now
            return False
        if self._has_left:
            return True
        return now - self._since > (WELCOME if not self._cores else ALONE)

    def _timeout(self, now: Seconds) -> float | None:
        """Milliseconds to wait at most."""
        due = min(self._retry, self._again if self._call is None else math.inf)
        if not self._guests and self._server is None:
            due = min(due, self._since + (WELCOME if not self._cores else ALONE))
        return None if due == math.inf else max(0.0, due - now) * 1000 + 1

    def _end(self) -> None:
        self._door.hide()
        if self._call is not None:
            self._call.end()


def become_channel(home: Home, place: str | Path, sync: str, site: Site, told: int) -> int:
    """Makes this process, a fresh child in a session of its own, the channel to a site, unless there is one."""
    from headway.live.placeholder.process import live

    return live(home, told, lambda: Channel(home, place, sync, site).run)
