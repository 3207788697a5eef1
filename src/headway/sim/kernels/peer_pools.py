"""Rows and blocks that come and go, messages and events, in the peers' kernel."""

from __future__ import annotations

import numpy as np

from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_state import Integers, State


@part
def take(s: State, pool: int, rows: Integers) -> int:
    """A free row of a pool. There is one: `run` stops before a pool is full."""
    g, at = s.g, st.G_POOLS + 3 * pool
    row = g[at]
    if row >= 0:
        g[at] = rows[row, 0]
        g[at + 2] -= 1
    else:
        row = g[at + 1]
        g[at + 1] += 1
    return row  # type: ignore[no-any-return]


@part
def give(s: State, pool: int, rows: Integers, row: int) -> None:
    """Gives a row back."""
    at = st.G_POOLS + 3 * pool
    rows[row, 0] = s.g[at]
    s.g[at] = row
    s.g[at + 2] += 1


@part
def room_of(s: State, pool: int, size: int) -> int:
    """How many rows of a pool are free."""
    at = st.G_POOLS + 3 * pool
    return size - s.g[at + 1] + s.g[at + 2]  # type: ignore[no-any-return]


@part
def block(s: State, length: int) -> int:
    """A block with room for so many cells."""
    size, kind = st.FEWEST_WORDS, 0
    while size < length + st.HEADER:
        size *= 2
        kind += 1
    at = s.g[st.G_CLASSES + kind]
    if at >= 0:
        s.g[st.G_CLASSES + kind] = s.cells[at + 2]
        s.g[st.G_CELLS_FREE] -= size
    else:
        at = s.g[st.G_CELLS]
        s.g[st.G_CELLS] += size
    s.cells[at] = (kind << 32) | length
    return at  # type: ignore[no-any-return]


@part
def forget(s: State, at: int) -> None:
    """Gives a block back."""
    if at < 0:
        return
    kind = s.cells[at] >> 32
    s.cells[at + 2] = s.g[st.G_CLASSES + kind]
    s.g[st.G_CLASSES + kind] = at
    s.g[st.G_CELLS_FREE] += st.FEWEST_WORDS << kind


@part
def length_of(s: State, at: int) -> int:
    return s.cells[at] & 0xFFFFFFFF  # type: ignore[no-any-return]


@part
def seven(value: int) -> int:
    """Bytes of a whole number, seven bits in each."""
    found = 1
    value >>= 7
    while value > 0:
        value >>= 7
        found += 1
    return found


@part
def push(s: State, when: int, kind: int, to: int, one: int, other: int, rank: int, serial: int, size: int) -> None:
    """Plans an event."""
    event = take(s, st.EVENT_POOL, s.event)
    row = s.event[event]
    row[st.E_KIND], row[st.E_TO], row[st.E_ONE], row[st.E_OTHER] = kind, to, one, other
    row[st.E_RANK], row[st.E_SERIAL], row[st.E_SIZE] = rank, serial, size
    if when - s.g[st.G_NOW] > s.setting[st.S_MASK]:
        s.g[st.G_ERROR] = 2
    at = when & s.setting[st.S_MASK]
    row[st.E_FREE] = s.wheel[at]
    s.wheel[at] = event


@part
def counted(s: State, peer: int) -> None:
    """Begins a peer's counts of this second, if it is a new one."""
    row = s.peer[peer]
    second = s.g[st.G_NOW] // 1000
    if row[st.SECOND_AT] != second:
        row[st.SECOND_AT] = second
        row[st.OUT] = row[st.INTO] = row[st.EVENTS] = 0


@part
def delay(s: State, sender: int, serial: int) -> int:
    """In microseconds: links.drawn says the same."""
    word = np.uint64(s.setting[st.S_KEY]) + (np.uint64(sender + 1) << np.uint64(32)) + np.uint64(serial)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return s.delays[np.int64(word >> np.uint64(52))]  # type: ignore[no-any-return]


@part
def send(s: State, sender: int, receiver: int, kind: int, one: int, other: int, size: int) -> None:
    """A message; one of a peer to itself comes at once and takes nothing."""
    g = s.g
    if sender == receiver:
        at = g[st.G_LOCAL_TO] % st.LOCAL
        s.local[at, 0], s.local[at, 1], s.local[at, 2], s.local[at, 3] = kind, receiver, one, other
        g[st.G_LOCAL_TO] += 1
        return
    now = g[st.G_NOW]
    begin = now * 1000
    if s.link[sender] > begin:
        begin = s.link[sender]
    sent = begin + size * 8_000_000 // s.setting[st.S_BANDWIDTH]
    s.link[sender] = sent
    counted(s, sender)
    row = s.peer[sender]
    row[st.OUT] += size
    row[st.ALL_OUT] += size
    if row[st.OUT] > row[st.PEAK_OUT]:
        row[st.PEAK_OUT] = row[st.OUT]
    serial = row[st.SERIAL]
    row[st.SERIAL] += 1
    when = (sent + delay(s, sender, serial)) // 1000 + 1
    if when - now > s.setting[st.S_SKEW]:
        g[st.G_LATE] += 1
    g[st.G_COUNTS + kind] += 1
    g[st.G_BYTES + kind] += size
    push(s, when, kind, receiver, one, other, (st.LETTERS << st.SENDER_BITS) | (sender + 1), serial, size)


@part
def arm(s: State, peer: int, when: int) -> None:
    """Wakes a peer at a moment, or earlier."""
    row = s.peer[peer]
    now = s.g[st.G_NOW]
    if when <= now:
        when = now + 1
    if when > now + s.setting[st.S_MASK]:
        when = now + s.setting[st.S_MASK]  # it is woken in vain then, and again
    if row[st.TICK_AT] > now and row[st.TICK_AT] <= when:
        return
    row[st.TICK_AT] = when
    push(s, when, st.TICK, peer, 0, 0, st.TICKS << st.SENDER_BITS, 0, 0)
