"""What is the same in every database: statements that run as they are, and rules around them."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager

from headway.engine.progress import Changes, Node, Row
from headway.live.store.relative import Paths
from headway.live.store.text import decode, encode
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import Finish, JobId, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store.views import Event, JobRow

STATES = tuple(State)
ELIGIBLE, RUNNING = int(State.ELIGIBLE), int(State.RUNNING)


def row(values: Sequence[Any]) -> Row:
    """A row as the rules see it; a lease counts only while its job runs."""
    workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off = values
    return Row(
        workflow,
        job,
        STATES[state],
        waiting_for,
        tries,
        retries,
        kind,
        lease if state == RUNNING else None,
        arrival,
        bool(off & 1),
        off & 6,
        lease if state == ELIGIBLE else None,
    )


def node(values: Sequence[Any]) -> Node:
    """What a job has beyond its row."""
    from headway.live.store.rules import read

    step, rules, result, pre_result, not_before, parts, parts_left, parts_failed, owner, late = values
    return Node(read(rules), Step(step), result, pre_result, not_before, parts, parts_left, parts_failed, owner, late)


class AlreadySubmittedError(HeadwayError):
    """Another run has submitted the same file at the same moment."""

    def __init__(self) -> None:
        super().__init__("another run has just submitted this workflow.", "Run it again.")


class Shared:
    """The part of a store that no database does differently."""

    id: str  # the mark that its jobs carry
    owner = ""  # whose workflows are found by their file: all, where a store is one user's
    _paths = Paths()  # on a server: as they are

    @property
    def remark(self) -> str:
        """A sentence, if what is shown may be out of date."""
        return ""

    def _run(self, name: str, /, **values: object) -> list[tuple[Any, ...]]:
        """Runs a named statement; its rows, if it has any."""
        raise NotImplementedError

    def _transaction(self) -> AbstractContextManager[None]:
        """All or nothing; what it reads to decide on stays true until it ends."""
        raise NotImplementedError

    def _finish(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        """Writes what follows from ends, inside a transaction; and from leases that a placeholder says it has."""
        raise NotImplementedError

    def _news(self, workflow: WorkflowId, stops: bool = False) -> None:
        """Lets those who wait know, once this transaction is done, that a workflow has changed.

        `stops`: also those who have no room, since attempts of theirs may have to end. A store of one runner has
        nobody else to tell.
        """

    def clock(self) -> Seconds:
        """The time by the clock that all times in the store are from."""
        return time.time()

    def listen(self) -> None:
        """From now on this connection hears what others change, if there are others."""

    def fileno(self) -> int:
        """What to wait for: it can be read when there is something to hear. -1: nothing ever will be, or not now."""
        return -1

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end."""
        return {}

    # --- placeholders ----------------------------------------------------------------------------------------------

    def beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        with self._transaction():
            self._beat(placeholder, now)

    def _beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        from headway.engine.silence import Presence, in_touch_since

        for values in self._run("presence", placeholder=placeholder):
            self._run("beat", placeholder=placeholder, now=now, since=in_touch_since(Presence(*values), now))

    def leave(self, placeholder: PlaceholderId, now: Seconds) -> None:
        with self._transaction():
            self._run("leave", placeholder=placeholder, now=now)
            for workflow, _ in self._finish(self._given_back(placeholder, "given back", now), now).rows:
                self._news(workflow)

    def reclaim(self, placeholder: PlaceholderId, now: Seconds) -> list[tuple[WorkflowId, JobId]]:
        from headway.engine.silence import Presence, silent

        with self._transaction():
            lost = list[Finish]()
            for own in self._run("presence", placeholder=placeholder):
                for one in silent(Presence(*own), [Presence(*values) for values in self._run("presences")], now):
                    if self._run("lose", placeholder=one.id, now=now, beat=one.beat):
                        lost += self._given_back(one.id, f"lost: its placeholder on {decode(one.host)} was silent", now)
            back = list(self._finish(lost, now).rows)
            for workflow, _ in back:
                self._news(workflow)
            self._note([(now, "reclaimed", *key, "its placeholder was silent for too long") for key in back])
        return back

    def _given_back(self, placeholder: PlaceholderId, reason: str, now: Seconds) -> list[Finish]:
        return [Finish(lease, None, ended=now, reason=reason) for lease in self.held(placeholder)]

    def _strays(
        self, placeholder: PlaceholderId, finished: Sequence[Finish], holds: Collection[LeaseId], now: Seconds
    ) -> list[Finish]:
        """Leases of a placeholder that it does not know of: an exchange got them though it seemed to have failed."""
        known = {finish.lease for finish in finished}.union(holds)
        return [finish for finish in self._given_back(placeholder, "given back", now) if finish.lease not in known]

    def held(self, placeholder: PlaceholderId) -> list[LeaseId]:
        return [LeaseId(lease) for lease, _ in self._run("held", placeholder=placeholder)]

    def _good(self, found: Row, lease: LeaseId, counts: object) -> Row | None:
        """The job of a lease if the lease is good: it runs, or its end is still to come and would count."""
        if found.lease == lease:
            return found
        if not counts or found.state is not State.ELIGIBLE or self._run("is_followed", workflow=found.workflow):
            return None
        found.lease = lease
        return found

    def open_leases(self, host: str | None = None) -> list[LeaseId]:
        wanted = None if host is None else encode(host)
        return [LeaseId(lease) for (lease,) in self._run("open_leases", host=wanted)]

    def lost(self, lease: LeaseId) -> tuple[str, str, Seconds] | None:
        found = self._run("lost", lease=lease)
        return (found[0][0], self._paths.found(decode(found[0][1])), found[0][2]) if found else None

    # --- exceptions ------------------------------------------------------------------------------------------------

    def _refuse(self, refused: Sequence[Finish], now: Seconds) -> None:
        """Notes results of stale leases; one that is only told twice (a spool read again) is nothing to note."""
        notes = list[tuple[object, ...]]()
        for finish in refused:
            found = self._run("attempt", lease=finish.lease)
            workflow, job, ended, exit_code = found[0] if found else (None, None, None, None)
            if finish.exit_code is None or (found and ended is not None and exit_code == finish.exit_code):
                continue
            why = "is stale" if found else "was never given"
            notes.append((now, "refused", workflow, job, f"exit code {finish.exit_code}: lease {finish.lease} {why}"))
        self._note(notes)

    def _note(self, notes: Sequence[tuple[object, ...]]) -> None:
        if notes:
            self._run("before_events")
        for at, kind, workflow, job, text in notes:
            self._run("add_event", time=at, kind=kind, workflow=workflow, job=job, text=text)

    # --- looking ---------------------------------------------------------------------------------------------------

    def latest(self, source: str) -> tuple[WorkflowId, str] | None:
        relative = self._paths.kept_source(source)
        found = self._run("latest", source=encode(relative), owner=self.owner)
        if not found and relative != source:
            found = self._run("latest", source=encode(source), owner=self.owner)  # as earlier versions have written it
        return (WorkflowId(found[0][0]), found[0][1]) if found else None

    def _follows(self, source: str, expected: WorkflowId | None) -> WorkflowId:
        """The workflow that a new one of this file comes after, 0 for none; refused if it is not the expected one."""
        latest = self.latest(source)
        last = WorkflowId(0) if latest is None else latest[0]
        if expected is None:
            return last
        if last and last != expected:
            raise AlreadySubmittedError
        return expected

    def directory(self, workflow: WorkflowId) -> str:
        found = self._run("directory", workflow=workflow)
        if not found:
            raise NotFoundError(f"the store has no workflow {workflow}.")
        return self._paths.found(decode(found[0][0]))

    def definitions(self, workflow: WorkflowId) -> dict[str, tuple[bool, str]]:
        from headway.live.store.submission import definition

        found = self._run("definitions", workflow=workflow)
        return {decode(name): (state == State.DONE, definition(spec, rules)) for name, state, spec, rules in found}

    def began(self, workflow: WorkflowId, job: JobId, name: str) -> Seconds | None:
        found = self._run("began", workflow=workflow, job=job, name=encode(name))
        return found[0][0] if found else None

    def left_out(self, workflow: WorkflowId) -> dict[State, int]:
        return {STATES[state]: count for state, count in self._run("left_out", workflow=workflow)}

    def disabled(self, workflow: WorkflowId) -> list[str]:
        return [decode(name) for (name,) in self._run("disabled", workflow=workflow)]

    def counts(self, workflow: WorkflowId) -> dict[State, int]:
        return {State(state): count for state, count in self._run("counts", workflow=workflow)}

    def jobs(self, workflow: WorkflowId) -> list[JobRow]:
        from headway.live.store.views import JobRow

        return [
            JobRow(job, decode(name), STATES[state], rank, waiting_for, attempts)
            for job, name, state, rank, waiting_for, attempts in self._run("jobs", workflow=workflow)
        ]

    def failures(self, workflow: WorkflowId) -> list[tuple[str, int, int, int | None, str | None]]:
        return [
            (decode(name), job, number, exit_code, None if reason is None else decode(reason))
            for name, job, number, exit_code, reason in self._run("failures", workflow=workflow)
        ]

    def attempts(self, workflow: WorkflowId) -> list[tuple[object, ...]]:
        return [
            (decode(name), number, decode(host), *numbers, None if reason is None else decode(reason))
            for name, number, host, *numbers, reason in self._run("attempts", workflow=workflow)
        ]

    def events(self, after: int = 0) -> list[Event]:
        from headway.live.store.views import Event

        return [Event(*values) for values in self._run("events", after=after)]
