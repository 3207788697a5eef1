"""Queues of leaves in the peers' kernel: what policies/by_when/edf.py says of them, room asked for, and holes."""

from __future__ import annotations

from headway.policies.by_when import cells, edf
from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pools import take
from headway.sim.kernels.peer_state import State
from headway.sim.kernels.rules import machine_code

latest_starts, keeps = machine_code(edf.latest_starts), machine_code(edf.keeps)
holes, done_by = machine_code(edf.holes), machine_code(edf.done_by)
cell_of = machine_code(cells.cell_of)
MOST_QUEUED, DAY, LEAST_HOLE, POINTS = 500, 86_400_000, 30_000, cells.POINTS


@part
def _block(s: State, least: int) -> int:
    size, kind = st.FEWEST_ROWS, 0
    while size < least:
        size *= 2
        kind += 1
    at = s.g[st.G_ROW_CLASSES + kind]
    if at >= 0:
        s.g[st.G_ROW_CLASSES + kind] = s.rows[at, 0]
        s.g[st.G_ROWS_FREE] -= size
    else:
        at = s.g[st.G_ROWS]
        s.g[st.G_ROWS] += size
    return at  # type: ignore[no-any-return]


@part
def _grow(s: State, peer: int, least: int) -> None:
    """Makes room for a longer queue."""
    row = s.peer[peer]
    if row[st.ROOM] >= least:
        return
    size, kind = st.FEWEST_ROWS, 0
    while size < row[st.ROOM]:
        size *= 2
        kind += 1
    at, old = _block(s, least), row[st.QUEUE]
    for place in range(row[st.LENGTH]):
        for column in range(st.ENTRY_COLUMNS):
            s.rows[at + place, column] = s.rows[old + place, column]
    if row[st.ROOM] > 0:
        s.rows[old, 0] = s.g[st.G_ROW_CLASSES + kind]
        s.g[st.G_ROW_CLASSES + kind] = old
        s.g[st.G_ROWS_FREE] += row[st.ROOM]
    size = st.FEWEST_ROWS
    while size < least:
        size *= 2
    row[st.QUEUE], row[st.ROOM] = at, size


@part
def loaded(s: State, peer: int) -> int:
    """Copies a queue to where the policies look: due, cost, release, latest start; how long it is."""
    row = s.peer[peer]
    at, length = row[st.QUEUE], row[st.LENGTH]
    for place in range(length):
        entry = s.rows[at + place]
        s.scratch[0, place], s.scratch[1, place], s.scratch[3, place] = entry[st.DUE], entry[st.COST], entry[st.START]
        s.scratch[2, place] = 0 if entry[st.ARRIVED] else entry[st.RELEASE]
    return length  # type: ignore[no-any-return]


@part
def started(s: State, peer: int) -> None:
    """Sees to the latest starts of a queue."""
    length = loaded(s, peer)
    no = s.scratch[6]
    latest_starts(s.scratch[0], s.scratch[1], length, no, no, 0, s.scratch[3])
    row = s.peer[peer]
    for place in range(length):
        s.rows[row[st.QUEUE] + place, st.START] = s.scratch[3, place]
    row[st.LATE_DUE] = s.scratch[3, 0] + 1 if length else st.NEVER


@part
def busy(s: State, peer: int) -> int:
    row, now = s.peer[peer], s.g[st.G_NOW]
    return max(row[st.BUSY], now) if row[st.RUNNING] >= 0 else now  # type: ignore[no-any-return]


@part
def offered(s: State, peer: int, request: int) -> int:
    """Holds room for a request, if there is some: the piece, or -1."""
    row, asked, now = s.peer[peer], s.request[request], s.g[st.G_NOW]
    flow, count, length = asked[st.R_FLOW], asked[st.R_COUNT], row[st.LENGTH]
    owner, mine = s.flow[flow, st.F_OWNER], 0
    for place in range(length):
        entry = s.rows[row[st.QUEUE] + place]
        held = s.piece[entry[st.PIECE]]
        if (
            held[st.C_COMMITTED] == 0
            and held[st.C_FROM] == entry[st.JOB]
            and s.flow[held[st.C_FLOW], st.F_OWNER] == owner
        ):
            mine += 1
    if mine >= s.setting[st.S_HOLDS] or asked[st.R_START] > now + 2 * DAY or length + count > MOST_QUEUED:
        return -1
    cost = max(1, -(-s.work[flow] // row[st.POWER]))
    due, first = asked[st.R_DEADLINE], asked[st.R_FROM]
    wanted = s.scratch[7]  # when each of the jobs must have ended
    for job in range(count - 1, -1, -1):
        end = asked[st.BOUNDS + 2 * (first + job) + 1]
        if end and end < due:
            due = end
        wanted[job] = due
        due -= cost
    if due < asked[st.R_START]:
        return -1
    total, old, new = length + count, 0, 0
    for place in range(total):
        if new >= count or (old < length and s.rows[row[st.QUEUE] + old, st.DUE] <= wanted[new]):
            entry = s.rows[row[st.QUEUE] + old]
            s.scratch[0, place], s.scratch[1, place] = entry[st.DUE], entry[st.COST]
            s.scratch[2, place] = 0 if entry[st.ARRIVED] else entry[st.RELEASE]
            old += 1
        else:
            start = asked[st.BOUNDS + 2 * (first + new)]
            s.scratch[0, place], s.scratch[1, place] = wanted[new], cost
            s.scratch[2, place] = 0 if start == 0 and new else max(start, asked[st.R_START])
            new += 1
    no = s.scratch[6]
    latest_starts(s.scratch[0], s.scratch[1], total, no, no, 0, s.scratch[3])
    if not keeps(s.scratch[2], s.scratch[3], total, busy(s, peer)):
        return -1
    piece = take(s, st.PIECE_POOL, s.piece)
    held = s.piece[piece]
    held[st.C_FLOW], held[st.C_TRY], held[st.C_SEQUENCE] = flow, asked[st.R_TRY], asked[st.R_SEQUENCE]
    held[st.C_FROM], held[st.C_COUNT], held[st.C_LEAF], held[st.C_HOPS] = first, count, peer, asked[st.R_HOPS]
    held[st.C_OWNED], held[st.C_NEXT], held[st.C_HELD], held[st.C_COMMITTED], held[st.C_REFS] = 0, -1, 1, 0, 0
    held[st.C_SINCE], held[st.C_UNTIL], held[st.C_LEFT] = now, now + s.setting[st.S_HOLD], count
    held[st.C_OWNER_LEFT] = count
    s.flow[flow, st.F_REFS] += 1
    _grow(s, peer, total)
    old, new = length - 1, count - 1
    for place in range(total - 1, -1, -1):
        entry = s.rows[row[st.QUEUE] + place]
        if new < 0 or (old >= 0 and s.rows[row[st.QUEUE] + old, st.DUE] > wanted[new]):
            for column in range(st.ENTRY_COLUMNS):
                entry[column] = s.rows[row[st.QUEUE] + old, column]
            old -= 1
        else:
            start = asked[st.BOUNDS + 2 * (first + new)]
            entry[st.DUE], entry[st.COST], entry[st.PIECE], entry[st.JOB] = wanted[new], cost, piece, first + new
            held[st.DUES + new] = wanted[new]
            entry[st.RELEASE] = max(start, asked[st.R_START])
            entry[st.ARRIVED], entry[st.AFTER] = start == 0 and new > 0, new > 0
            new -= 1
        entry[st.START] = s.scratch[3, place]
    row[st.LENGTH] = total
    row[st.LATE_DUE] = s.scratch[3, 0] + 1
    row[st.HOLD_DUE] = min(row[st.HOLD_DUE], held[st.C_UNTIL])
    row[st.RESTLESS] = s.node[peer, st.CHANGED] = 1
    return piece


@part
def leaf_cells(s: State, peer: int) -> int:
    """Puts the cells of a leaf's holes in `counts` and `touched`; how many there are."""
    row, epoch, length = s.peer[peer], s.g[st.G_EPOCH], loaded(s, peer)
    points, no = s.points[epoch - s.setting[st.S_FIRST_EPOCH]], s.scratch[6]
    horizon, until = points[POINTS], busy(s, peer)
    begins, ends = s.scratch[4], s.scratch[5]
    count = holes(s.scratch[0], s.scratch[3], length, until, horizon, no, no, 0, begins, ends)
    if s.setting[st.S_EARLY] and count and ends[0] == horizon:
        begins[0] = min(begins[0], done_by(s.scratch[2], s.scratch[1], length, until))
    found = 0
    for at in range(count):
        if ends[at] - max(begins[at], points[0]) < LEAST_HOLE:
            continue
        cell = cell_of(begins[at], ends[at], row[st.POWER], points)
        if cell >= 0:
            if s.counts[cell] == 0:
                s.touched[found] = cell
                found += 1
            s.counts[cell] += 1
    return found
