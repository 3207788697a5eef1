"""A sequence in pieces, in the peers' kernel: policies/by_when/routing.py's several_holes, on arrays."""

from __future__ import annotations

from headway.policies.by_when import cells
from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pools import length_of
from headway.sim.kernels.peer_state import State
from headway.sim.kernels.rules import machine_code

usable, whole = machine_code(cells.usable), machine_code(cells.whole)
POINTS = cells.POINTS
FIELDS = 6  # of a piece: first, end, start, deadline, child, cell
ROUNDS = 2  # rows of best pieces: of this round, and of the next


@part
def best_at(s: State, which: int, end: int) -> int:
    """Where the pieces for the first jobs stand: how many (-1: it does not go), then each."""
    longest = s.setting[st.S_LONGEST_SEQUENCE]
    return (which * (longest + 1) + end) * (longest * FIELDS + 1)  # type: ignore[no-any-return]


@part
def _hole(
    s: State, branch: int, tried: int, so_far: int, work: int, begin: int, limit: int, chosen: int
) -> bool:  # fmt: skip
    """Writes the child and the cell of the smallest hole for some work that no piece so far has taken."""
    node, now = s.node, s.g[st.G_NOW]
    points = s.points[s.g[st.G_EPOCH] - s.setting[st.S_FIRST_EPOCH]]
    least, found_child, found_cell = 0, -1, -1
    for child in range(node[branch, st.CHILDREN]):
        row = node[node[branch, st.FIRST_CHILD] + child]
        view = row[st.VIEW]
        if (tried >> child) & 1 or view < 0 or row[st.LEFT_OUT] > now:
            continue
        for at in range(view + st.HEADER, view + st.HEADER + length_of(s, view)):
            cell, count = s.cells[at] >> 32, s.cells[at] & 0xFFFFFFFF
            for one in range(s.split[so_far]):
                piece = so_far + 1 + one * FIELDS
                count -= s.split[piece + 4] == child and s.split[piece + 5] == cell
            if count <= 0 or usable(cell, begin, limit, points, s.powers) < work:
                continue
            size = whole(cell, points, s.powers)
            better = found_child < 0 or size < least
            if not better and size == least:
                better = child == found_child and cell < found_cell
            if better:
                least, found_child, found_cell = size, child, cell
    if found_child < 0:
        return False
    s.split[chosen + 4], s.split[chosen + 5] = found_child, found_cell
    return True


@part
def _piece(
    s: State, branch: int, request: int, tried: int, so_far: int, first: int, end: int, begin: int, start: int, new: int
) -> bool:
    """Writes a piece of so many jobs that ends as early as it can."""
    asked, split = s.request[request], s.split
    deadline, size = asked[st.R_DEADLINE], asked[st.R_COUNT]
    work = (end - first) * s.work[asked[st.R_FLOW]]
    split[new], split[new + 1], split[new + 2] = first, end, begin
    if end == size:
        split[new + 3] = deadline
        return _hole(s, branch, tried, so_far, work, begin, deadline, new)
    limit, is_bound = deadline, False
    for job in range(first, end):
        bound = asked[st.BOUNDS + 2 * (asked[st.R_FROM] + job) + 1]
        if bound and (not is_bound or bound < limit):
            limit, is_bound = bound, True
    points = s.points[s.g[st.G_EPOCH] - s.setting[st.S_FIRST_EPOCH]]
    for at in range(1, POINTS + 1):
        point = points[at]
        if start < point < deadline and begin < point <= limit:
            split[new + 3] = point
            if _hole(s, branch, tried, so_far, work, begin, point, new):
                return True
    return False


@part
def several_holes(s: State, branch: int, request: int, start: int, tried: int) -> int:
    """Where the pieces of a request stand; -1: it does not go."""
    asked, split = s.request[request], s.split
    size, which = asked[st.R_COUNT], 0
    new = best_at(s, ROUNDS, 0)
    for end in range(size + 1):
        split[best_at(s, 0, end)] = -1 if end else 0
    for _ in range(size):
        changed = False
        for end in range(size + 1):
            old, copy = best_at(s, which, end), best_at(s, 1 - which, end)
            for at in range(max(split[old], 0) * FIELDS + 1):
                split[copy + at] = split[old + at]
        for first in range(size):
            so_far = best_at(s, which, first)
            if split[so_far] < 0 or (first and not split[so_far]):
                continue
            begin = start
            if split[so_far]:
                begin = split[so_far + 1 + (split[so_far] - 1) * FIELDS + 3] + s.setting[st.S_NOTICE]
            begin = max(begin, asked[st.BOUNDS + 2 * (asked[st.R_FROM] + first)])
            for end in range(first + 1, size + 1):
                if not first and end == size:
                    continue
                if not _piece(s, branch, request, tried, so_far, first, end, begin, start, new):
                    continue
                other, count = best_at(s, 1 - which, end), split[so_far] + 1
                last = split[other + 1 + (split[other] - 1) * FIELDS + 3] if split[other] > 0 else 0
                if split[other] > 0 and (count > split[other] or (count == split[other] and split[new + 3] >= last)):
                    continue
                split[other] = count
                for at in range((count - 1) * FIELDS):
                    split[other + 1 + at] = split[so_far + 1 + at]
                for at in range(FIELDS):
                    split[other + 1 + (count - 1) * FIELDS + at] = split[new + at]
                changed = True
        which = 1 - which
        if split[best_at(s, which, size)] >= 0:
            return best_at(s, which, size)
        if not changed:
            return -1
    return -1
