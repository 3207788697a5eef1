"""A store whose exchanges go through messages: encoded, decoded, carried out by the store's end of a port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from headway.engine.ready import Room
from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Question, Reply
from headway.live.doors.store_end import StoreEnd
from headway.live.store import opened
from headway.live.store.protocol import Store
from headway.model.messages import Answer, Finish, LeaseId, PlaceholderId, Seconds, WorkflowId


class Ported:
    """Everything else is asked of the store itself."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def exchange(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
        holds: Sequence[LeaseId] | None = None,
    ) -> Answer:
        end = _End(self._store, now)
        end.placeholder = placeholder
        told = None if holds is None else sorted(holds)
        asked = decode(encode(Question(list(finished), room, list(workflows), now, list(idle), told, number=7)))
        assert isinstance(asked, Question)
        reply = decode(encode(end.exchange(asked)))
        assert isinstance(reply, Reply) and reply.number == 7
        return reply.answer


class _End(StoreEnd):
    """By the clock of the test."""

    def __init__(self, store: Store, now: Seconds) -> None:
        super().__init__(store, lambda: store)
        self._is_shared = False  # ends are told by the same clock
        self._now = now

    def now(self) -> Seconds:
        return self._now


def ported(place: str) -> Store:
    return cast(Store, Ported(opened(place)))
