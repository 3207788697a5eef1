"""Signatures of requests. Branches pass requests on and split them; nobody but its owner can ask in an owner's name.

What signs and what verifies is handed in: this module touches no key.
"""

from __future__ import annotations

from collections.abc import Callable

from headway.engine.peering.messages import VERSION, PieceId, Request, Rows, Seal
from headway.engine.peering.tree_messages import Key
from headway.model.record import record, replace


@record
class Signing:
    """Signs in the name of this peer, and says whether a signature is that of another: peer, what was signed, seal."""

    sign: Callable[[bytes], bytes]
    verify: Callable[[int, bytes, bytes], bool]


def content(
    piece: PieceId, jobs: Rows, start: int, deadline: int, expires: int, low: Key, needed: int
) -> bytes:  # fmt: skip
    """What is signed: all that an owner says in a request, and nothing that others add on its way."""
    return repr((VERSION, piece[:3], jobs, start, deadline, expires, low, needed)).encode()


def sealed(request: Request, sign: Callable[[bytes], bytes]) -> Request:
    """The same request with its owner's signature."""
    told = content(
        request.piece, request.jobs, request.start, request.deadline, request.expires, request.low, request.needed
    )  # fmt: skip
    return replace(request, seal=Seal(request.jobs, request.start, request.deadline, sign(told)))


def problem(request: Request, verify: Callable[[int, bytes, bytes], bool]) -> str:
    """Why a request is not its owner's, or not a piece of what the owner has signed; empty if it is."""
    seal = request.seal
    if seal is None:
        return "unsigned"
    told = content(
        request.piece, seal.jobs, seal.start, seal.deadline, request.expires, request.low, request.needed
    )  # fmt: skip
    if not verify(request.piece[0], told, seal.signature):
        return "forged"
    if not request.jobs or request.piece[3] != request.jobs[0][0]:
        return "forged"
    if request.jobs[0] not in seal.jobs or request.start < seal.start or request.deadline > seal.deadline:
        return "forged"
    first = seal.jobs.index(request.jobs[0])
    return "" if seal.jobs[first : first + len(request.jobs)] == request.jobs else "forged"
