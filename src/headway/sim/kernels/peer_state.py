"""Peers by the million as arrays: who is where, what is under way, and how a message is sent and an event planned.

A row is a line of integers; what its columns mean says the list of names before it. Times are milliseconds. Rows that
come and go are in pools: `take` and `give` keep a list of free ones in their first column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
Longs = NDArray[np.int64]

# A peer: its link, its counts of traffic, its leaf (queue and what runs), and its workflows.
(
    STAMP, SERIAL, SECOND_AT, OUT, INTO, EVENTS, PEAK_OUT, PEAK_IN, PEAK_EVENTS, ALL_EVENTS, ALL_OUT, ALL_IN,
    POWER, STAGE, FATHER_HOST, BRANCH, QUEUE, ROOM, LENGTH, RUNNING, RUNNING_JOB, BUSY, RUNS, RESTLESS,
    HOLD_DUE, LATE_DUE, OWNER_DUE, TICK_AT, FLOWS, WORKED,
) = range(30)  # fmt: skip
PEER_COLUMNS = 32

# A node of the tree: leaf i is node i, branches come after all leaves, and children of one stand next to each other.
(
    LEVEL, HOST, FATHER, FIRST_CHILD, CHILDREN, FIRST_LEAF, LEAVES, NUMBER, SEEN, CHANGED, NEXT, NEXT_PLANNED, TOLD,
    VIEW, ROUTED, REFUSED, LEFT_OUT, FORGET, UPDATE_SIZE, SENT_AT, ACKED, FASTEST, TOLD_EPOCH,
) = range(23)  # fmt: skip
NODE_COLUMNS = 24

# A job in a queue.
DUE, COST, RELEASE, START, PIECE, JOB, ARRIVED, AFTER = range(8)
ENTRY_COLUMNS = 8

# A workflow: its columns, then the piece that each job is in (-1: none, -2: the job is done).
(
    F_FREE, F_OWNER, F_NUMBER, F_DEADLINE, F_AT, F_TIME, F_TRIES, F_SERIAL, F_PLAN, F_RETRY, F_NEXT, F_REFS,
    F_ACCEPTED, F_LEFT, F_PIECES, F_ALIVE,
) = range(16)  # fmt: skip
WHERE = 16

# A plan: its columns, then for each sequence what is left of it and what it waits for, then for each job its windows.
P_FREE, P_BEGUN, P_ASKED, P_RENEW, P_LEFT, P_FIRST, P_LAST, P_COUNT, P_HELD, P_HOPS, P_LEAST = range(11)
PLAN = 12

# Jobs of a sequence at a leaf.
(
    C_FREE, C_FLOW, C_TRY, C_SEQUENCE, C_FROM, C_COUNT, C_LEAF, C_OWNED, C_NEXT, C_HELD, C_SINCE, C_UNTIL, C_LEFT,
    C_OWNER_LEFT, C_REFS, C_HOPS, C_COMMITTED, C_AGREED,
) = range(18)  # fmt: skip
DUES = 18  # then when each of its jobs will have ended at the latest

# A request under way: its columns, then start and end of each job.
(
    R_FREE, R_FLOW, R_TRY, R_SEQUENCE, R_FROM, R_COUNT, R_START, R_DEADLINE, R_EXPIRES, R_HOPS, R_DOWN, R_ASKED,
    R_SIZE,
) = range(13)  # fmt: skip
BOUNDS = 14

# What a branch has done about a request.
A_FREE, A_BRANCH, A_BACK, A_TURNS, A_TRIED = range(5)
ASKED_COLUMNS = 5

# An event.
E_FREE, E_KIND, E_TO, E_ONE, E_OTHER, E_RANK, E_SERIAL, E_SIZE = range(8)
EVENT_COLUMNS = 8
ENDS, LETTERS, SUBMISSIONS, TICKS = 0, 1, 2, 3  # ranks: what comes first at the same peer and moment
SENDER_BITS = 28

# Kinds of events. The first are messages.
(
    UPDATE, REQUEST, NACK, REJECT, OFFER, COMMIT, COMMITTED, ROLLBACK, RENEW, START_JOB, FINISHED, ABORTED, END,
    SUBMIT, TICK,
) = range(15)  # fmt: skip
MESSAGES = 12
NAMES = (
    "Update", "Request", "Nack", "Reject", "Offer", "Commit", "Committed", "Rollback", "Renew", "Start", "Finished",
    "Aborted",
)  # fmt: skip

# Globals. From G_POOLS on, each pool has three: first free row, rows ever used, rows free.
(
    G_NOW, G_EPOCH, G_AT, G_ALL_EVENTS, G_LOCAL_FROM, G_LOCAL_TO, G_NEXT_ARRIVAL, G_ERROR, G_OPEN, G_SORTED, G_PEER,
    G_CELLS, G_CELLS_FREE, G_ROWS, G_ROWS_FREE, G_LATE, G_LOST, G_STATUSES, G_BEATS, G_ACKS, G_PAST,
) = range(21)  # fmt: skip
G_POOLS = 24
EVENT_POOL, FLOW_POOL, PLAN_POOL, PIECE_POOL, REQUEST_POOL, ASKED_POOL = range(6)
G_COUNTS = 48  # of each kind of message
G_BYTES = 64
G_CLASSES = 80  # first free block of cells of each size
G_ROW_CLASSES = 100  # and of rows of queues
GLOBALS = 128

# Settings.
(
    S_UPDATE, S_REFRESH, S_HOLD, S_LONGEST, S_HOLDS, S_RENEW, S_ANSWER, S_NOTICE, S_TRIES, S_PAUSE, S_FIT, S_SPLIT,
    S_EARLY, S_BANDWIDTH, S_KEY, S_FASTEST, S_JOBS, S_SEQUENCES, S_WIDTH, S_PATH, S_HOPS, S_LONGEST_SEQUENCE,
    S_PEERS, S_BEGIN, S_FIRST_EPOCH, S_MASK, S_SKEW, S_STATUS,
) = range(28)  # fmt: skip

# What became of each workflow.
W_STATE, W_DECIDED, W_ENDED, W_HOPS, W_SPLITS, W_TRIES = range(6)
OUTCOME_COLUMNS = 6
ASKING, ACCEPTED, REJECTED, DONE, TOO_LONG = range(5)  # TOO_LONG: rejected, as no peer is fast enough

HEADER = 3  # words before the cells of a block: class and length, number and epoch, a reserve
FEWEST_WORDS, FEWEST_ROWS = 8, 4
NEVER = 2**31 - 1
EPOCH = 300_000
LOCAL = 4096  # letters of a peer to itself that may wait


class Cut(NamedTuple):
    """A workflow's jobs, and the sequences that the policy cuts it into. Lists: where each begins, then all."""

    sequence_start: Integers
    jobs: Integers  # of the sequences
    sequence_of: Integers
    position: Integers  # of a job in its sequence
    parent_start: Integers
    parents: Integers
    child_start: Integers
    children: Integers
    order: Integers
    place: Integers
    waits: Integers
    then_start: Integers
    then: Integers
    bound: Integers  # by job: 1: its start counts for others, 2: its end does


class State(NamedTuple):
    """A grid."""

    peer: Integers
    link: Longs  # when the link of each peer has sent all that waits, in microseconds
    node: Integers
    event: Integers
    wheel: Integers  # first event of each moment
    flow: Integers
    work: Longs  # of each job of a workflow
    plan: Integers
    piece: Integers
    request: Integers
    asked: Integers
    rows: Integers  # of queues, in blocks
    cells: Longs  # of summaries, in blocks: cell << 32 | count
    g: Longs
    setting: Longs
    points: Longs  # of each epoch
    powers: Longs  # least power of each level
    delays: Longs
    local: Integers
    arrival: Integers  # when, and whose
    arrival_work: Longs
    arrival_deadline: Integers
    outcome: Integers
    placed: Integers  # by workflow and job: leaf, begun; without rows where nobody asks
    counts: Integers  # by cell: room to sum up in
    touched: Integers
    scratch: Longs  # rows of a queue, as the policies want them
    marks: Integers  # jobs whose windows are to be seen to
    order: Longs  # events of a moment
    split: Longs
    cut: Cut
