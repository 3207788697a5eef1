"""What batch queues were asked for. A row is written before its queue is asked, under a name that the queue shows."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from enum import IntEnum

from headway.engine.ready import Within
from headway.live.store.giving import traits
from headway.live.store.text import decode, encode
from headway.model.messages import NODES, LeaseId, Seconds, WorkflowId
from headway.model.record import mutable, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

PREFIX = "headway-"


class State(IntEnum):
    """How far an allocation is, as far as the store knows."""

    ASKED = 0  # the queue may or may not have heard of it
    QUEUED = 1
    RUNNING = 2  # its placeholder has come
    ENDED = 3


@record
class Allocation:
    """One that is not over."""

    id: int
    cores: int
    seconds: int
    state: State
    asked: Seconds
    queue_id: str | None
    began: Seconds | None
    nodes: int = 1


@mutable
class Wanted:
    """Cores that jobs of so many hosts want on each, and that they use at a site."""

    eligible: int = 0
    running: int = 0
    too_long: int = 0  # jobs that may take longer than an allocation lasts


@record
class Past:
    """One of all that there ever were."""

    id: int
    site: str
    cores: int
    seconds: int
    state: State
    asked: Seconds
    queue_id: str | None
    began: Seconds | None
    ended: Seconds | None
    reason: str | None


def name_of(store: str, number: int) -> str:
    """What a queue shows for an allocation of a store."""
    return f"{PREFIX}{store}-{number}"


def number_of(store: str, name: str) -> int | None:
    """The number of an allocation by its name; None: it is another store's, or none of ours."""
    before, _, number = name.rpartition("-")
    return int(number) if before == f"{PREFIX}{store}" and number.isdigit() else None


class Allocations:
    """The part of a store that knows them. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, site: str, cores: int, seconds: int, now: Seconds, nodes: int = 1) -> tuple[int, str]:
        """A new one, which its queue is to be asked for: its number, and the secret of its placeholder."""
        secret = secrets.token_urlsafe(32)
        with self._database.transaction():
            self._database.run(
                "ask_allocation",
                site=encode(site),
                cores=cores,
                seconds=seconds,
                asked=int(State.ASKED),
                now=now,
                token=_digest(secret),
                nodes=nodes,
            )
            return int(self._database.run("entered")[0][0]), secret

    def open(self, site: str) -> list[Allocation]:
        found = self._database.run("open_allocations", site=encode(site))
        return [Allocation(one[0], one[1], one[2], State(one[3]), *one[4:]) for one in found]

    def all(self) -> list[Past]:
        found = self._database.run("all_allocations")
        return [
            Past(number, decode(site), cores, seconds, State(state), asked, queue_id, began, ended, _said(reason))
            for number, site, cores, seconds, state, asked, queue_id, began, ended, reason in found
        ]

    def queued(self, number: int, queue_id: str) -> None:
        """Its queue has it, and calls it so."""
        with self._database.transaction():
            states = {"asked": int(State.ASKED), "queued": int(State.QUEUED)}
            self._database.run("queue_allocation", id=number, queue_id=queue_id, **states)

    def end(self, numbers: Sequence[int], reason: str, now: Seconds) -> None:
        """They are over, or never were."""
        with self._database.transaction():
            for number in numbers:
                why = encode(reason) if reason else None
                self._database.run("end_allocation", id=number, reason=why, now=now, over=int(State.ENDED))

    def admit(self, number: int, site: str, secret: str, instance: str, now: Seconds) -> bool:
        """Whether a placeholder is that of an allocation of this site: the first process to show its secret."""
        with self._database.transaction():
            for token, known, of, ended in self._database.run("token_of", id=number):
                is_good = hmac.compare_digest(token, _digest(secret)) and decode(of) == site and ended is None
                if is_good and (known is None or hmac.compare_digest(known, _digest(instance))):
                    runs = int(State.RUNNING)
                    self._database.run("begin_allocation", id=number, instance=_digest(instance), now=now, runs=runs)
                    return True
        return False

    def wanted(self, workflows: Sequence[WorkflowId], site: str, within: Within) -> dict[int, Wanted]:
        """What the jobs want that could begin now, and what runs at a site, by how many hosts they are for.

        `within`: the time that a placeholder there has for jobs.
        """
        given = {"site": encode(site), "longest": within.left, "unknown": within.unknown}
        found: dict[int, Wanted] = {}
        nodes = _Nodes(self._database)
        for workflow in workflows:
            for lane, cores, too_long in self._database.run("eligible_cores", workflow=workflow, **given):
                one = found.setdefault(nodes.of(workflow, lane), Wanted())
                one.eligible += int(cores)
                one.too_long += int(too_long)
        for workflow, _, cores, lane in self._database.run("running_at", site=encode(site)):
            found.setdefault(nodes.of(WorkflowId(workflow), lane), Wanted()).running += int(cores)
        return found

    def running(self, site: str) -> list[tuple[WorkflowId, LeaseId]]:
        """The attempts that run at a site."""
        found = self._database.run("running_at", site=encode(site))
        return [(WorkflowId(one), LeaseId(lease)) for one, lease, _, _ in found]

    def home_of(self, lease: LeaseId) -> str | None:
        """The folder of the placeholder in whose allocation an attempt runs."""
        found = self._database.run("home_of_lease", lease=lease)
        return decode(found[0][0]) if found else None


class _Nodes:
    """How many hosts the jobs of a lane are for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[WorkflowId, dict[int, int]] = {}

    def of(self, workflow: WorkflowId, lane: int) -> int:
        if not lane:
            return 1
        if workflow not in self._known:
            lanes = traits(self._database, workflow).lanes
            self._known[workflow] = {number: dict(one.named).get(NODES, 1) for number, one in lanes.items()}
        return self._known[workflow].get(lane, 1)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _said(reason: str | None) -> str | None:
    return None if reason is None else decode(reason)
