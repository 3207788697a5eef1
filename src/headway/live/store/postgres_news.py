"""What other connections to the same PostgreSQL server have changed: NOTIFY by those who write, LISTEN by runners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.model.messages import WorkflowId

if TYPE_CHECKING:
    import psycopg

CHANNEL = "headway"


class Heard:
    """Notifications that have come, with a query's answer or by themselves, and were not looked at yet."""

    def __init__(self) -> None:
        self.is_listening = False
        self._news: dict[WorkflowId, bool] = {}

    def listen(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Has a connection hear; what happened before is not heard, so look once after this."""
        self.is_listening = True
        own = db.info.backend_pid

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

    def take_in(self, db: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Reads what has come by itself. A connection that broke is closed, and raises."""
        db.pgconn.consume_input()
        while (notification := db.pgconn.notifies()) is not None:
            if notification.be_pid != db.info.backend_pid:
                self._note(notification.extra.decode())

    def news(self) -> dict[WorkflowId, bool]:
        """Workflows that others have changed; True: attempts may have to end."""
        news, self._news = self._news, {}
        return news
