"""A thread that has the store open: it follows the change feed, steers, and survives that the store goes away.

Whoever shows things is told in that thread, and never waits for the store.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.engine.groups import WORDS
from headway.live.answers.tree import Digits, Row, Tree
from headway.live.answers.which import chosen
from headway.live.client.services import steer_spans
from headway.live.home.store_location import found_store, home_of
from headway.live.store import FILE
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.record import record
from headway.model.states import State
from headway.tui.steps import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Submitted

PACE = 0.05  # seconds between two looks at what has changed
SHARE = 0.1  # of the time that looking may take: with very large workflows it happens more rarely
AGAIN = 0.5  # seconds between two tries to open a store that is gone
ROUND = 1.0  # seconds between two looks at whether the workflow is still there
FAULTS = (HeadwayError, OSError, sqlite3.Error)


@record
class Opened:
    """A workflow as it is now. It replaces all that was known."""

    workflow: Submitted
    tree: Tree
    digits: Digits
    remark: str


@record
class Changed:
    """Some jobs are in other states: the digits have changed already."""

    workflow: Submitted


@record
class Said:
    """A sentence for the user: what was done, or why not."""

    text: str


@record
class Lost:
    """The store, or its workflow, is not there. What is shown is old until the next Opened."""

    text: str


@record
class Awaited:
    """What a row waits for: names of jobs, and how they stand."""

    row: Row
    jobs: Sequence[tuple[str, str]]


@record
class Failed:
    """A fault of ours: the browser ends with it."""

    error: Exception


Told = Opened | Changed | Said | Lost | Awaited | Failed


class Watcher:
    """Looks at one workflow of a store for somebody who is told what happens."""

    def __init__(self, place: str | None, wanted: str | None, tell: Callable[[Told], None]) -> None:
        self._place, self._wanted, self._tell = place, wanted, tell
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._home: Home | None = None
        self._store: Store | None = None
        self._workflow: Submitted | None = None
        self._digits = Digits()
        self._after = 0
        self._inode = (0, 0)  # of the store's file: one that was replaced is another store
        self._pace = PACE
        self._checked = 0.0

    # --- what displays call -----------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, unless it waits for a server: nothing is lost with it."""
        self._asked.put(None)
        self._thread.join(1.0)

    def refresh(self) -> None:
        """Everything is read again; the workflow may be another one then, if the one shown is gone."""
        self._asked.put(self._refresh)

    def steer(self, step: Step, rows: Sequence[Row]) -> None:
        """Changes how some rows stand."""
        self._asked.put(lambda: self._steer(step, rows))

    def dependencies(self, row: Row) -> None:
        """What a row waits for."""
        self._asked.put(lambda: self._dependencies(row))

    # --- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:
            self._tell(Failed(error))
        self._close()

    def _follow(self) -> None:
        """Until it is told to stop."""
        lost = ""
        while True:
            try:
                if self._store is None:
                    self._open()
                    lost = ""
                if not self._step():
                    break
            except FAULTS as error:
                self._close()
                if str(error) != lost:
                    lost = str(error)
                    self._tell(Lost(lost))
                if not self._idle():
                    break

    def _idle(self) -> bool:
        """Waits a little for the store to come back; whether to go on."""
        with contextlib.suppress(queue.Empty):
            work = self._asked.get(timeout=AGAIN)
            if work is None:
                return False
            if work == self._refresh:
                self._workflow = None  # whichever runs now will do
            else:
                self._tell(Said("That cannot be done now."))
        return True

    def _step(self) -> bool:
        """One request, or one look; whether to go on."""
        try:
            work = self._asked.get(timeout=self._pace)
        except queue.Empty:
            self._look()
            return True
        if work is None:
            return False
        try:
            work()
        except HeadwayError as error:
            self._tell(Said(str(error)))
        self._look()
        return True

    def _open(self) -> None:
        """The store, and the workflow as it is now: the one that was shown before, if it is there."""
        home, store = found_store(self._place, to_look=True)
        self._store = store
        if self._workflow is None:
            workflow = chosen(store, self._wanted, home)
        else:
            before = self._workflow
            found = [one for one in store.watching.workflows() if (one.id, one.source) == (before.id, before.source)]
            if not found:
                text = f"workflow {before.id} ({before.name}) is not in the store any more."
                raise NotFoundError(text, "r shows the one that runs now, q quits.")
            (workflow,) = found
        self._home = home_of(home, self._place, store, workflow.id)
        self._workflow, self._inode = workflow, self._file()
        self._read()

    def _read(self) -> None:
        assert self._store is not None and self._workflow is not None
        changes = self._store.watching.changes(None, self._workflow.id)
        self._digits, self._after = Digits(), changes.after
        self._digits.take(changes.jobs)
        tree = Tree(self._store.places.groups(self._workflow.id), self._names(), self._digits)
        self._tell(Opened(self._workflow, tree, self._digits, self._store.remark))

    def _look(self) -> None:
        """What has changed since the last look."""
        assert self._store is not None and self._workflow is not None
        begun = time.monotonic()
        if self._file() != self._inode:
            self._close()  # a store that was removed, or put in its place
            return
        changes = self._store.watching.changes(self._after, self._workflow.id)
        self._after = changes.after
        different, is_larger = self._digits.take(changes.jobs)
        if is_larger:
            self._read()
        elif different:
            self._tell(Changed(self._workflow))
        if begun - self._checked > ROUND:
            self._checked = begun
            if not self._is_there():
                self._close()
                return
        self._pace = max(PACE, (time.monotonic() - begun) / SHARE)

    def _is_there(self) -> bool:
        """Whether the workflow is still in the store."""
        assert self._store is not None and self._workflow is not None
        known = self._store.watching.workflows()
        return any((one.id, one.source) == (self._workflow.id, self._workflow.source) for one in known)

    def _file(self) -> tuple[int, int]:
        """Which file it is; a server's store has none."""
        if self._home is None:
            return 0, 0
        try:
            found = (Path(self._home.folder) / FILE).stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_dev, found.st_ino

    def _close(self) -> None:
        if self._store is not None:
            with contextlib.suppress(*FAULTS):
                self._store.close()
        self._store = None

    # --- requests ----------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        assert self._store is not None and self._workflow is not None
        if self._wanted is None:
            self._workflow = chosen(self._store, None, self._home)
        self._read()

    def _steer(self, step: Step, rows: Sequence[Row]) -> None:
        assert self._store is not None and self._workflow is not None
        changed = 0
        spans = [row.span for row in rows if row.last >= row.first]
        for verb in step.verbs if spans else ():
            outcome = steer_spans(self._store, self._home, self._workflow, verb, spans, only=step.only, patience=0.0)
            changed = max(changed, len(outcome.changed))
        self._look()  # what has changed is shown before it is said
        names = rows[0].name if len(rows) == 1 else f"{len(rows)} groups"
        self._tell(Said(f"{step.name}: {names}, {changed} changed."))

    def _dependencies(self, row: Row) -> None:
        assert self._store is not None and self._workflow is not None
        names = self._store.places.awaited_by(self._workflow.id, row.first, row.last) if row.last >= row.first else []
        known = {name: place for place, name in self._names().items()} if names else {}
        self._tell(Awaited(row, [(name, self._word(known.get(name))) for name in names]))

    def _names(self) -> dict[int, str]:
        assert self._store is not None and self._workflow is not None
        return self._store.places.names(self._workflow.id, list(range(len(self._digits.digits))))

    def _word(self, place: int | None) -> str:
        digit = "9" if place is None else chr(self._digits.digits[place])
        return "" if digit == "9" else WORDS[State(int(digit))]
