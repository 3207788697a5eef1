"""Leaves of the peers' kernel: committed to, running jobs, giving up what is too late: engine/peering/leaf.py."""

from __future__ import annotations

from headway.policies.by_when import edf
from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pieces import BASE, alone, job_of, owner_of, piece_size, tell, unused
from headway.sim.kernels.peer_pools import push, seven
from headway.sim.kernels.peer_queue import loaded, started
from headway.sim.kernels.peer_state import State
from headway.sim.kernels.rules import machine_code

next_job = machine_code(edf.next_job)


@part
def removed(s: State, peer: int, piece: int) -> None:
    """Takes a piece out of its queue; a job of it that runs is ended."""
    row, held = s.peer[peer], s.piece[piece]
    kept = 0
    for place in range(row[st.LENGTH]):
        if s.rows[row[st.QUEUE] + place, st.PIECE] != piece:
            if kept < place:
                for column in range(st.ENTRY_COLUMNS):
                    s.rows[row[st.QUEUE] + kept, column] = s.rows[row[st.QUEUE] + place, column]
            kept += 1
    row[st.LENGTH] = kept
    if row[st.RUNNING] == piece:
        row[st.RUNNING] = -1
        row[st.RUNS] += 1
    row[st.RESTLESS] = s.node[peer, st.CHANGED] = 1
    started(s, peer)
    held[st.C_HELD] = 0
    unused(s, piece)


@part
def committed(s: State, peer: int, piece: int) -> None:
    """Its owner has committed to a piece: jobs that need nothing from elsewhere have it."""
    held, row = s.piece[piece], s.peer[peer]
    for place in range(row[st.LENGTH]):
        entry = s.rows[row[st.QUEUE] + place]
        if entry[st.PIECE] == piece and alone(s, piece, entry[st.JOB]):
            entry[st.ARRIVED] = 1
    held[st.C_COMMITTED], held[st.C_SINCE], row[st.RESTLESS] = 1, s.g[st.G_NOW], 1
    tell(s, peer, owner_of(s, piece), st.COMMITTED, piece, 0, BASE + piece_size(s, piece))


@part
def arrived(s: State, peer: int, piece: int, position: int) -> None:
    """The inputs of a job are there."""
    row = s.peer[peer]
    for place in range(row[st.LENGTH]):
        entry = s.rows[row[st.QUEUE] + place]
        if entry[st.PIECE] == piece and entry[st.JOB] == position:
            entry[st.ARRIVED] = row[st.RESTLESS] = 1


@part
def ended(s: State, peer: int) -> None:
    """A job that ran has ended."""
    row = s.peer[peer]
    piece, position = row[st.RUNNING], row[st.RUNNING_JOB]
    held = s.piece[piece]
    row[st.RUNNING] = -1
    held[st.C_LEFT] -= 1
    if held[st.C_LEFT] <= 0:
        held[st.C_HELD] = 0
        s.g[st.G_STATUSES] += (s.g[st.G_NOW] - held[st.C_SINCE]) // s.setting[st.S_STATUS]
    for place in range(row[st.LENGTH]):
        entry = s.rows[row[st.QUEUE] + place]
        if entry[st.PIECE] == piece and entry[st.JOB] == position + 1:
            entry[st.AFTER] = 0
    row[st.RESTLESS] = s.node[peer, st.CHANGED] = 1
    size = BASE + piece_size(s, piece) + seven(job_of(s, piece, position)) + 1
    tell(s, peer, owner_of(s, piece), st.FINISHED, piece, position, size)


@part
def leaf_tick(s: State, peer: int) -> None:
    """Gives up what is too late, and starts what may run."""
    row, now = s.peer[peer], s.g[st.G_NOW]
    if row[st.HOLD_DUE] <= now:
        row[st.HOLD_DUE] = st.NEVER
        place = 0
        while place < row[st.LENGTH]:
            piece = s.rows[row[st.QUEUE] + place, st.PIECE]
            held = s.piece[piece]
            if held[st.C_COMMITTED] == 0 and held[st.C_UNTIL] <= now:
                removed(s, peer, piece)
                place = 0
                row[st.HOLD_DUE] = st.NEVER
                continue
            if held[st.C_COMMITTED] == 0:
                row[st.HOLD_DUE] = min(row[st.HOLD_DUE], held[st.C_UNTIL])
            place += 1
    if row[st.LATE_DUE] <= now:
        _late(s, peer)
    if row[st.RESTLESS]:
        row[st.RESTLESS] = 0
        if row[st.RUNNING] < 0 and row[st.LENGTH]:
            _launched(s, peer)


@part
def _late(s: State, peer: int) -> None:
    """Tells owners of what will not be done here."""
    row, now, found = s.peer[peer], s.g[st.G_NOW], 0
    for place in range(row[st.LENGTH]):
        entry = s.rows[row[st.QUEUE] + place]
        if entry[st.START] < now:
            s.scratch[4, found] = entry[st.PIECE]
            found += 1
    for at in range(found):
        piece = s.scratch[4, at]
        is_new = True
        for before in range(at):
            is_new = is_new and s.scratch[4, before] != piece
        if is_new:
            held = s.piece[piece]
            size = BASE + piece_size(s, piece) + 1
            for place in range(row[st.LENGTH]):
                if s.rows[row[st.QUEUE] + place, st.PIECE] == piece:
                    size += seven(job_of(s, piece, s.rows[row[st.QUEUE] + place, st.JOB]))
            if row[st.RUNNING] == piece:
                size += seven(job_of(s, piece, row[st.RUNNING_JOB]))
            held[st.C_REFS] += 1  # removed would forget it
            removed(s, peer, piece)
            held[st.C_REFS] -= 1
            tell(s, peer, owner_of(s, piece), st.ABORTED, piece, 0, size)


@part
def _launched(s: State, peer: int) -> None:
    """Starts the job that the policy names, if any."""
    row, now, length = s.peer[peer], s.g[st.G_NOW], loaded(s, peer)
    ready, no = s.scratch[4], s.scratch[6]
    for place in range(length):
        entry = s.rows[row[st.QUEUE] + place]
        ready[place] = entry[st.ARRIVED] and not entry[st.AFTER] and s.piece[entry[st.PIECE], st.C_COMMITTED]
    chosen = next_job(ready, s.scratch[1], s.scratch[3], length, now, no, no, 0)
    if chosen < 0:
        return
    entry = s.rows[row[st.QUEUE] + chosen]
    row[st.RUNNING], row[st.RUNNING_JOB], row[st.BUSY] = entry[st.PIECE], entry[st.JOB], now + entry[st.COST]
    row[st.RUNS] += 1
    row[st.WORKED] += entry[st.COST]
    if len(s.placed):
        job = job_of(s, entry[st.PIECE], entry[st.JOB])
        number = s.flow[s.piece[entry[st.PIECE], st.C_FLOW], st.F_NUMBER] - 1
        at = number * (len(s.cut.sequence_of)) + job
        s.placed[at, 0], s.placed[at, 1] = peer, now
    for place in range(chosen, length - 1):
        for column in range(st.ENTRY_COLUMNS):
            s.rows[row[st.QUEUE] + place, column] = s.rows[row[st.QUEUE] + place + 1, column]
    row[st.LENGTH] = length - 1
    started(s, peer)
    s.node[peer, st.CHANGED] = 1
    until_end(s, peer)


@part
def until_end(s: State, peer: int) -> None:
    """Plans the end of what runs."""
    row, now = s.peer[peer], s.g[st.G_NOW]
    when = min(row[st.BUSY], now + s.setting[st.S_MASK])
    push(s, when, st.END, peer, row[st.RUNS], 0, st.ENDS << st.SENDER_BITS, 0, 0)


@part
def renewed(s: State, piece: int) -> None:
    held = s.piece[piece]
    held[st.C_UNTIL] = min(s.g[st.G_NOW] + s.setting[st.S_HOLD], held[st.C_SINCE] + s.setting[st.S_LONGEST])
