"""What other connections to the same PostgreSQL server have changed: NOTIFY by those who write, LISTEN by runners."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from headway.live.store.postgres_server import explained
from headway.model.messages import WorkflowId

if TYPE_CHECKING:
    import psycopg

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

CHANNEL = "headway"


class PostgresNews:
    """Keeps to database.News. What has come, with a query's answer or by itself, waits until it is asked for."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection  # the present one
        self._told: set[tuple[WorkflowId, bool]] = set()  # what others are to know of this transaction
        self._news: dict[WorkflowId, bool] = {}
        self._is_listening = False
        self._listener = 0  # the server's process that says it
        self._also: Callable[[dict[WorkflowId, bool]], None] | None = None

    # --- what this connection changes --------------------------------------------------------------------------------

    def begin(self) -> None:
        """A transaction begins."""
        self._told.clear()

    def tell(self, workflow: WorkflowId, stops: bool = False) -> None:
        self._told.add((workflow, stops))

    def also_tell(self, whom: Callable[[dict[WorkflowId, bool]], None]) -> None:
        """Others behind this very connection hear of what is changed by it, too."""
        self._also = whom

    def committed(self) -> None:
        """What was sent holds."""
        if self._also is not None and self._told:
            news: dict[WorkflowId, bool] = {}
            for workflow, stops in self._told:
                news[workflow] = stops or news.get(workflow, False)
            self._also(news)

    def send(self) -> None:
        """It is about to be committed, and others hear of it when it is."""
        for workflow, stops in self._told:
            text = f"{workflow}{'!' * stops}"
            self._connection().execute("SELECT pg_notify(%s, %s)", (CHANNEL, text), prepare=True)

    # --- what others change ------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Has the connection hear; what happened before is not heard, so look once after this."""
        self._is_listening = True
        with explained():
            self._listen(self._connection())

    def reconnected(self) -> None:
        """There is a new connection."""
        if self._is_listening:
            self._listen(self._connection())

    def _listen(self, db: Connection) -> None:
        own = db.info.backend_pid
        if own == self._listener:
            return
        self._listener = own

        def note(notification: psycopg.Notify) -> None:
            if notification.pid != own:
                self._note(notification.payload)

        db.add_notify_handler(note)
        db.execute(f"LISTEN {CHANNEL}")

    def _note(self, text: str) -> None:
        number, mark, _ = text.partition("!")
        if number.isdecimal():  # whatever else is said on this channel is not ours
            workflow = WorkflowId(int(number))
            self._news[workflow] = bool(mark) or self._news.get(workflow, False)

    def fileno(self) -> int:
        """What to wait for: it is ready to be read when there is something to hear. -1: the connection is broken."""
        db = self._connection()
        return -1 if db.closed else db.fileno()

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end.

        A connection that broke is closed, and raises.
        """
        db = self._connection()
        if not db.closed:
            with explained():
                db.pgconn.consume_input()
                while (notification := db.pgconn.notifies()) is not None:
                    if notification.be_pid != db.info.backend_pid:
                        self._note(notification.extra.decode())
        news, self._news = self._news, {}
        return news
