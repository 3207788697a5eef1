"""A grid of peers, event by event, as fast as it goes. sim/overlay.py says the same with the code that real peers run.

What happens at the same peer in the same millisecond happens in the order in which it does there: a job ends, messages
come by sender and number, a workflow is submitted, the peer wakes. What differs from there: peers do not greet each
other and leaves do not tell owners that they still have their jobs. That is only counted. See docs/decisions/0028.
"""

from __future__ import annotations

from headway.sim.kernels import compiled, part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_branch import closed, refused, routed
from headway.sim.kernels.peer_leaf import arrived, committed, ended, leaf_tick, removed, renewed, until_end
from headway.sim.kernels.peer_news import cleared, news, packed, summary_size, updated
from headway.sim.kernels.peer_owner import (
    aborted_came,
    committed_came,
    finished_came,
    offer_came,
    owner_tick,
    refused_came,
    submitted,
)
from headway.sim.kernels.peer_pieces import BASE, job_of, owner_of, piece_size, tell, unused
from headway.sim.kernels.peer_plant import arrival
from headway.sim.kernels.peer_pools import arm, counted, give, room_of, send, seven
from headway.sim.kernels.peer_queue import leaf_cells, offered
from headway.sim.kernels.peer_state import State

SPARE_CELLS, SPARE_ROWS = 1 << 17, 1 << 12


@part
def _after(s: State, peer: int) -> None:
    """What follows of itself: what is due, jobs that may start, and news for fathers."""
    row, now = s.peer[peer], s.g[st.G_NOW]
    if row[st.RESTLESS] or row[st.HOLD_DUE] <= now or row[st.LATE_DUE] <= now:
        leaf_tick(s, peer)
    if row[st.OWNER_DUE] <= now:
        owner_tick(s, peer)
    news(s, peer)
    if row[st.BRANCH] >= 0:
        news(s, row[st.BRANCH])
    due = min(row[st.HOLD_DUE], row[st.LATE_DUE], row[st.OWNER_DUE])
    if due < 2**31 - 1:
        arm(s, peer, due)


@part
def _leaf_asked(s: State, peer: int, request: int) -> None:
    """A leaf is asked for room."""
    row = s.request[request]
    if s.g[st.G_NOW] > row[st.R_EXPIRES]:
        closed(s, request)
        return
    piece = offered(s, peer, request)
    if piece < 0:
        found = leaf_cells(s, peer)
        summary = packed(s, found, 0)
        cleared(s, found)
        size = BASE + row[st.R_SIZE] + summary_size(s, summary)
        send(s, peer, s.peer[peer, st.FATHER_HOST], st.NACK, request, summary, size)
        return
    held = s.piece[piece]
    size = BASE + piece_size(s, piece) + 2 + seven(held[st.C_HOPS])
    for job in range(held[st.C_COUNT]):
        size += 1 + seven(job_of(s, piece, held[st.C_FROM] + job)) + seven(held[st.DUES + job])
    tell(s, peer, owner_of(s, piece), st.OFFER, piece, 0, size)
    closed(s, request)


@part
def _about_piece(s: State, peer: int, kind: int, piece: int, other: int) -> None:
    """A message about a piece, for its owner or for its leaf."""
    held = s.piece[piece]
    if kind == st.OFFER:
        offer_came(s, peer, piece)
    elif kind == st.COMMITTED:
        committed_came(s, peer, piece)
    elif kind == st.FINISHED:
        finished_came(s, peer, piece, other)
    elif kind == st.ABORTED:
        aborted_came(s, piece)
    elif not held[st.C_HELD]:
        if kind != st.ROLLBACK:
            tell(s, peer, owner_of(s, piece), st.ABORTED, piece, 0, BASE + piece_size(s, piece) + 1)
    elif kind == st.COMMIT:
        committed(s, peer, piece)
    elif kind == st.START_JOB:
        arrived(s, peer, piece, other)
    elif kind == st.RENEW:
        renewed(s, piece)
    else:
        removed(s, peer, piece)
    held[st.C_REFS] -= 1
    unused(s, piece)


@part
def _handled(s: State, peer: int, kind: int, one: int, other: int, sender: int) -> None:
    """What follows from an event."""
    counted(s, peer)
    row = s.peer[peer]
    row[st.EVENTS] += 1
    row[st.ALL_EVENTS] += 1
    row[st.PEAK_EVENTS] = max(row[st.PEAK_EVENTS], row[st.EVENTS])
    s.g[st.G_ALL_EVENTS] += 1
    if kind == st.UPDATE:
        updated(s, one, other)
    elif kind == st.REQUEST:
        if other < s.setting[st.S_PEERS]:
            _leaf_asked(s, peer, one)
        else:
            routed(s, other, one, sender)
    elif kind == st.NACK:
        refused(s, row[st.BRANCH], one, other, sender)
    elif kind == st.REJECT:
        refused_came(s, s.request[one, st.R_FLOW], s.request[one, st.R_TRY])
        closed(s, one)
    elif kind == st.END:
        ended(s, peer)
    elif kind == st.SUBMIT:
        submitted(s, peer, one)
        arrival(s)
    else:
        _about_piece(s, peer, kind, one, other)
    _after(s, peer)


@part
def _sorted(s: State, at: int) -> None:
    """Puts the events of a moment in order, where that matters: where a peer has several."""
    event, count, again, now = s.wheel[at], 0, False, s.g[st.G_NOW]
    while event >= 0:
        row = s.event[event]
        peer = s.peer[row[st.E_TO]]
        again = again or peer[st.STAMP] == now
        peer[st.STAMP] = now
        s.order[0, count], s.order[1, count] = (row[st.E_RANK] << 32) | row[st.E_SERIAL], event
        count += 1
        event = row[st.E_FREE]
    if not again:
        return
    keys, events, gap = s.order[0], s.order[1], 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap:
        for place in range(gap, count):
            key, event, before = keys[place], events[place], place
            while before >= gap and keys[before - gap] > key:
                keys[before], events[before] = keys[before - gap], events[before - gap]
                before -= gap
            keys[before], events[before] = key, event
        gap //= 3
    s.wheel[at] = events[0]
    for place in range(count):
        s.event[events[place], st.E_FREE] = events[place + 1] if place + 1 < count else -1


@part
def _is_short(s: State) -> bool:
    """Whether a pool could become full with the next event."""
    need = 4 * (s.setting[st.S_JOBS] + s.setting[st.S_SEQUENCES]) + 64
    return (
        room_of(s, st.EVENT_POOL, len(s.event)) < need
        or room_of(s, st.REQUEST_POOL, len(s.request)) < need
        or room_of(s, st.PIECE_POOL, len(s.piece)) < need
        or room_of(s, st.ASKED_POOL, len(s.asked)) < need
        or room_of(s, st.FLOW_POOL, len(s.flow)) < 8
        or room_of(s, st.PLAN_POOL, len(s.plan)) < 8
        or len(s.cells) - s.g[st.G_CELLS] < SPARE_CELLS
        or len(s.rows) - s.g[st.G_ROWS] < SPARE_ROWS
    )


@compiled
def run(s: State, until: int) -> int:
    """Lets time go by. 0: it is over; 1: a pool is nearly full, and it goes on once there is more; 2: an error."""
    g, peers = s.g, s.setting[st.S_PEERS]
    while True:
        if _is_short(s):
            return 1
        if g[st.G_ERROR]:
            return 2
        if g[st.G_LOCAL_FROM] < g[st.G_LOCAL_TO]:
            letter = s.local[g[st.G_LOCAL_FROM] % st.LOCAL]
            g[st.G_LOCAL_FROM] += 1
            kind, to, one, other = letter[0], letter[1], letter[2], letter[3]
            _handled(s, to, kind, one, other, to)
            continue
        if g[st.G_PEER] >= 0:  # all wake at the beginning of an epoch
            peer = g[st.G_PEER]
            g[st.G_PEER] = peer + 1 if peer + 1 < peers else -1
            _after(s, peer)
            continue
        at = g[st.G_NOW] & s.setting[st.S_MASK]
        if s.wheel[at] >= 0:
            if not g[st.G_SORTED]:
                _sorted(s, at)
                g[st.G_SORTED] = 1
            event = s.wheel[at]
            row = s.event[event]
            s.wheel[at] = row[st.E_FREE]
            kind, to, one, other, size = row[st.E_KIND], row[st.E_TO], row[st.E_ONE], row[st.E_OTHER], row[st.E_SIZE]
            sender = (row[st.E_RANK] & ((1 << st.SENDER_BITS) - 1)) - 1
            give(s, st.EVENT_POOL, s.event, event)
            if kind < st.MESSAGES:
                counted(s, to)
                its = s.peer[to]
                its[st.INTO] += size
                its[st.ALL_IN] += size
                its[st.PEAK_IN] = max(its[st.PEAK_IN], its[st.INTO])
                _handled(s, to, kind, one, other, sender)
            elif kind == st.SUBMIT:
                _handled(s, to, kind, one, other, to)
            elif kind == st.END:
                its = s.peer[to]
                if its[st.RUNNING] >= 0 and its[st.RUNS] == one:
                    if g[st.G_NOW] < its[st.BUSY]:
                        until_end(s, to)
                    else:
                        _handled(s, to, kind, one, other, to)
            else:
                _after(s, to)
            continue
        if g[st.G_PAST]:
            g[st.G_PAST], g[st.G_PEER] = 0, 0
            continue
        if g[st.G_NOW] >= until:
            return 0
        g[st.G_NOW] += 1
        g[st.G_SORTED] = 0
        if g[st.G_NOW] % st.EPOCH == 0:
            g[st.G_EPOCH], g[st.G_PAST] = g[st.G_NOW] // st.EPOCH, 1
