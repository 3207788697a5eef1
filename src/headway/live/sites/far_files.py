"""Files at another site, read through the channel to it; the channel is started if there is none."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

from headway.live.client.asking import asked
from headway.live.client.line import Line
from headway.live.client.messages import Fetch, Piece
from headway.live.home.folder import Home
from headway.live.sites.opening import site_home
from headway.live.sites.start import start
from headway.model.errors import HeadwayError
from headway.model.record import mutable

PATIENCE = 30.0  # seconds that a host has to answer


@mutable
class Far:
    """A site whose files are wanted."""

    home: Home  # of the store
    place: str  # of the store: its file or its server
    site: str
    _line: Line | None = None

    def line(self) -> Line:
        if self._line is None:
            own = site_home(self.home, self.site)
            found = Line.to(own, PATIENCE)
            if found is None:
                start(self.home, self.place, self.site)
                found = Line.to(own, PATIENCE)
            if found is None:
                raise HeadwayError(f"the channel to site {self.site} has ended.", f"{own.talk} may tell why.")
            self._line = found
        return self._line

    def output(self, lease: int) -> str | None:
        """Where a job that runs there writes."""
        said = asked(site_home(self.home, self.site), lease)
        return None if said is None else said.output

    def named(self, files: Sequence[str]) -> list[FarTail]:
        """Files that a job names, which have the same paths there."""
        return [FarTail(self, file) for file in files]

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


@mutable
class FarTail:
    """A file there that may grow: what was not read yet of it. Keeps to answers.outputs.Tail."""

    far: Far
    path: str
    then: str = ""  # what it is called once its job has ended
    at: int = 0  # bytes that were read
    size: int = -1

    def opened(self) -> bool:
        """Whether there is such a file."""
        return self.size >= 0 or self._piece() is not None

    def news(self) -> Iterator[bytes]:
        while data := self._piece():
            self.at += len(data)
            yield data

    def _piece(self) -> bytes | None:
        """What follows; None if there is no file."""
        said = self.far.line().ask(Fetch(self.path, self.at), PATIENCE)
        if not isinstance(said, Piece):
            raise HeadwayError(f"site {self.far.site} does not send {self.path}.", "headway sites --check tells why.")
        if said.size < 0:
            if not self.then:
                return None
            self.path, self.then = self.then, ""
            return self._piece()
        self.size = said.size
        if said.size < self.at:  # it was begun again
            self.at = 0
            return self._piece()
        return base64.b64decode(said.piece)

    def close(self) -> None:
        self.far.close()
