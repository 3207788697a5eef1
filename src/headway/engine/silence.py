"""When a placeholder counts as lost: it was silent for longer than it promised, and had the time to speak.

After an outage of the store everybody was silent. So only a placeholder that has been in touch without a gap for a
while may judge others: every living placeholder has sent a heartbeat by then.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.model.messages import PlaceholderId, Seconds
from headway.model.record import record

BEATS = 12  # signs of life in that time
GAP = 3  # a silence of a third of it is a gap
TIME_TO_SPEAK = 4  # and after a gap there is a quarter of it to speak


@record
class Presence:
    """A placeholder, by the clock of the store."""

    id: PlaceholderId
    host: str
    beat: Seconds  # its last sign of life
    since: Seconds  # in touch without a gap
    patience: Seconds  # how long its silence may last


def in_touch_since(own: Presence, now: Seconds) -> Seconds:
    """Since when a placeholder that gives a sign of life now has been in touch without a gap."""
    return now if now - own.beat > own.patience / GAP else own.since


def silent(own: Presence, others: Iterable[Presence], now: Seconds) -> list[Presence]:
    """The placeholders that count as lost, as far as one of them can tell: none, if it was silent itself till now."""
    since = in_touch_since(own, now)
    return [
        other
        for other in others
        if other.id != own.id and now - other.beat > other.patience and now - since >= other.patience / TIME_TO_SPEAK
    ]
