"""TrellisDAG's services of section 3.3: each is one call, and what it does to a store is one exchange.

The id that `next_job` gives is the lease, with the mark of its store: one of another store, or one whose job somebody
else has by now, is refused.
"""

from __future__ import annotations

from headway.engine.one_job import OneJob
from headway.live.store.callers import Caller, Given
from headway.model.errors import NotFoundError, UsageError, shown
from headway.model.messages import Finish, LeaseId, Seconds
from headway.model.record import record
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.engine.ready import Within
    from headway.live.store import Store
    from headway.model.messages import Lease

LONGEST = 18  # digits of a number that every database knows
LOOKS = (1, 64, 4096)  # jobs that are looked at, one after the other, if those before are refused
_NONE_LEFT = "It has ended, was given to somebody else, or its user wants something else now."


@record
class Wants:
    """What a placeholder has for a job."""

    cores: int = 1
    memory: int | None = None  # bytes; None: not counted
    within: Within | None = None  # the time that is left to it


@record
class Next:
    """What a placeholder is told that asks for a job."""

    id: str | None  # None: there is none for it now
    is_over: bool = False  # and there will be none


class Services:
    """The services of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # --- mqnextjob --------------------------------------------------------------------------------------------------

    def next_job(self, caller: Caller, wants: Wants, patience: Seconds) -> Next:
        """Gives a job to a placeholder: the next by rank that it can run."""
        store, now = self._store, self._store.clock()
        workflows = store.placeholders.wanted(caller.site)
        if not workflows:
            return Next(None, is_over=True)
        placeholder = store.callers.enter(caller, now, patience)
        earlier = store.callers.unbegun(placeholder)
        if earlier is not None:
            return Next(self.id_of(earlier))
        lease: Lease | None = None
        over = frozenset[int]()
        for look in LOOKS:
            room = _room(caller, wants, look)
            answer = store.leases.exchange(placeholder, (), room, workflows, now, workflows)
            over = frozenset(answer.over)
            if answer.leases:
                lease = answer.leases[0]
                self._give_back(answer.leases[1:], now)
                break
            if room.refused < look:
                break
        if lease is None:
            store.callers.rest(placeholder, now)
            return Next(None, over.issuperset(workflows))
        return Next(self.id_of(lease.id))

    def _give_back(self, leases: list[Lease], now: Seconds) -> None:
        """One job at a time: a node that takes no cores can come beside another job."""
        if leases:
            from headway.engine.ready import Room
            from headway.live.store.leases import given_back

            ends = given_back([one.id for one in leases], "given back", now)
            self._store.leases.exchange(self._given(leases[0].id).placeholder, ends, Room(0, 0), (), now)

    # --- which job ----------------------------------------------------------------------------------------------------

    def id_of(self, lease: LeaseId) -> str:
        """A lease as placeholders are told it."""
        return f"{self._store.id}.{lease}"

    def given(self, id: str) -> Given:
        """The attempt of an id that `next_job` gave, or of the number that mqstat shows."""
        mark, dot, number = id.rpartition(".")
        if not number.isdecimal() or not number.isascii() or (dot and not mark.replace("-", "").isalnum()):
            raise UsageError(f"{shown(id)} is no id.", "Give the id as mqnextjob has printed it.")
        if dot and mark.partition("-")[0] != self._store.id:  # HEADWAY_LEASE of a runner's job says which runner, too
            raise NotFoundError(f"{shown(id)} is the id of another store.", "See HEADWAY_STORE and headway.toml.")
        if len(number) > LONGEST:
            raise NotFoundError(f"no job was ever given the id {shown(id)}.")
        return self._given(LeaseId(int(number)))

    def _given(self, lease: LeaseId) -> Given:
        found = self._store.callers.given(lease)
        if found is None:
            raise NotFoundError(f"no job was ever given the id {shown(self.id_of(lease))}.")
        return found

    def running(self, id: str) -> tuple[Given, Lease]:
        """The attempt of an id that is good still, and what it is to run."""
        given = self.given(id)
        leases = self._store.leases.good([given.lease]) if given.is_good else []
        if not leases:
            raise NotFoundError(f"the id {shown(id)} is not good any more.", _NONE_LEFT)
        return given, leases[0]

    # --- mqdonejob ----------------------------------------------------------------------------------------------------

    def done(self, id: str, finish: Finish) -> None:
        """The end of a job; one that is told again is no error. NotFoundError: it does not count."""
        store, given = self._store, self.given(id)
        if not store.callers.is_caller(given.placeholder):
            raise NotFoundError(
                f"the id {shown(id)} is not of mqnextjob: Headway runs this job itself, and records how it ends.",
                "headway stop, done and redo steer it.",
            )
        if not _is_told(given, finish):
            now = store.clock()
            from headway.engine.ready import Room

            store.leases.exchange(given.placeholder, [finish], Room(0, 0), (), now)
            store.callers.rest(given.placeholder, now)
            if not _is_told(self.given(id), finish):
                raise NotFoundError(f"the id {shown(id)} is not good any more: this end does not count.", _NONE_LEFT)


def _is_told(given: Given, finish: Finish) -> bool:
    """Whether an attempt is known to have ended so."""
    if given.ended is None or given.exit_code != finish.exit_code:
        return False
    return finish.exit_code is not None or given.reason == finish.reason


def _room(caller: Caller, wants: Wants, look: int) -> OneJob:
    memory = wants.memory
    return OneJob(
        *(wants.cores, wants.cores, 0, memory, memory or 0, {}, False, wants.within, caller.host),
        refuses=_needs_headway,
        look=look,
    )


def _needs_headway(job: Any) -> bool:
    """Whether a job cannot be run by a script: a sub-DAG needs Headway, a service somebody who ends it."""
    row = job if isinstance(job, tuple) else job.job
    spec, kind = row[5], row[8]
    if kind == Kind.SERVICE:
        return True
    if '"subdag"' not in spec:
        return False
    from headway.live.store.spec import Spec

    return Spec.read(spec).subdag is not None
