"""A store whose exchanges go through messages: encoded, decoded, carried out by the store's end of a port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from headway.engine.ready import Room
from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Question, Reply
from headway.live.doors.store_end import StoreEnd
from headway.live.store import Store, opened
from headway.live.store.leases import Leases
from headway.model.messages import Answer, Finish, LeaseId, PlaceholderId, Seconds, WorkflowId


class Ported:
    """Everything but exchanges is asked of the store itself."""

    def __init__(self, store: Store) -> None:
        self._leases, self._end = store.leases, End(store)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._leases, name)

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
        told = None if holds is None else sorted(holds)
        question = Question(list(finished), room, list(workflows), now, list(idle), told, number=7)
        reply = self.answered(question, placeholder)
        assert reply.number == 7
        return reply.answer

    def answered(self, question: Question, placeholder: PlaceholderId) -> Reply:
        asked = decode(encode(question))
        assert isinstance(asked, Question)
        self._end.placeholder, self._end.time = placeholder, asked.clock
        reply = decode(encode(self._end.exchange(asked)))
        assert isinstance(reply, Reply)
        return reply


class End(StoreEnd):
    """By the clock of the test."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._is_shared = False  # ends are told by the same clock
        self.time: Seconds = 0.0

    def now(self) -> Seconds:
        return self.time


def ported(place: str) -> Store:
    store = opened(place)
    store.leases = cast(Leases, Ported(store))
    return store
