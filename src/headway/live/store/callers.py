"""Placeholders that are scripts: they call a service for each job, and give no sign of life in between.

Whether one is there is known from its queue: once its lease is over, somebody looks for it in the queue's list. If two
looks in a row do not find it, its job is given back. A list that cannot be had says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from headway.live.store.text import decode, encode
from headway.model.messages import Finish, JobId, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database
    from headway.live.store.leases import Leases

NONE, PROCESS = "none", "process"
SCHEDS = {  # what a caller may be known by, in the words of those who call
    "slurm": "slurm",
    **dict.fromkeys(("gridengine", "sge", "ge", "uge"), "gridengine"),
    **dict.fromkeys(("htcondor", "condor"), "htcondor"),
    PROCESS: PROCESS,  # of a host without a queue
    NONE: NONE,
}
FOR_EVER = 1e300  # seconds that such a placeholder may be silent: it never sends heartbeats
LOOKS = 2  # in a row that have not found one, after which it is gone
MOST = 10_000  # placeholders of one queue, the latest, that are compared with its list
PARTS = 4  # of its lease: the time between two looks


@record
class Caller:
    """A placeholder as it says who it is."""

    sched: str  # who knows whether it is there; "none": nobody
    sched_id: str
    submit_host: str
    host: str
    slot: str = ""
    site: str = "local"
    home: str = ""  # its folder on its host, where its logs are


@record
class Overdue:
    """A placeholder whose lease is over."""

    placeholder: PlaceholderId
    sched: str
    sched_id: str
    submit_host: str
    missing: int  # looks in a row that have not found it
    beat: Seconds  # when it last called
    host: str


@record
class Given:
    """An attempt at a job, as services see it."""

    lease: LeaseId
    workflow: WorkflowId
    job: JobId
    number: int
    placeholder: PlaceholderId
    began: Seconds  # when its placeholder asked what to run; until then, when it was given out
    ended: Seconds | None
    exit_code: int | None
    stop: str | None  # why it is to end, if it is
    reason: str | None  # why it ended
    is_good: bool  # it has its job still


class Callers:
    """The part of a store that services use. Every method is one transaction, or only reads."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database, self._leases = database, leases

    def enter(self, caller: Caller, now: Seconds, patience: Seconds) -> PlaceholderId:
        """The placeholder of a caller: the one that it was before, or a new one. It is there now."""
        database = self._database
        known = {
            "sched": caller.sched,
            "sched_id": encode(caller.sched_id),
            "submit_host": encode(caller.submit_host),
            "slot": encode(caller.slot),
        }
        host, site = encode(caller.host), encode(caller.site)
        with database.transaction():
            found = database.run("caller", host=host, site=site, **known)
            if found:
                placeholder = PlaceholderId(found[0][0])
                database.run("beat", placeholder=placeholder, now=now, since=now)
                database.run("missed", placeholder=placeholder, missing=0)
                return placeholder
            home = encode(caller.home)
            database.run("enter", host=host, pid=0, now=now, patience=FOR_EVER, site=site, home=home)
            placeholder = PlaceholderId(database.run("entered")[0][0])
            database.run("add_caller", placeholder=placeholder, patience=patience, **known)
        return placeholder

    def unbegun(self, placeholder: PlaceholderId) -> LeaseId | None:
        """A lease that it was given and has asked nothing about: the answer may never have reached it."""
        found = self._database.run("unbegun", placeholder=placeholder)
        return LeaseId(found[0][0]) if found else None

    def is_caller(self, placeholder: PlaceholderId) -> bool:
        """Whether a placeholder calls services; the others are Headway's own."""
        return bool(self._database.run("is_caller", placeholder=placeholder))

    def given(self, lease: LeaseId) -> Given | None:
        """An attempt by its lease, whether it is good or not; None: there never was such a lease."""
        for (
            workflow,
            job,
            number,
            _,
            placeholder,
            leased,
            started,
            ended,
            code,
            stop,
            why,
            is_good,
        ) in self._database.run("attempt_of", lease=lease):
            texts = (None if stop is None else decode(stop), None if why is None else decode(why))
            return Given(
                *(lease, workflow, job, number, placeholder, started or leased, ended, code),
                *(*texts, bool(is_good) and ended is None),
            )
        return None

    def begin(self, lease: LeaseId, now: Seconds) -> None:
        """Its placeholder knows what to run."""
        with self._database.transaction():
            self._database.run("begin_attempt", lease=lease, now=now)

    def rest(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It has no job now, and is not looked for until it comes again."""
        with self._database.transaction():
            if not self._database.run("holds", placeholder=placeholder):
                self._database.run("leave", placeholder=placeholder, now=now)

    # --- those that fell silent -------------------------------------------------------------------------------------

    def are_overdue(self, now: Seconds) -> bool:
        """Whether somebody should be looked for."""
        return bool(self._database.run("overdue", now=now, parts=PARTS))

    def take_overdue(self, now: Seconds) -> list[Overdue]:
        """Those that are to be looked for now, by the one who asks and nobody else."""
        database = self._database
        if not self.are_overdue(now):
            return []
        with database.transaction():
            found = [
                Overdue(PlaceholderId(one), sched, decode(number), decode(submit_host), missing, beat, decode(host))
                for one, sched, number, submit_host, missing, beat, host in database.run(
                    "overdue", now=now, parts=PARTS
                )
            ]
            for late in found:
                database.run("look", placeholder=late.placeholder, now=now)
        return found

    def is_ours(self, sched: str, submit_host: str, listed: Collection[str]) -> bool:
        """Whether a list is that of the queue which placeholders mean: one of ours is in it, or was once."""
        database, key = self._database, f"listed {sched} {encode(submit_host)}"
        if database.run("was_listed", key=key):
            return True
        ours = database.run("callers_of", sched=sched, submit_host=encode(submit_host), most=MOST)
        if not any(is_in(decode(sched_id), listed) for (sched_id,) in ours):
            return False
        with database.transaction():
            database.run("note_listed", key=key)
        return True

    def seen(self, found: Iterable[Overdue], missed: Iterable[Overdue], now: Seconds) -> list[tuple[WorkflowId, JobId]]:
        """What a look has shown. The jobs of those that were missed twice are eligible again.

        A late result counts all the same, unless its job was leased, redone, disabled or edited since.
        """
        from headway.live.store.leases import given_back
        from headway.live.store.rows import MovedError

        while True:
            try:
                with self._database.transaction():
                    for one in found:
                        self._database.run("missed", placeholder=one.placeholder, missing=0)
                    lost = [one for one in missed if self._is_lost(one, now)]
                    ends = list[Finish]()
                    for one in lost:
                        why = f"lost: its placeholder on {one.host} is not in the list of {one.sched} any more"
                        ends += given_back(self._leases.held(one.placeholder), why, now)
                    return self._leases.give_back(ends, "its placeholder was gone from its queue", now)
            except MovedError:  # somebody else was at the same rows
                continue

    def _is_lost(self, one: Overdue, now: Seconds) -> bool:
        """Counts a look that has not found one; whether it is gone now, and has not called meanwhile."""
        if one.missing + 1 < LOOKS:
            self._database.run("missed", placeholder=one.placeholder, missing=one.missing + 1)
            return False
        return bool(self._database.run("lose", placeholder=one.placeholder, now=now, beat=one.beat))

    # --- what is known of a job ---------------------------------------------------------------------------------------

    def attributes(self, workflow: WorkflowId, job: JobId) -> Mapping[str, str]:
        """What its user says of a job beyond what Headway acts on; and release and affinity."""
        return attributes_of(self._database, workflow, job)

    def definition(self, workflow: WorkflowId, job: JobId) -> Sequence[object]:
        """cores, memory, retries, state, off, name, time, seconds, spec, named resources."""
        return self._database.run("resources_of", workflow=workflow, job=job)[0]

    def last_ended(self, workflow: WorkflowId, job: JobId) -> Sequence[object] | None:
        """started, ended, exit_code, max_rss, cpu_seconds, number, reason, status, host, site of the last attempt."""
        found = self._database.run("last_ended", workflow=workflow, job=job)
        return found[0] if found else None


def is_in(sched_id: str, listed: Collection[str]) -> bool:
    """Whether a list has an id; a task of an array is there as long as its array is."""
    return sched_id in listed or sched_id.partition(".")[0] in listed


def attributes_of(database: Database, workflow: WorkflowId, job: JobId) -> Mapping[str, str]:
    """What a user says of a job beyond what Headway acts on; and release and affinity."""
    found = database.run("attributes_of", workflow=workflow, job=job)
    return dict(json.loads(found[0][0])) if found else {}
