"""The way of requests through the branches of the peers' kernel: engine/peering/branch.py."""

from __future__ import annotations

from headway.policies.by_when import cells
from headway.policies.by_when.routing import BEST, EARLIEST, FITS
from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_news import branch_cells, cleared, packed, renewed_views, summary_size
from headway.sim.kernels.peer_pieces import BASE, dropped, name_size
from headway.sim.kernels.peer_pools import block, forget, give, length_of, send, seven, take
from headway.sim.kernels.peer_split import FIELDS, several_holes, usable, whole
from headway.sim.kernels.peer_state import State
from headway.sim.kernels.rules import machine_code

moment, last_of, after = machine_code(cells.moment), machine_code(cells.last_of), machine_code(cells.after)
TAILS, LEVELS, POWERS, PARTS, POINTS = cells.TAILS, cells.LEVELS, cells.POWERS, cells.PARTS, cells.POINTS
BEST_FIT, EARLIEST_FIT = FITS.index(BEST), FITS.index(EARLIEST)
MOST_TURNS, MOST_HOPS, DISTRUST, MINUTE = 3, 64, 8, 60_000


@part
def closed(s: State, request: int) -> None:
    """Forgets a request that is under way no more."""
    row = s.request[request]
    at = row[st.R_ASKED]
    while at >= 0:
        after = s.asked[at, st.A_FREE]
        give(s, st.ASKED_POOL, s.asked, at)
        at = after
    dropped(s, row[st.R_FLOW])
    give(s, st.REQUEST_POOL, s.request, request)


@part
def request_size(s: State, request: int) -> int:
    """Bytes of its fields."""
    row = s.request[request]
    flow, first = row[st.R_FLOW], row[st.R_FROM]
    begin = s.cut.sequence_start[row[st.R_SEQUENCE]]
    owner = s.flow[flow, st.F_OWNER] + 1
    size = 1 + name_size(s, flow, row[st.R_TRY], s.cut.jobs[begin + first]) + 1
    work = seven(s.work[flow])
    for place in range(first, first + row[st.R_COUNT]):
        size += 1 + seven(s.cut.jobs[begin + place]) + work
        size += seven(row[st.BOUNDS + 2 * place]) + seven(row[st.BOUNDS + 2 * place + 1])
    size += seven(row[st.R_START]) + seven(row[st.R_DEADLINE]) + seven(row[st.R_EXPIRES])
    return size + 1 + 2 * seven(owner) + 4  # low; needed, level, down and hops take a byte each


@part
def _slot_of(s: State, branch: int, peer: int) -> int:
    """The place of the child at a peer; -1: there is none."""
    first = s.node[branch, st.FIRST_CHILD]
    for child in range(s.node[branch, st.CHILDREN]):
        if s.node[first + child, st.HOST] == peer:
            return child
    return -1


@part
def _noted(s: State, branch: int, request: int, back: int, turns: int) -> int:
    at = take(s, st.ASKED_POOL, s.asked)
    row = s.asked[at]
    row[st.A_FREE], row[st.A_BRANCH], row[st.A_BACK], row[st.A_TURNS], row[st.A_TRIED] = (
        s.request[request, st.R_ASKED],
        branch,
        back,
        turns,
        0,
    )
    s.request[request, st.R_ASKED] = at
    return at


@part
def routed(s: State, branch: int, request: int, came_from: int) -> None:
    """Where a request goes: to a hole, in pieces to several, up, or back."""
    row, node, now = s.request[request], s.node[branch], s.g[st.G_NOW]
    if now > row[st.R_EXPIRES] or row[st.R_HOPS] > MOST_HOPS:
        closed(s, request)
        return
    row[st.R_HOPS] += 1
    at = row[st.R_ASKED]
    while at >= 0 and s.asked[at, st.A_BRANCH] != branch:
        at = s.asked[at, st.A_FREE]
    if at < 0:
        at = _noted(s, branch, request, came_from if row[st.R_DOWN] else -1, 0)
        if not row[st.R_DOWN] and node[st.LEVEL] > 1:
            slot = _slot_of(s, branch, came_from)
            if slot >= 0:
                s.asked[at, st.A_TRIED] |= 1 << slot
    else:
        slot = _slot_of(s, branch, came_from)
        if slot >= 0:
            s.asked[at, st.A_TRIED] |= 1 << slot
    asked = s.asked[at]
    if asked[st.A_TURNS] < MOST_TURNS and _found(s, branch, request, at):
        asked[st.A_TURNS] += 1
        return
    if asked[st.A_BACK] >= 0:
        found = branch_cells(s, branch)
        node[st.CHANGED] = 0
        summary = packed(s, found, 0)
        cleared(s, found)
        send(
            s,
            node[st.HOST],
            asked[st.A_BACK],
            st.NACK,
            request,
            summary,
            BASE + row[st.R_SIZE] + summary_size(s, summary),
        )
    elif node[st.FATHER] < 0:
        first = s.cut.jobs[s.cut.sequence_start[row[st.R_SEQUENCE]] + row[st.R_FROM]]
        size = BASE + name_size(s, row[st.R_FLOW], row[st.R_TRY], first) + seven(row[st.R_HOPS])
        send(s, node[st.HOST], s.flow[row[st.R_FLOW], st.F_OWNER], st.REJECT, request, 0, size)
    else:
        row[st.R_DOWN] = 0
        father = node[st.FATHER]
        send(s, node[st.HOST], s.node[father, st.HOST], st.REQUEST, request, father, BASE - 1 + row[st.R_SIZE])


@part
def _near(s: State, branch: int, owner: int) -> int:
    """The place of the child that an owner belongs to by its address."""
    first, found = s.node[branch, st.FIRST_CHILD], 0
    for child in range(1, s.node[branch, st.CHILDREN]):
        if s.node[first + child, st.FIRST_LEAF] <= owner:
            found = child
    return found


@part
def _preference(s: State, cell: int, size: int, work: int, start: int) -> int:
    """What the fit prefers less is more."""
    fit = s.setting[st.S_FIT]
    if fit == BEST_FIT:
        return size
    if fit != EARLIEST_FIT:
        return -size
    points = s.points[s.g[st.G_EPOCH] - s.setting[st.S_FIRST_EPOCH]]
    if cell >= TAILS:
        begin = moment((cell - TAILS) // POWERS, points)
        return max(begin, start) + work // s.powers[(cell - TAILS) % POWERS]  # type: ignore[no-any-return]
    last = last_of(cell // LEVELS)
    low, high = points[last - span_of(cell)], points[last]
    return max(low, start) + int((high - low) * (work / size))  # type: ignore[no-any-return]


@part
def span_of(cell: int) -> int:
    if cell >= TAILS:
        return POINTS - (cell - TAILS) // POWERS // PARTS
    last = last_of(cell // LEVELS)
    return cell // LEVELS - last * (last - 1) // 2 + 1  # type: ignore[no-any-return]


@part
def _found(s: State, branch: int, request: int, at: int) -> bool:
    """Sends a request to one hole, or its pieces to several, if there are any."""
    row, node, now = s.request[request], s.node, s.g[st.G_NOW]
    renewed_views(s, branch)
    work, tried = row[st.R_COUNT] * s.work[row[st.R_FLOW]], s.asked[at, st.A_TRIED]
    start, deadline = max(row[st.R_START], now), row[st.R_DEADLINE]
    near = _near(s, branch, s.flow[row[st.R_FLOW], st.F_OWNER])
    points = s.points[s.g[st.G_EPOCH] - s.setting[st.S_FIRST_EPOCH]]
    found_child, found_cell, least, least_span, least_far = -1, -1, 0, 0, 0
    for child in range(node[branch, st.CHILDREN]):
        its = node[node[branch, st.FIRST_CHILD] + child]
        view = its[st.VIEW]
        if (tried >> child) & 1 or view < 0 or its[st.LEFT_OUT] > now:
            continue
        far = abs(child - near)
        for place in range(view + st.HEADER, view + st.HEADER + length_of(s, view)):
            cell = s.cells[place] >> 32
            if usable(cell, start, deadline, points, s.powers) < work:
                continue
            size = whole(cell, points, s.powers)
            rank = _preference(s, cell, size, work, start)
            if found_child >= 0:
                if rank > least:
                    continue
                if rank == least:
                    span = span_of(cell)
                    if span > least_span:
                        continue
                    if span == least_span:
                        if far > least_far:
                            continue
                        if far == least_far and (child > found_child or (child == found_child and cell > found_cell)):
                            continue
            found_child, found_cell, least, least_span, least_far = child, cell, rank, span_of(cell), far
    if found_child >= 0:
        _sent(s, branch, request, found_child, found_cell)
        return True
    if not s.setting[st.S_SPLIT] or row[st.R_COUNT] < 2:
        return False
    pieces = several_holes(s, branch, request, start, tried)
    if pieces < 0:
        return False
    _split(s, branch, request, at, pieces)
    return True


@part
def _split(s: State, branch: int, request: int, at: int, pieces: int) -> None:
    """Sends each piece of a request to its hole."""
    from_place, split = s.request[request, st.R_FROM], s.split
    back = s.asked[at, st.A_BACK]
    for number in range(split[pieces]):
        one = pieces + 1 + number * FIELDS
        part = request
        if number:
            part = take(s, st.REQUEST_POOL, s.request)
            row, whole_row = s.request[part], s.request[request]
            for column in range(1, s.request.shape[1]):
                row[column] = whole_row[column]
            row[st.R_FROM], row[st.R_START], row[st.R_ASKED] = from_place + split[one], split[one + 2], -1
            s.flow[row[st.R_FLOW], st.F_REFS] += 1
            _noted(s, branch, part, back, 1)
        row = s.request[part]
        row[st.R_COUNT], row[st.R_DEADLINE] = split[one + 1] - split[one], split[one + 3]
        row[st.R_SIZE] = request_size(s, part)
        _sent(s, branch, part, split[one + 4], split[one + 5])


@part
def _counted(s: State, node: int, cell: int, more: int) -> None:
    """Counts one hole more, or one less, among those that a child has told of."""
    view = s.node[node, st.VIEW]
    length = length_of(s, view)
    first = view + st.HEADER
    for at in range(first, first + length):
        if s.cells[at] >> 32 == cell:
            s.cells[at] += more
            if s.cells[at] & 0xFFFFFFFF == 0:
                s.cells[at] = s.cells[first + length - 1]
                s.cells[view] -= 1
            return
    if more < 0:
        return
    if length + st.HEADER == st.FEWEST_WORDS << (s.cells[view] >> 32):
        larger = block(s, length + 1)
        s.cells[larger + 1] = s.cells[view + 1]
        for at in range(length):
            s.cells[larger + st.HEADER + at] = s.cells[first + at]
        forget(s, view)
        s.node[node, st.VIEW], first = larger, larger + st.HEADER
    else:
        s.cells[view] += 1
    s.cells[first + length] = (cell << 32) | 1


@part
def _sent(s: State, branch: int, request: int, child: int, cell: int) -> None:
    """Sends a request down. Until the child tells of it again, that hole is gone, or begins later if it has no end."""
    node = s.node[branch, st.FIRST_CHILD] + child
    row, asked = s.node[node], s.request[request]
    row[st.ROUTED] += 1
    points = s.points[s.g[st.G_EPOCH] - s.setting[st.S_FIRST_EPOCH]]
    work = asked[st.R_COUNT] * s.work[asked[st.R_FLOW]]
    _counted(s, node, cell, -1)
    left = after(cell, work, max(asked[st.R_START], s.g[st.G_NOW]), points, s.powers)
    if left >= 0:
        _counted(s, node, left, 1)
    s.request[request, st.R_DOWN] = 1
    size = BASE - 1 + s.request[request, st.R_SIZE]
    send(s, s.node[branch, st.HOST], row[st.HOST], st.REQUEST, request, node, size)


@part
def refused(s: State, branch: int, request: int, summary: int, came_from: int) -> None:
    """A child had not what it told of."""
    now, slot = s.g[st.G_NOW], _slot_of(s, branch, came_from)
    if slot < 0:
        forget(s, summary)
        closed(s, request)
        return
    first = s.node[branch, st.FIRST_CHILD]
    if now >= s.node[branch, st.FORGET]:
        s.node[branch, st.FORGET] = now + MINUTE
        for child in range(first, first + s.node[branch, st.CHILDREN]):
            s.node[child, st.ROUTED] //= 2
            s.node[child, st.REFUSED] //= 2
    row = s.node[first + slot]
    row[st.REFUSED] += 1
    if row[st.REFUSED] >= DISTRUST and 2 * row[st.REFUSED] > row[st.ROUTED]:
        row[st.LEFT_OUT] = now + MINUTE
    forget(s, row[st.VIEW])
    row[st.VIEW], s.node[branch, st.CHANGED] = summary, 1
    s.request[request, st.R_DOWN] = 0
    routed(s, branch, request, came_from)
