"""A database as the parts of a store see it: named statements, and where SQLite and PostgreSQL differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from headway.engine.progress import Changes, Row
from headway.live.store.giving import TakenJob
from headway.live.store.relative import Paths
from headway.live.store.submission import Submission
from headway.model.messages import Finish, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId

T = TypeVar("T")


class News(Protocol):
    """What the users of one database tell each other. A database of one runner has nobody to tell."""

    def tell(self, workflow: WorkflowId, stops: bool = False) -> None:
        """Lets others know, once this transaction is done, that a workflow has changed.

        `stops`: also those who have no room, since attempts of theirs may have to end.
        """

    def listen(self) -> None:
        """From now on this connection hears what others change, if there are others."""

    def also_tell(self, whom: Callable[[dict[WorkflowId, bool]], None]) -> None:
        """Calls this with what is changed through here, for others who share the connection."""

    def fileno(self) -> int:
        """What to wait for: it can be read when there is something to hear. -1: nothing ever will be, or not now."""

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end."""


class JobRows(Protocol):
    """The rows of jobs, many at a time: what each kind of database does in its own way. Inside a transaction."""

    def insert(
        self, submission: Submission, source: str, directory: str, now: Seconds, follows: WorkflowId
    ) -> WorkflowId:
        """Writes a workflow with all its rows."""

    def step(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        """Reads the rows that ends touch, so that nobody else changes them, does engine.step, and writes the rows."""

    def change(self, rows: Iterable[Row]) -> None:
        """Writes state, counters and arrival of rows."""

    def lease(
        self, placeholder: PlaceholderId, workflow: WorkflowId, taken: Sequence[TakenJob], now: Seconds
    ) -> list[Lease]:
        """Writes down who has these jobs now."""


class Database(Protocol):
    """One connection to a jobs database."""

    id: str  # the mark that its jobs carry
    owner: str  # whose workflows are found by their file: "" for all, where a store is one user's
    paths: Paths  # how it writes paths

    @property
    def is_shared(self) -> bool:
        """Whether placeholders of other hosts may use it at the same time."""

    @property
    def remark(self) -> str:
        """A sentence, if what is shown may be out of date."""

    @property
    def news(self) -> News: ...

    @property
    def jobs(self) -> JobRows: ...

    # --- statements --------------------------------------------------------------------------------------------------

    def run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        """Runs a named statement; its rows, if it has any."""

    def many(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Runs a statement that returns nothing for each of these."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing; what it reads to decide on stays true until it ends."""

    def retried(self, work: Callable[[], T]) -> T:
        """Does a transaction that locks many rows; again if the database gave it up for another one."""

    def array(self, values: Sequence[int] | Sequence[str]) -> object:
        """Numbers, or texts, as one parameter of a statement."""

    # --- the database itself -----------------------------------------------------------------------------------------

    def clock(self) -> Seconds:
        """The time by the clock that all times in the store are from: its server's, if it has one."""

    def set_clock(self) -> None:
        """Compares that clock with the server's, if it has one."""

    def shrink(self) -> None:
        """Gives back the room of what was forgotten."""

    def close(self) -> None: ...
