"""Pieces of workflows in the peers' kernel: their names, and who still refers to them."""

from __future__ import annotations

from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pools import give, send, seven
from headway.sim.kernels.peer_state import State

BASE = 92  # bytes of a message without its fields


@part
def name_size(s: State, flow: int, tried: int, job: int) -> int:
    """Bytes of the name of a piece."""
    row = s.flow[flow]
    return 1 + seven(row[st.F_OWNER] + 1) + seven(row[st.F_NUMBER]) + seven(tried) + seven(job)


@part
def job_of(s: State, piece: int, position: int) -> int:
    """The job at a position of the sequence that a piece is of."""
    return s.cut.jobs[s.cut.sequence_start[s.piece[piece, st.C_SEQUENCE]] + position]  # type: ignore[no-any-return]


@part
def piece_size(s: State, piece: int) -> int:
    row = s.piece[piece]
    return name_size(s, row[st.C_FLOW], row[st.C_TRY], job_of(s, piece, row[st.C_FROM]))


@part
def tell(s: State, sender: int, receiver: int, kind: int, piece: int, other: int, size: int) -> None:
    """A message about a piece, which is remembered until it has come."""
    s.piece[piece, st.C_REFS] += 1
    send(s, sender, receiver, kind, piece, other, size)


@part
def dropped(s: State, flow: int) -> None:
    """One who refers to a workflow less."""
    s.flow[flow, st.F_REFS] -= 1
    if s.flow[flow, st.F_REFS] == 0 and s.flow[flow, st.F_ALIVE] == 0:
        give(s, st.FLOW_POOL, s.flow, flow)


@part
def unused(s: State, piece: int) -> None:
    """Forgets a piece that nobody holds, and no message is about."""
    row = s.piece[piece]
    if row[st.C_HELD] == 0 and row[st.C_OWNED] == 0 and row[st.C_REFS] == 0:
        dropped(s, row[st.C_FLOW])
        give(s, st.PIECE_POOL, s.piece, piece)


@part
def owner_of(s: State, piece: int) -> int:
    return s.flow[s.piece[piece, st.C_FLOW], st.F_OWNER]  # type: ignore[no-any-return]


@part
def alone(s: State, piece: int, position: int) -> bool:
    """Whether all that a job waits for is in its own piece."""
    held, cut = s.piece[piece], s.cut
    job = job_of(s, piece, position)
    for at in range(cut.parent_start[job], cut.parent_start[job + 1]):
        parent = cut.parents[at]
        place = cut.position[parent]
        is_here = held[st.C_FROM] <= place < held[st.C_FROM] + held[st.C_COUNT]
        if cut.sequence_of[parent] != held[st.C_SEQUENCE] or not is_here:
            return False
    return True
