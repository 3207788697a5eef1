"""Owners of the peers' kernel: holds, commitments and ends of workflows: engine/peering/owner.py."""

from __future__ import annotations

from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_pieces import BASE, alone, job_of, piece_size, tell, unused
from headway.sim.kernels.peer_plan import _due_by, agreed, asked_for, gone, planned
from headway.sim.kernels.peer_pools import give, seven, take
from headway.sim.kernels.peer_state import State


@part
def submitted(s: State, owner: int, number: int) -> None:
    """Takes a workflow in."""
    flow, jobs = take(s, st.FLOW_POOL, s.flow), s.setting[st.S_JOBS]
    row, time = s.flow[flow], s.arrival_work[number]
    row[st.F_OWNER], row[st.F_NUMBER], row[st.F_DEADLINE], row[st.F_AT] = (
        owner,
        number + 1,
        s.arrival_deadline[number],
        s.g[st.G_NOW],
    )
    row[st.F_TIME] = max(1, -(-time // s.peer[owner, st.POWER]))
    row[st.F_TRIES], row[st.F_SERIAL], row[st.F_PLAN], row[st.F_RETRY], row[st.F_NEXT] = 0, 0, -1, -1, -1
    row[st.F_REFS], row[st.F_ACCEPTED], row[st.F_LEFT], row[st.F_PIECES], row[st.F_ALIVE] = 0, 0, jobs, -1, 1
    for job in range(jobs):
        row[st.WHERE + job] = -1
    s.work[flow] = time
    last = s.peer[owner, st.FLOWS]
    if last < 0:
        s.peer[owner, st.FLOWS] = flow
    else:
        while s.flow[last, st.F_NEXT] >= 0:
            last = s.flow[last, st.F_NEXT]
        s.flow[last, st.F_NEXT] = flow
    s.g[st.G_OPEN] += 1
    planned(s, flow)


@part
def offer_came(s: State, owner: int, piece: int) -> None:
    """A leaf holds room."""
    held, now = s.piece[piece], s.g[st.G_NOW]
    flow = held[st.C_FLOW]
    row = s.flow[flow]
    plan = row[st.F_PLAN] if row[st.F_ALIVE] else -1
    if plan < 0 or held[st.C_TRY] != row[st.F_SERIAL]:
        tell(s, owner, held[st.C_LEAF], st.ROLLBACK, piece, 0, BASE + piece_size(s, piece) + 1)
        return
    its, cut = s.plan[plan], s.cut
    held[st.C_OWNED], held[st.C_NEXT], held[st.C_AGREED] = 1, -1, 0
    if row[st.F_PIECES] < 0:
        row[st.F_PIECES] = piece
    else:
        last = row[st.F_PIECES]
        while s.piece[last, st.C_NEXT] >= 0:
            last = s.piece[last, st.C_NEXT]
        s.piece[last, st.C_NEXT] = piece
    its[st.P_COUNT] += 1
    its[st.P_HOPS] = max(its[st.P_HOPS], held[st.C_HOPS])
    its[st.P_ASKED] = now
    number = held[st.C_SEQUENCE]
    agreed(s, piece, plan)
    its[st.P_LEFT] -= held[st.C_COUNT]
    its[st.PLAN + number] -= held[st.C_COUNT]
    if its[st.PLAN + number] == 0:
        for place in range(cut.then_start[number], cut.then_start[number + 1]):
            other = cut.then[place]
            its[st.PLAN + s.setting[st.S_SEQUENCES] + other] -= 1
            if its[st.PLAN + s.setting[st.S_SEQUENCES] + other] == 0:
                asked_for(s, flow, plan, other)
    if its[st.P_LEFT] == 0:
        _all_held(s, flow, plan)


@part
def _all_held(s: State, flow: int, plan: int) -> None:
    """Commits to everything: the second phase."""
    row, its, now = s.flow[flow], s.plan[plan], s.g[st.G_NOW]
    owner = row[st.F_OWNER]
    stage = s.peer[owner, st.STAGE]
    stage += ((now - its[st.P_BEGUN]) // max(s.setting[st.S_WIDTH], 1) - stage) // 8
    s.peer[owner, st.STAGE] = max(stage, 200)
    told = s.outcome[row[st.F_NUMBER] - 1]
    told[st.W_HOPS], told[st.W_SPLITS] = its[st.P_HOPS], its[st.P_COUNT] - s.setting[st.S_SEQUENCES]
    piece = row[st.F_PIECES]
    while piece >= 0:
        held = s.piece[piece]
        held[st.C_OWNED] = 2
        for place in range(held[st.C_FROM], held[st.C_FROM] + held[st.C_COUNT]):
            row[st.WHERE + job_of(s, piece, place)] = piece
        piece = held[st.C_NEXT]
    piece = row[st.F_PIECES]
    while piece >= 0:
        held = s.piece[piece]
        size = BASE + piece_size(s, piece) + 1
        for place in range(held[st.C_FROM], held[st.C_FROM] + held[st.C_COUNT]):
            if alone(s, piece, place):
                size += seven(job_of(s, piece, place))
        tell(s, owner, held[st.C_LEAF], st.COMMIT, piece, 0, size)
        piece = held[st.C_NEXT]
    its[st.P_ASKED] = now


@part
def committed_came(s: State, owner: int, piece: int) -> None:
    """A leaf has heard of it; when all have, the workflow is accepted."""
    held = s.piece[piece]
    row = s.flow[held[st.C_FLOW]]
    if held[st.C_OWNED] == 0 or not row[st.F_ALIVE]:
        return
    plan = row[st.F_PLAN]
    if plan < 0:
        return
    if not held[st.C_AGREED]:
        held[st.C_AGREED] = 1
        s.plan[plan, st.P_HELD] += 1
    its = s.plan[plan]
    if its[st.P_LEFT] or its[st.P_HELD] < its[st.P_COUNT]:
        return
    row[st.F_PLAN] = -1
    give(s, st.PLAN_POOL, s.plan, plan)
    row[st.F_ACCEPTED] = 1
    told = s.outcome[row[st.F_NUMBER] - 1]
    told[st.W_STATE], told[st.W_DECIDED], told[st.W_TRIES] = st.ACCEPTED, s.g[st.G_NOW], row[st.F_TRIES]
    row[st.F_TRIES] = 0
    one = row[st.F_PIECES]
    while one >= 0:
        its_piece = s.piece[one]
        for place in range(its_piece[st.C_FROM], its_piece[st.C_FROM] + its_piece[st.C_COUNT]):
            job = job_of(s, one, place)
            if s.cut.parent_start[job] < s.cut.parent_start[job + 1] and alone(s, one, place):
                size = BASE + piece_size(s, one) + seven(job)
                tell(s, owner, its_piece[st.C_LEAF], st.START_JOB, one, place, size)
        one = its_piece[st.C_NEXT]


@part
def refused_came(s: State, flow: int, tried: int) -> None:
    """No room for a part: all of this try is given back, and tried again a few times."""
    row = s.flow[flow]
    if not row[st.F_ALIVE] or row[st.F_PLAN] < 0 or tried != row[st.F_SERIAL]:
        return
    _rolled_back(s, flow)
    _again(s, flow)


@part
def _rolled_back(s: State, flow: int) -> None:
    row = s.flow[flow]
    owner, piece = row[st.F_OWNER], row[st.F_PIECES]
    while piece >= 0:
        held = s.piece[piece]
        after = held[st.C_NEXT]
        tell(s, owner, held[st.C_LEAF], st.ROLLBACK, piece, 0, BASE + piece_size(s, piece) + 1)
        for place in range(held[st.C_FROM], held[st.C_FROM] + held[st.C_COUNT]):
            row[st.WHERE + job_of(s, piece, place)] = -1
        held[st.C_OWNED] = 0
        unused(s, piece)
        piece = after
    row[st.F_PIECES] = -1
    give(s, st.PLAN_POOL, s.plan, row[st.F_PLAN])
    row[st.F_PLAN] = -1


@part
def _again(s: State, flow: int) -> None:
    row, pause = s.flow[flow], s.setting[st.S_PAUSE]
    owner = row[st.F_OWNER]
    if row[st.F_TRIES] >= s.setting[st.S_TRIES]:
        gone(s, flow, st.REJECTED)
        return
    spread = ((owner + 1) * 7919 + row[st.F_NUMBER] * 104729 + row[st.F_TRIES] * 31) % pause
    row[st.F_RETRY] = s.g[st.G_NOW] + pause + spread
    _due_by(s, owner, row[st.F_RETRY])


@part
def aborted_came(s: State, piece: int) -> None:
    """A leaf has given a piece up."""
    held = s.piece[piece]
    row = s.flow[held[st.C_FLOW]]
    if held[st.C_OWNED] == 0 or not row[st.F_ALIVE]:
        return
    if row[st.F_ACCEPTED]:
        s.g[st.G_LOST] += 1
        return
    refused_came(s, held[st.C_FLOW], held[st.C_TRY])


@part
def owner_tick(s: State, owner: int) -> None:
    """Tries again, renews what is held, and gives up on who is silent."""
    now, flow, due = s.g[st.G_NOW], s.peer[owner, st.FLOWS], st.NEVER
    s.peer[owner, st.OWNER_DUE] = st.NEVER
    while flow >= 0:
        row = s.flow[flow]
        after, plan = row[st.F_NEXT], row[st.F_PLAN]
        if plan < 0 and 0 <= row[st.F_RETRY] <= now:
            planned(s, flow)
        elif plan >= 0 and now >= s.plan[plan, st.P_ASKED] + s.setting[st.S_ANSWER]:
            _rolled_back(s, flow)
            _again(s, flow)
        elif plan >= 0 and now >= s.plan[plan, st.P_RENEW]:
            s.plan[plan, st.P_RENEW] = now + s.setting[st.S_RENEW]
            piece = row[st.F_PIECES]
            while piece >= 0:
                held = s.piece[piece]
                if not held[st.C_AGREED]:
                    tell(s, owner, held[st.C_LEAF], st.RENEW, piece, 0, BASE + piece_size(s, piece))
                piece = held[st.C_NEXT]
        flow = after
    flow = s.peer[owner, st.FLOWS]
    while flow >= 0:
        row = s.flow[flow]
        plan = row[st.F_PLAN]
        if plan >= 0:
            due = min(due, s.plan[plan, st.P_ASKED] + s.setting[st.S_ANSWER], s.plan[plan, st.P_RENEW])
        elif row[st.F_RETRY] >= 0 and not row[st.F_ACCEPTED]:
            due = min(due, row[st.F_RETRY])
        flow = row[st.F_NEXT]
    s.peer[owner, st.OWNER_DUE] = due


@part
def finished_came(s: State, owner: int, piece: int, position: int) -> None:
    """A job has ended: those that wait for it hear of it."""
    held, cut = s.piece[piece], s.cut
    flow = held[st.C_FLOW]
    row = s.flow[flow]
    job = job_of(s, piece, position)
    if not row[st.F_ALIVE] or held[st.C_OWNED] == 0 or row[st.WHERE + job] != piece:
        return
    row[st.WHERE + job] = -2
    row[st.F_LEFT] -= 1
    for place in range(cut.child_start[job], cut.child_start[job + 1]):
        child = cut.children[place]
        other = row[st.WHERE + child]
        if other >= 0 and other != piece and _has_inputs(s, flow, child):
            size = BASE + piece_size(s, other) + seven(child)
            tell(s, owner, s.piece[other, st.C_LEAF], st.START_JOB, other, cut.position[child], size)
    held[st.C_OWNER_LEFT] -= 1
    if held[st.C_OWNER_LEFT] == 0:
        if row[st.F_PIECES] == piece:
            row[st.F_PIECES] = held[st.C_NEXT]
        else:
            before = row[st.F_PIECES]
            while s.piece[before, st.C_NEXT] != piece:
                before = s.piece[before, st.C_NEXT]
            s.piece[before, st.C_NEXT] = held[st.C_NEXT]
        held[st.C_OWNED] = 0
    if row[st.F_LEFT] == 0:
        gone(s, flow, st.DONE)


@part
def _has_inputs(s: State, flow: int, job: int) -> bool:
    row, cut = s.flow[flow], s.cut
    for place in range(cut.parent_start[job], cut.parent_start[job + 1]):
        other = row[st.WHERE + cut.parents[place]]
        if other != -2 and other != row[st.WHERE + job]:
            return False
    return True
