"""A tree of the peers' kernel that is whole from the start, as sim/planting.py makes it."""

from __future__ import annotations

from headway.sim.kernels import compiled, part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pieces import BASE
from headway.sim.kernels.peer_pools import push, seven
from headway.sim.kernels.peer_state import Integers, State

FREE = 4  # peers without a branch that a child names


@compiled
def plant(s: State, fan_out: int, names: Integers) -> int:
    """Makes the branches, as sim/planting.py does, and plans the first arrival; how many nodes there are."""
    peers, node = s.setting[st.S_PEERS], s.node
    for leaf in range(peers):
        row = node[leaf]
        row[st.HOST], row[st.FIRST_LEAF], row[st.LEAVES], row[st.FASTEST] = leaf, leaf, 1, s.peer[leaf, st.POWER]
    first, count, level, used = 0, peers, 0, peers
    while count > 1 or not level:
        level += 1
        parts = max(1, count // 2 if fan_out == 2 else -(-count // fan_out))
        for group in range(parts):
            low, high = count * group // parts, count * (group + 1) // parts
            row = node[used]
            row[st.LEVEL], row[st.FIRST_CHILD], row[st.CHILDREN], row[st.FATHER] = level, first + low, high - low, -1
            begin = node[first + low, st.FIRST_LEAF]
            end = node[first + high - 1, st.FIRST_LEAF] + node[first + high - 1, st.LEAVES]
            host = begin + (end - begin) // fan_out - (level > 1)
            while host < end and s.peer[host, st.BRANCH] >= 0:
                host += 1
            if host == end:
                host = begin
                while s.peer[host, st.BRANCH] >= 0:
                    host += 1
            row[st.HOST], row[st.FIRST_LEAF], row[st.LEAVES] = host, begin, end - begin
            s.peer[host, st.BRANCH] = used
            for child in range(first + low, first + high):
                node[child, st.FATHER] = used
                row[st.FASTEST] = max(row[st.FASTEST], node[child, st.FASTEST])
            used += 1
        first, count = first + count, parts
    for peer in range(peers):
        s.peer[peer, st.FATHER_HOST] = node[node[peer, st.FATHER], st.HOST]
    for at in range(used):
        row, size, found = node[at], 0, 0
        if at < peers:
            names[at, 0] = at + 1 if s.peer[at, st.BRANCH] < 0 else 0
            size = seven(at + 1) if s.peer[at, st.BRANCH] < 0 else 0
        for which in range(FREE):
            for child in range(row[st.FIRST_CHILD], row[st.FIRST_CHILD] + row[st.CHILDREN]):
                name = names[child, which]
                if found < FREE and name and name != row[st.HOST] + 1:
                    is_new = True
                    for before in range(found):
                        is_new = is_new and names[at, before] != name
                    if is_new:
                        names[at, found] = name
                        size += seven(name)
                        found += 1
        low_size, leaves = seven(row[st.FIRST_LEAF] + 1), seven(row[st.LEAVES])
        row[st.UPDATE_SIZE] = BASE + 1 + 1 + 2 * low_size + leaves + 1 + size + seven(row[st.FASTEST])
    arrival(s)
    return int(used)


@part
def arrival(s: State) -> None:
    """Plans the next arrival."""
    number = s.g[st.G_NEXT_ARRIVAL]
    if number < len(s.arrival):
        when = s.arrival[number, 0]
        s.g[st.G_NEXT_ARRIVAL] += 1
        push(s, when, st.SUBMIT, s.arrival[number, 1], number, 0, st.SUBMISSIONS << st.SENDER_BITS, 0, 0)
