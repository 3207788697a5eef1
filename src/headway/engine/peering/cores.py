"""What a leaf keeps of each core: jobs in a queue, what runs, and pieces of workflows that room is held for."""

from __future__ import annotations

from headway.engine.peering.messages import PieceId
from headway.model.record import mutable


@mutable
class Entry:
    """A job in a queue."""

    piece: PieceId
    job: int
    due: int
    cost: int
    release: int  # when its inputs are promised
    arrived: bool = False  # its inputs from elsewhere are there
    after: int = -1  # the job of the same piece that must end before it


@mutable
class Hold:
    """A piece of a workflow at a core."""

    core: int
    since: int
    until: int
    left: int  # jobs of it that have not ended
    committed: bool = False
    unheard: int = 0  # statuses that its owner has not answered


@mutable
class Core:
    """What waits, by deadline, and what runs."""

    queue: list[Entry]
    starts: list[int]
    running: Entry | None = None
    busy_until: int = 0
