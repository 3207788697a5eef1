"""What jobs say of themselves while they run (`mqstatus`), kept by the runner, which has the store open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headway.live.placeholder.clients import Word
from headway.model.messages import LeaseId

if TYPE_CHECKING:
    from headway.live.store import Store


class Words:
    """Opens all of the store when the first job says something; most never do."""

    def __init__(self, place: str | Path) -> None:
        self._place = place
        self._store: Store | None = None

    def keep(self, word: Word) -> bool | None:
        """Whether a job of this store has that lease now; None: it is a job of another store."""
        if self._store is None:
            from headway.live.store import opened

            self._store = opened(self._place)
        if word.store not in ("", self._store.id):
            return None
        lease = LeaseId(word.lease)
        is_held = self._store.steering.say(lease, word.text)
        if is_held and word.ready:
            self._store.steering.ready(lease)
        return is_held
