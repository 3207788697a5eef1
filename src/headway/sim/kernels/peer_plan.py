"""Plans of owners in the peers' kernel: windows of jobs, as policies/by_when/windows.py says, and requests."""

from __future__ import annotations

from headway.sim.kernels import part
from headway.sim.kernels import peer_state as st
from headway.sim.kernels.peer_branch import request_size
from headway.sim.kernels.peer_pieces import BASE, dropped, job_of
from headway.sim.kernels.peer_pools import send, take
from headway.sim.kernels.peer_state import State


@part
def _windows_at(s: State) -> int:
    return st.PLAN + 2 * s.setting[st.S_SEQUENCES]  # type: ignore[no-any-return]


@part
def _earliest(s: State, plan: int, job: int, start: int) -> int:
    """From when a job's inputs are there."""
    row, cut, jobs = s.plan[plan], s.cut, s.setting[st.S_JOBS]
    at, found = _windows_at(s), start
    for place in range(cut.parent_start[job], cut.parent_start[job + 1]):
        parent = cut.parents[place]
        is_pinned = row[at + 2 * jobs + parent] >= 0
        end = row[at + 3 * jobs + parent] if is_pinned else row[at + parent] + row[st.P_LEAST]
        if cut.sequence_of[parent] != cut.sequence_of[job]:
            end += s.setting[st.S_NOTICE]
        found = max(found, end)
    return found


@part
def _latest(s: State, plan: int, job: int, deadline: int) -> int:
    """By when a job must have ended."""
    row, cut, jobs = s.plan[plan], s.cut, s.setting[st.S_JOBS]
    at, found = _windows_at(s), deadline
    for place in range(cut.child_start[job], cut.child_start[job + 1]):
        child = cut.children[place]
        is_pinned = row[at + 2 * jobs + child] >= 0
        start = row[at + 2 * jobs + child] if is_pinned else row[at + jobs + child] - row[st.P_LEAST]
        if cut.sequence_of[child] != cut.sequence_of[job]:
            start -= s.setting[st.S_NOTICE]
        found = min(found, start)
    return found


@part
def _pin(s: State, plan: int, job: int, begin: int, end: int) -> None:
    """A job's window is what it is: what comes before and after it sees to its own."""
    row, cut, jobs, at = s.plan[plan], s.cut, s.setting[st.S_JOBS], _windows_at(s)
    row[at + 2 * jobs + job], row[at + 3 * jobs + job] = begin, end
    marks, waiting, place = s.marks, 0, cut.place[job]
    for one in range(cut.child_start[job], cut.child_start[job + 1]):
        marks[cut.place[cut.children[one]]] = 1
        waiting += 1
    while waiting:
        place += 1
        if marks[place] == 0:
            continue
        waiting -= marks[place]
        marks[place] = 0
        other = cut.order[place]
        if row[at + 2 * jobs + other] >= 0:
            continue
        found = _earliest(s, plan, other, row[st.P_FIRST])
        if found != row[at + other]:
            row[at + other] = found
            for one in range(cut.child_start[other], cut.child_start[other + 1]):
                marks[cut.place[cut.children[one]]] += 1
                waiting += 1
    place = cut.place[job]
    for one in range(cut.parent_start[job], cut.parent_start[job + 1]):
        marks[cut.place[cut.parents[one]]] = 1
        waiting += 1
    while waiting:
        place -= 1
        if marks[place] == 0:
            continue
        waiting -= marks[place]
        marks[place] = 0
        other = cut.order[place]
        if row[at + 2 * jobs + other] >= 0:
            continue
        found = _latest(s, plan, other, row[st.P_LAST])
        if found != row[at + jobs + other]:
            row[at + jobs + other] = found
            for one in range(cut.parent_start[other], cut.parent_start[other + 1]):
                marks[cut.place[cut.parents[one]]] += 1
                waiting += 1


@part
def planned(s: State, flow: int) -> None:
    """Begins a try at reserving room for all jobs."""
    row, now, jobs, sequences = s.flow[flow], s.g[st.G_NOW], s.setting[st.S_JOBS], s.setting[st.S_SEQUENCES]
    owner, time = row[st.F_OWNER], row[st.F_TIME]
    deadline = row[st.F_DEADLINE] - s.setting[st.S_NOTICE]  # its owner hears of it in time
    start = now + s.peer[owner, st.STAGE] * s.setting[st.S_WIDTH]
    room = deadline - start - s.setting[st.S_NOTICE] * s.setting[st.S_HOPS]
    share = room / max(s.setting[st.S_PATH] * time, 1)
    power = s.peer[owner, st.POWER]
    row[st.F_SERIAL] += 1
    if share * (max(s.setting[st.S_FASTEST], power) / power) < 1:
        gone(s, flow, st.TOO_LONG)
        return
    plan = take(s, st.PLAN_POOL, s.plan)
    row[st.F_PLAN], row[st.F_RETRY] = plan, -1
    row[st.F_TRIES] += 1
    its, at, cut = s.plan[plan], _windows_at(s), s.cut
    its[st.P_BEGUN] = its[st.P_ASKED] = now
    its[st.P_RENEW], its[st.P_LEFT] = now + s.setting[st.S_RENEW], jobs
    its[st.P_FIRST], its[st.P_LAST], its[st.P_COUNT], its[st.P_HELD], its[st.P_HOPS] = start, deadline, 0, 0, 0
    its[st.P_LEAST] = int(share * time)
    for number in range(sequences):
        its[st.PLAN + number] = cut.sequence_start[number + 1] - cut.sequence_start[number]
        its[st.PLAN + sequences + number] = cut.waits[number]
    for job in range(jobs):
        its[at + 2 * jobs + job] = -1
    for place in range(jobs):
        job = cut.order[place]
        its[at + job] = _earliest(s, plan, job, start)
    for place in range(jobs - 1, -1, -1):
        job = cut.order[place]
        its[at + jobs + job] = _latest(s, plan, job, deadline)
    _due_by(s, owner, its[st.P_RENEW])
    for number in range(sequences):
        if cut.waits[number] == 0:
            asked_for(s, flow, plan, number)


@part
def asked_for(s: State, flow: int, plan: int, number: int) -> None:
    """Sends a sequence."""
    row, its, cut, jobs, at = s.flow[flow], s.plan[plan], s.cut, s.setting[st.S_JOBS], _windows_at(s)
    owner, time, now = row[st.F_OWNER], row[st.F_TIME], s.g[st.G_NOW]
    low, high = cut.sequence_start[number], cut.sequence_start[number + 1]
    request = take(s, st.REQUEST_POOL, s.request)
    asked = s.request[request]
    row[st.F_REFS] += 1
    first, last = its[at + cut.jobs[low]], its[at + jobs + cut.jobs[high - 1]]
    total, begun, done = (high - low) * time, first, 0
    for place in range(low, high):
        job = cut.jobs[place]
        done += time
        start = max(begun, its[at + job])
        point = first + (last - first) * done // total
        end = min(max(point, start + its[st.P_LEAST]), its[at + jobs + job])
        _pin(s, plan, job, start, end)
        begun = end
        asked[st.BOUNDS + 2 * (place - low)] = start if place == low or cut.bound[job] & 1 else 0
        asked[st.BOUNDS + 2 * (place - low) + 1] = end if place == high - 1 or cut.bound[job] & 2 else 0
    its[st.P_ASKED] = now
    asked[st.R_FLOW], asked[st.R_TRY], asked[st.R_SEQUENCE], asked[st.R_FROM], asked[st.R_COUNT] = (
        flow,
        row[st.F_SERIAL],
        number,
        0,
        high - low,
    )
    asked[st.R_START], asked[st.R_DEADLINE] = asked[st.BOUNDS], asked[st.BOUNDS + 2 * (high - low - 1) + 1]
    asked[st.R_EXPIRES], asked[st.R_HOPS], asked[st.R_DOWN], asked[st.R_ASKED] = now + s.setting[st.S_ANSWER], 0, 0, -1
    asked[st.R_SIZE] = request_size(s, request)
    send(
        s,
        owner,
        s.peer[owner, st.FATHER_HOST],
        st.REQUEST,
        request,
        s.node[owner, st.FATHER],
        BASE - 1 + asked[st.R_SIZE],
    )


@part
def agreed(s: State, piece: int, plan: int) -> None:
    """Takes in by when a leaf will have done each job."""
    held, its, jobs, at = s.piece[piece], s.plan[plan], s.setting[st.S_JOBS], _windows_at(s)
    for place in range(held[st.C_FROM], held[st.C_FROM] + held[st.C_COUNT]):
        job = job_of(s, piece, place)
        end = min(its[at + 3 * jobs + job], held[st.DUES + place - held[st.C_FROM]])
        _pin(s, plan, job, its[at + 2 * jobs + job], end)


@part
def _due_by(s: State, owner: int, when: int) -> None:
    s.peer[owner, st.OWNER_DUE] = min(s.peer[owner, st.OWNER_DUE], when)


@part
def gone(s: State, flow: int, state: int) -> None:
    """A workflow has come to its end here."""
    row, now = s.flow[flow], s.g[st.G_NOW]
    told = s.outcome[row[st.F_NUMBER] - 1]
    told[st.W_STATE], told[st.W_TRIES] = state, row[st.F_TRIES]
    if state == st.DONE:
        told[st.W_ENDED] = now
    else:
        told[st.W_DECIDED] = now
    owner = row[st.F_OWNER]
    if s.peer[owner, st.FLOWS] == flow:
        s.peer[owner, st.FLOWS] = row[st.F_NEXT]
    else:
        before = s.peer[owner, st.FLOWS]
        while s.flow[before, st.F_NEXT] != flow:
            before = s.flow[before, st.F_NEXT]
        s.flow[before, st.F_NEXT] = row[st.F_NEXT]
    s.g[st.G_OPEN] -= 1
    row[st.F_ALIVE] = 0
    row[st.F_REFS] += 1
    dropped(s, flow)
