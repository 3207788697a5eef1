"""What peers say to each other: a closed union, each kind with a number, under one version.

A letter's `sender` is what the transport has verified, not what somebody wrote into it. Times are milliseconds.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from headway.engine.peering.tree_messages import (
    Ack,
    Adopted,
    Attach,
    ClockOff,
    Enlist,
    Enlisted,
    Handover,
    Key,
    Leave,
    Orphan,
    RootIs,
    Update,
    WhoIsRoot,
)
from headway.model.record import record
from headway.policies.by_when.summary import Summary

VERSION = 1
PieceId = tuple[int, int, int, int]  # owner, workflow, attempt, first job
Rows = tuple[tuple[int, int, int, int], ...]  # of jobs: which, work, start and end; 0 where only neighbours count


@record
class Seal:
    """What an owner has signed of a request, pieces of which may go on."""

    jobs: Rows
    start: int
    deadline: int
    signature: bytes


@record
class Request:
    """Room is wanted for some jobs of a sequence."""

    piece: PieceId
    jobs: Rows
    start: int
    deadline: int
    expires: int
    low: Key  # of the owner's leaf
    needed: int = 0  # class of memory and disk
    level: int = 1  # of the node that it is for: a peer may have two
    down: bool = False  # from a father
    hops: int = 0
    seal: Seal | None = None
    repeated: int | None = None  # how often it was asked before, without an answer; only for jobs that are lost


@record
class Nack:
    """What was asked for is not below this child; its summary as it is now."""

    request: Request
    summary: Summary


@record
class Reject:
    """The root has found no room."""

    piece: PieceId
    hops: int = 0


@record
class Offer:
    """A leaf holds room: (job, when it will have ended at the latest)."""

    piece: PieceId
    jobs: tuple[tuple[int, int], ...]
    core: int
    hops: int = 0


@record
class Commit:
    piece: PieceId
    ready: tuple[int, ...]  # jobs whose inputs are there


@record
class Committed:
    piece: PieceId


@record
class Rollback:
    """Jobs of a piece are not wanted any more; none named: all."""

    piece: PieceId
    jobs: tuple[int, ...] = ()


@record
class Renew:
    piece: PieceId


@record
class Start:
    """The inputs of a job are there, and here is its code."""

    piece: PieceId
    job: int


@record
class Finished:
    piece: PieceId
    job: int
    ok: bool = True


@record
class Status:
    """A leaf still has jobs of an owner: the pieces that they are of. And what has ended and was not acknowledged."""

    pieces: tuple[PieceId, ...]
    ended: tuple[tuple[PieceId, int, bool], ...] = ()


@record
class StatusAck:
    unknown: tuple[PieceId, ...] = ()
    ended: tuple[tuple[PieceId, int, bool], ...] = ()  # it was heard that these have ended


@record
class Aborted:
    """Jobs of a piece will not be done here; none named: all that has not ended."""

    piece: PieceId
    jobs: tuple[int, ...]
    ended: tuple[tuple[int, bool], ...] | None = None  # what has: which, and whether well


# Between a peer and its own world.


@record
class Tick:
    """The time has come that the peer asked to be woken at."""

    why: str = ""


@record
class Submit:
    """A workflow: work of each job, arcs, deadline, class needed by each job."""

    workflow: int
    works: tuple[int, ...]
    arcs: tuple[tuple[int, int], ...]
    deadline: int
    needed: tuple[int, ...] = ()


@record
class Launch:
    """Start a job on a core now; it is expected to take so long."""

    piece: PieceId
    job: int
    core: int
    milliseconds: int


@record
class Kill:
    piece: PieceId
    job: int


@record
class Ended:
    piece: PieceId
    job: int
    ok: bool = True


@record
class Withdraw:
    """The owner of the computer wants it back: hand over, and leave."""

    why: str = ""


@record
class Outcome:
    """What has become of a workflow: accepted, rejected, done, failed; why, and what would be possible."""

    workflow: int
    state: str
    reason: str = ""
    hops: int = 0  # of the request that went furthest, if it is accepted
    splits: int = 0  # pieces more than sequences


class Step(Enum):
    """What an owner notes."""

    SUBMITTED = "submitted"  # works, arcs, deadline, needed
    TRIED = "tried"  # the number of an attempt
    RESERVED = "reserved"  # pieces: their names, leaves, and jobs with their ends
    ACCEPTED = "accepted"  # the number of the attempt
    ENDED = "ended"  # a job
    LOST = "lost"  # jobs
    OVER = "over"  # how, and why


@record
class Note:
    """What an owner writes down, durably, before anything is sent that comes after it."""

    workflow: int
    what: Step
    facts: tuple[Any, ...] = ()


Message = (
    Attach
    | Adopted
    | Update
    | Ack
    | Orphan
    | Enlist
    | Enlisted
    | Handover
    | Leave
    | WhoIsRoot
    | RootIs
    | ClockOff
    | Request
    | Nack
    | Reject
    | Offer
    | Commit
    | Committed
    | Rollback
    | Renew
    | Start
    | Finished
    | Status
    | StatusAck
    | Aborted
    | Tick
    | Submit
    | Launch
    | Kill
    | Ended
    | Withdraw
    | Outcome
    | Note
)
KINDS: dict[type, int] = {kind: number for number, kind in enumerate(Message.__args__, 1)}
OWN = (Tick, Submit, Launch, Kill, Ended, Withdraw, Outcome, Note)  # these never travel


@record
class Letter:
    to: int
    sender: int
    sent: int
    body: Message
    version: int = VERSION
