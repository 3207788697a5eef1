"""What peers say to each other: a closed union, each kind with a number, under one version.

A letter's `sender` is what the transport has verified, not what somebody wrote into it. Times are milliseconds.
"""

from __future__ import annotations

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
from headway.model.record import fields, record
from headway.policies.by_when.summary import Summary

VERSION = 1
PieceId = tuple[int, int, int, int]  # owner, workflow, attempt, first job
HEADERS = 90  # bytes of TCP/IP and of a frame


@record
class Request:
    """Room is wanted for some jobs of a sequence: (job, work, start, end), 0 where only neighbours bound it."""

    piece: PieceId
    jobs: tuple[tuple[int, int, int, int], ...]
    start: int
    deadline: int
    expires: int
    low: Key  # of the owner's leaf
    needed: int = 0  # class of memory and disk
    level: int = 1  # of the node that it is for: a peer may have two
    down: bool = False  # from a father
    hops: int = 0


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
    """A leaf still has jobs of an owner: the pieces that they are of."""

    pieces: tuple[PieceId, ...]


@record
class StatusAck:
    unknown: tuple[PieceId, ...] = ()


@record
class Aborted:
    """Jobs of a piece will not be done here."""

    piece: PieceId
    jobs: tuple[int, ...]


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
)
KINDS: dict[type, int] = {kind: number for number, kind in enumerate(Message.__args__, 1)}
OWN = (Tick, Submit, Launch, Kill, Ended, Withdraw, Outcome)  # these never travel


@record
class Letter:
    to: int
    sender: int
    sent: int
    body: Message
    version: int = VERSION


def size(body: Message) -> int:
    """About how many bytes a message takes: integers of seven bits a byte, and headers."""
    return HEADERS + 1 + _size(body)


def _size(value: object) -> int:
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return max(1, (value.bit_length() + 6) // 7)
    if isinstance(value, str):
        return 1 + len(value.encode())
    if isinstance(value, Summary):
        return 4 + sum(_size(count) for count in value.counts.values()) + 2 * len(value.counts)
    if isinstance(value, tuple):
        return 1 + sum(map(_size, value))
    return 1 + sum(_size(getattr(value, name)) for name in fields(value))
