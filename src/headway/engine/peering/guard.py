"""What a peer does not believe: other versions, clocks that are off, what came before, too much of one neighbour."""

from __future__ import annotations

from headway.engine.peering.messages import VERSION, Letter, PieceId
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import ClockOff

WINDOW = 10_000  # milliseconds that messages of a neighbour are counted over
MOST_SENDERS = 4096


class Guard:
    """Counts what comes, and remembers which requests came."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._counts: dict[int, int] = {}
        self._window = -1
        self._seen: dict[PieceId, int] = {}
        self._cleared = 0

    def wrong(self, letter: Letter, now: int) -> str:
        """Why a letter is not to be followed; empty if it is."""
        if letter.version != VERSION:
            return "version"
        if abs(letter.sent - now) > self.settings.skew and not isinstance(letter.body, ClockOff):
            return "clock"
        window = now // WINDOW
        if window != self._window:
            self._window, self._counts = window, {}
        count = self._counts.get(letter.sender, 0) + 1
        if len(self._counts) < MOST_SENDERS or letter.sender in self._counts:
            self._counts[letter.sender] = count
        return "flood" if count > self.settings.rate * WINDOW // 1000 else ""

    def replayed(self, piece: PieceId, expires: int, now: int) -> str:
        """Why a request is not to be answered: it was before, or could come again after that is forgotten."""
        if now > expires:
            return "expired"
        if expires > now + self.settings.answer + self.settings.skew:
            return "forged"
        if now > self._cleared:
            self._cleared = now + self.settings.answer
            self._seen = {one: until for one, until in self._seen.items() if until >= now}
        return "replayed" if piece in self._seen else ""

    def remember(self, piece: PieceId, expires: int) -> None:
        """Room was held for a piece."""
        self._seen[piece] = expires
