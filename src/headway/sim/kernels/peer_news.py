"""Summaries in the peers' kernel: sums of what is free, and news for fathers."""

from __future__ import annotations

from headway.policies.by_when import cells
from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pools import arm, block, forget, length_of, send, seven
from headway.sim.kernels.peer_queue import leaf_cells
from headway.sim.kernels.peer_state import State
from headway.sim.kernels.rules import machine_code

moved = machine_code(cells.moved)


@part
def branch_cells(s: State, branch: int) -> int:
    """Sums up what the children have told, by the points of this epoch, in `counts` and `touched`; how many cells."""
    epoch, found = s.g[st.G_EPOCH], 0
    first = s.setting[st.S_FIRST_EPOCH]
    for child in range(s.node[branch, st.FIRST_CHILD], s.node[branch, st.FIRST_CHILD] + s.node[branch, st.CHILDREN]):
        view = s.node[child, st.VIEW]
        if view < 0:
            continue
        its = s.cells[view + 1] & 0xFFFFFFFF
        for at in range(view + st.HEADER, view + st.HEADER + length_of(s, view)):
            cell = s.cells[at] >> 32
            if its != epoch:
                cell = moved(cell, s.points[its - first], s.points[epoch - first])
                if cell < 0:
                    continue
            if s.counts[cell] == 0:
                s.touched[found] = cell
                found += 1
            s.counts[cell] += s.cells[at] & 0xFFFFFFFF
    return found


@part
def cleared(s: State, found: int) -> None:
    for at in range(found):
        s.counts[s.touched[at]] = 0


@part
def packed(s: State, found: int, number: int) -> int:
    """A block of the cells that were summed up."""
    at = block(s, found)
    s.cells[at + 1] = (number << 32) | s.g[st.G_EPOCH]
    for place in range(found):
        cell = s.touched[place]
        s.cells[at + st.HEADER + place] = (cell << 32) | s.counts[cell]
    return at


@part
def _is_told(s: State, told: int, found: int) -> bool:
    """Whether the father knows exactly this."""
    if told < 0 or length_of(s, told) != found or s.cells[told + 1] & 0xFFFFFFFF != s.g[st.G_EPOCH]:
        return False
    for at in range(told + st.HEADER, told + st.HEADER + found):
        if s.counts[s.cells[at] >> 32] != s.cells[at] & 0xFFFFFFFF:
            return False
    return True


@part
def summary_size(s: State, at: int) -> int:
    size = 4 + 2 * length_of(s, at)
    for place in range(at + st.HEADER, at + st.HEADER + length_of(s, at)):
        size += seven(s.cells[place] & 0xFFFFFFFF)
    return size


@part
def news(s: State, node: int) -> None:
    """Tells a father what has changed: at most once a period."""
    row, now, epoch = s.node[node], s.g[st.G_NOW], s.g[st.G_EPOCH]
    father, told = row[st.FATHER], row[st.TOLD]
    if father < 0 or (not row[st.CHANGED] and row[st.TOLD_EPOCH] == epoch):
        return
    if now < row[st.NEXT]:
        arm(s, row[st.HOST], row[st.NEXT])
        return
    found = branch_cells(s, node) if row[st.LEVEL] else leaf_cells(s, node)
    row[st.CHANGED] = 0
    if not _is_told(s, told, found):
        forget(s, told)
        row[st.NUMBER] += 1
        row[st.TOLD], row[st.TOLD_EPOCH] = packed(s, found, row[st.NUMBER]), epoch
        sent = packed(s, found, row[st.NUMBER])
        row[st.NEXT] = now + s.setting[st.S_UPDATE]
        if row[st.SENT_AT] >= 0:
            s.g[st.G_BEATS] += (now - 1 - row[st.SENT_AT]) // s.setting[st.S_REFRESH]
        row[st.SENT_AT] = now
        size = row[st.UPDATE_SIZE] + seven(row[st.NUMBER]) + summary_size(s, sent)
        send(s, row[st.HOST], s.node[father, st.HOST], st.UPDATE, node, sent, size)
    cleared(s, found)


@part
def updated(s: State, child: int, summary: int) -> None:
    """Takes in what a child says."""
    row, number = s.node[child], s.cells[summary + 1] >> 32
    if number <= row[st.SEEN]:
        forget(s, summary)
        return
    forget(s, row[st.VIEW])
    row[st.SEEN], row[st.VIEW] = number, summary
    s.node[row[st.FATHER], st.CHANGED] = 1
    if s.g[st.G_NOW] >= row[st.ACKED] + s.setting[st.S_REFRESH]:
        row[st.ACKED] = s.g[st.G_NOW]
        s.g[st.G_ACKS] += 1


@part
def renewed_views(s: State, branch: int) -> None:
    """Tells by the points of this epoch what children have told by older ones."""
    epoch, first = s.g[st.G_EPOCH], s.setting[st.S_FIRST_EPOCH]
    for child in range(s.node[branch, st.FIRST_CHILD], s.node[branch, st.FIRST_CHILD] + s.node[branch, st.CHILDREN]):
        view = s.node[child, st.VIEW]
        if view < 0 or s.cells[view + 1] & 0xFFFFFFFF >= epoch:
            continue
        its, found = s.cells[view + 1] & 0xFFFFFFFF, 0
        for at in range(view + st.HEADER, view + st.HEADER + length_of(s, view)):
            cell = moved(s.cells[at] >> 32, s.points[its - first], s.points[epoch - first])
            if cell >= 0:
                if s.counts[cell] == 0:
                    s.touched[found] = cell
                    found += 1
                s.counts[cell] += s.cells[at] & 0xFFFFFFFF
        s.node[child, st.VIEW] = packed(s, found, s.cells[view + 1] >> 32)
        forget(s, view)
        cleared(s, found)
