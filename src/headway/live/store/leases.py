"""The exchange between placeholders and a store: who is there, and who has which job."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

from headway.engine.claim import Traits
from headway.engine.exchange import give
from headway.engine.progress import Changes
from headway.engine.ready import Room
from headway.live.store.giving import Giving, Supply, TakenJob, traits
from headway.live.store.rows import MovedError
from headway.live.store.text import decode, encode
from headway.model.errors import NotFoundError
from headway.model.messages import (
    LOCAL,
    PATIENCE,
    Answer,
    Finish,
    JobId,
    Lease,
    LeaseId,
    PlaceholderId,
    Seconds,
    WorkflowId,
)
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

LATELY = 1.0  # seconds for which it is known well enough what a workflow is


class Leases:
    """Who has which job. Every method is one transaction, but for `finish`, which is part of one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[WorkflowId, Traits] = {}
        self._since = 0.0  # when it was last read what workflows are: they may have grown

    def exchange(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
        holds: Collection[LeaseId] | None = None,
    ) -> Answer:
        """The only way a job makes progress: attempts that ended go in, and the next jobs come out.

        `idle`: workflows of which the placeholder has nothing, to be told whether they are over. `holds`: all leases
        that it has beside those that ended. That is a sign of life, and the answer says which of them are lost or to
        end; leases that it does not know of are given back.
        """
        if not 0 <= now - self._since < LATELY:
            self._known.clear()
            self._since = now
        database = self._database
        while True:
            try:
                with database.transaction():
                    ended = finished if holds is None else self._reported(placeholder, finished, holds, now)
                    changes = self.finish(ended, now, holds or ()) if ended or holds else None
                    giving = Giving(database, Supply(database, self._traits, placeholder), placeholder, now)
                    answer = give(giving, changes, room, workflows, now, idle)
                    if changes is not None and database.is_shared:
                        self._tell(changes, answer.leases)
                    if holds is not None:
                        stops = (lease for lease, _ in self.stop_requests(placeholder) if lease not in answer.stops)
                        answer.stops += tuple(stops)
                    return answer
            except MovedError:  # somebody else was at the same rows
                continue

    def _reported(
        self, placeholder: PlaceholderId, finished: Sequence[Finish], holds: Collection[LeaseId], now: Seconds
    ) -> list[Finish]:
        """A placeholder has said what it holds. Leases of its that it does not know of end, too: an exchange got them
        though it seemed to have failed.
        """
        _beat(self._database, placeholder, now)
        known = {finish.lease for finish in finished}.union(holds)
        strays = [lease for lease in self.held(placeholder) if lease not in known]
        return [*finished, *given_back(strays, "given back", now)]

    def finish(self, finished: Sequence[Finish], now: Seconds, holds: Collection[LeaseId] = ()) -> Changes:
        """Writes what follows from ends, inside a transaction; and from leases that a placeholder says it has."""
        changes = self._database.jobs.step(finished, now, holds)
        for one in finished:
            if one.tail:
                self._database.run("keep_tail", lease=one.lease, tail=encode(one.tail))
        if changes.nodes or changes.renewed:  # only nodes can end a workflow
            from headway.live.store.consequences import write_consequences

            write_consequences(self._database, changes, lambda workflow: self._traits(workflow).special)
        if changes.refused:
            from headway.live.store.consequences import note_refused

            note_refused(self._database, changes.refused, now)
        return changes

    def give_back(self, ends: Sequence[Finish], note: str, now: Seconds) -> list[tuple[WorkflowId, JobId]]:
        """Inside a transaction: jobs of placeholders that are gone are eligible again, and that is noted."""
        from headway.live.store.consequences import note_events

        back = list(self.finish(ends, now).rows)
        for workflow, _ in back:
            self._database.news.tell(workflow)
        note_events(self._database, [(now, "reclaimed", *key, note) for key in back])
        return back

    def _tell(self, changes: Changes, leases: Sequence[Lease]) -> None:
        """Lets others know of what they may wait for: jobs that this exchange left to them, or the end of it all."""
        left: dict[WorkflowId, int] = {}
        for row in changes.rows.values():
            left[row.workflow] = left.get(row.workflow, 0) + (row.state is State.ELIGIBLE)
        given = dict.fromkeys(left, 0)
        for lease in leases:
            given[lease.workflow] = given.get(lease.workflow, 0) + 1
        for workflow, count in left.items():
            if self._traits(workflow).special:  # throttles, nodes and stops: any end may concern anybody
                self._database.news.tell(workflow, stops=bool(changes.stops))
            elif count > given[workflow] or not (
                given[workflow] or self._database.run("is_running", workflow=workflow)
            ):
                self._database.news.tell(workflow)

    def _traits(self, workflow: WorkflowId) -> Traits:
        found = self._known.get(workflow)
        if found is None:
            found = self._known[workflow] = traits(self._database, workflow)
        return found

    def good(self, leases: Sequence[LeaseId]) -> list[Lease]:
        """Those of some attempts that have not ended and are counted on, as they were given."""
        with self._database.transaction():
            return self._good(leases)

    def _good(self, leases: Sequence[LeaseId]) -> list[Lease]:
        found, database = [], self._database
        for lease in sorted(leases):
            for workflow, lane, *values in database.run("adoptable", lease=lease):
                named = self._traits(workflow).lanes[lane].named if lane else ()
                taken = TakenJob.of(values, values[3], named)
                taken.attempts -= 1  # this one is counted already
                taken.prepare(database, workflow)
                found.append(taken.lease(lease, workflow))
        return found

    def adopt(self, placeholder: PlaceholderId, leases: Sequence[LeaseId]) -> list[Lease]:
        """Gives attempts that go on to another placeholder; those of them that have not ended, as they were given."""
        with self._database.transaction():
            adopted = self._good(leases)
            for lease in adopted:
                self._database.run("adopt", lease=lease.id, placeholder=placeholder)
        return adopted

    def held(self, placeholder: PlaceholderId) -> list[LeaseId]:
        """Attempts of one placeholder that have not ended."""
        return [LeaseId(lease) for lease, _ in self._database.run("held", placeholder=placeholder)]

    def stop_requests(self, placeholder: PlaceholderId) -> list[tuple[LeaseId, str]]:
        """Attempts of a placeholder that are to end, and why."""
        found = self._database.run("held", placeholder=placeholder)
        return [(LeaseId(lease), decode(reason)) for lease, reason in found if reason is not None]

    def open_leases(self, host: str | None = None) -> list[LeaseId]:
        """Attempts that have not ended, of all placeholders or of one host's."""
        wanted = None if host is None else encode(host)
        return [LeaseId(lease) for (lease,) in self._database.run("open_leases", host=wanted)]

    def lost(self, lease: LeaseId) -> tuple[str, str, Seconds] | None:
        """What an attempt at a command was about whose runner has died: spec, directory, and when it got its lease."""
        found = self._database.run("lost", lease=lease)
        return (found[0][0], self._database.paths.found(decode(found[0][1])), found[0][2]) if found else None

    def directory(self, workflow: WorkflowId) -> str:
        """Where the jobs of a workflow run."""
        return self.setting(workflow)[0]

    def setting(self, workflow: WorkflowId) -> tuple[str, dict[str, str]]:
        """Where the jobs of a workflow run, and what of its user's environment they get on every host."""
        found = self._database.run("setting", workflow=workflow)
        if not found:
            raise NotFoundError(f"the store has no workflow {workflow}.")
        directory, exported = found[0]
        return self._database.paths.found(decode(directory)), json.loads(exported) if exported else {}


class Placeholders:
    """Those that come, give signs of life, leave or fall silent. Every method is one transaction."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database, self._leases = database, leases

    def enter(
        self,
        host: str,
        pid: int,
        now: Seconds,
        patience: Seconds = PATIENCE,
        site: str = LOCAL,
        home: str = "",
    ) -> PlaceholderId:
        """A new placeholder, and how long its silence may last before its jobs are given to others.

        `home`: the folder that it has at its site, if that is not the store's.
        """
        given = {"pid": pid, "now": now, "patience": patience, "site": encode(site), "home": encode(home)}
        with self._database.transaction():
            self._database.run("enter", host=encode(host), **given)
            return PlaceholderId(self._database.run("entered")[0][0])

    def wanted(self, site: str) -> list[WorkflowId]:
        """The workflows whose jobs a placeholder at a site takes though nobody waits for them there."""
        found = self._database.run("wanted", site=encode(site), owner=encode(self._database.owner))
        return [WorkflowId(workflow) for (workflow,) in found]

    def beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It is still there, or there again."""
        with self._database.transaction():
            _beat(self._database, placeholder, now)

    def leave(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It ends, and gives back what it holds."""
        with self._database.transaction():
            self._database.run("leave", placeholder=placeholder, now=now)
            back = given_back(self._leases.held(placeholder), "given back", now)
            for workflow, _ in self._leases.finish(back, now).rows:
                self._database.news.tell(workflow)

    def reclaim(self, placeholder: PlaceholderId, now: Seconds) -> list[tuple[WorkflowId, JobId]]:
        """Jobs of placeholders that count as lost (engine.silence) as far as this one can tell are eligible again.

        A late result counts all the same, unless its job was leased, redone, disabled or edited since.
        """
        from headway.engine.silence import Presence, silent

        database = self._database
        with database.transaction():
            lost = list[Finish]()
            for own in database.run("presence", placeholder=placeholder):
                for one in silent(Presence(*own), [Presence(*values) for values in database.run("presences")], now):
                    if database.run("lose", placeholder=one.id, now=now, beat=one.beat):
                        why = f"lost: its placeholder on {decode(one.host)} was silent"
                        lost += given_back(self._leases.held(one.id), why, now)
            return self._leases.give_back(lost, "its placeholder was silent for too long", now)


def _beat(database: Database, placeholder: PlaceholderId, now: Seconds) -> None:
    """A sign of life, inside a transaction."""
    from headway.engine.silence import Presence, in_touch_since

    database.set_clock()
    for values in database.run("presence", placeholder=placeholder):
        database.run("beat", placeholder=placeholder, now=now, since=in_touch_since(Presence(*values), now))


def given_back(leases: Iterable[LeaseId], reason: str, now: Seconds) -> list[Finish]:
    """The ends of attempts that count for nothing."""
    return [Finish(lease, None, ended=now, reason=reason) for lease in leases]
