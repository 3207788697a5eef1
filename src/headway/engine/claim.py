"""Who gets the next slots: what was put off wakes, nodes open their processes, and the last job is called.

A store calls this inside its one transaction, a simulated world on its board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from headway.engine.outlook import Outlook
from headway.engine.progress import Changes, Rows
from headway.engine.ready import Candidate, Lane, Room, Within
from headway.model.messages import JobId, Seconds, WorkflowId
from headway.model.record import field, record
from headway.model.states import Kind, State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Any = Protocol = object


@record
class Traits:
    """What of a workflow does not change: whether it is more than jobs and arcs, its last job, and its lanes."""

    special: bool
    final: JobId | None = None
    lanes: Mapping[int, Lane] = field(default_factory=dict)
    affine: bool = False  # some of its jobs run on the host of the one before them


Taken = tuple[Any, int, tuple[tuple[str, int], ...]]  # what was offered, the cores it gets, its named resources


class Supply(Protocol):
    """What there is to give out."""

    def traits(self, workflow: WorkflowId) -> Traits:
        """What of it does not change."""

    def is_halted(self, workflow: WorkflowId) -> bool:
        """Whether one of its jobs has ended it."""

    def outlook(self, workflow: WorkflowId) -> Outlook:
        """What there is of it."""

    def offers(self, workflow: WorkflowId, lane: int, most: int, within: Within | None = None) -> Sequence[Candidate]:
        """Its first eligible jobs of a lane by rank, arrival and place; those that fit into the time that is left."""

    def last(self, workflow: WorkflowId, final: JobId) -> Candidate:
        """Its last job, to be offered."""

    def running(self, workflow: WorkflowId) -> Mapping[int, int]:
        """How many of its jobs run in each lane; nobody else changes that meanwhile."""

    def due(self, workflow: WorkflowId, now: Seconds) -> Sequence[JobId]:
        """Jobs that were put off until now or before."""

    def next_due(self, workflow: WorkflowId, now: Seconds) -> Seconds | None:
        """When the next of them is due."""


class Table(Rows, Protocol):
    """What giving out jobs looks at and changes."""

    @property
    def supply(self) -> Supply: ...

    def save(self, changes: Changes) -> None:
        """Writes rows and nodes, so that what is offered next is up to date."""

    def give(self, workflow: WorkflowId, taken: Sequence[Taken]) -> None:
        """They run from now on, each with a lease of its own."""


def claim(table: Table, room: Room, workflow: WorkflowId, now: Seconds) -> Seconds | None:
    """Gives jobs of a workflow to a placeholder while it has room; when those that were put off may run."""
    supply = table.supply
    traits = supply.traits(workflow)
    if not traits.special:
        taken = room.take(supply.offers(workflow, 0, room.most, room.within))
        if taken:
            table.give(workflow, [(job, cores, ()) for job, cores in taken])
        return None
    given, wake = False, None
    if not supply.is_halted(workflow):
        _wake(table, workflow, now)
        goes_on = True
        while goes_on and room.most:
            more, goes_on = _take(table, room, workflow, traits)
            given = given or more
        wake = supply.next_due(workflow, now)
    if traits.final is not None and not given and room.most:
        _call_last(table, room, workflow, traits.final)
    return wake


def _wake(table: Table, workflow: WorkflowId, now: Seconds) -> None:
    """Jobs that were put off may run once their time has come."""
    changes = Changes()
    for job in table.supply.due(workflow, now):
        row = changes.rows[workflow, job] = table.row(workflow, job)
        if row.state is State.LATER:
            row.ready()
        node = changes.nodes[row.key] = table.node(row)
        node.not_before = None
    if changes.rows:
        table.save(changes)


def _take(table: Table, room: Room, workflow: WorkflowId, traits: Traits) -> tuple[bool, bool]:
    """Gives the next jobs over all lanes. Whether there were any; and whether to look again, as more may fit.

    A node that is opened ends the round: its processes come before whatever follows it.
    """
    supply, running = table.supply, dict[str, int]()
    for lane, count in supply.running(workflow).items() if traits.lanes else ():
        category = traits.lanes[lane].category
        if category is not None:
            running[category] = running.get(category, 0) + count
    found = [offer for lane in (0, *traits.lanes) for offer in supply.offers(workflow, lane, room.most, room.within)]
    if traits.lanes:
        found.sort(key=lambda offer: offer.place)
    taken, opened, is_free = list[Taken](), Changes(), False
    for some in _rounds(found):
        wanted = [
            Candidate(
                offer,
                offer.cores,
                offer.memory,
                offer.lane,
                limit=offer.limit,
                expected=offer.expected,
                bound=offer.bound,
            )
            for offer in some
        ]
        for offer, cores in room.take(wanted, traits.lanes, running):
            category = traits.lanes[offer.lane].category if offer.lane else None
            if category is not None:
                running[category] = running.get(category, 0) + 1
            if offer.kind < Kind.NODE or not _open(table, workflow, JobId(offer.place[2]), opened):
                taken.append((offer.job, cores, traits.lanes[offer.lane].named if offer.lane else ()))
                is_free = is_free or not cores
        if opened.rows:
            break
    if taken:
        table.give(workflow, taken)
    if opened.rows:
        table.save(opened)
    return bool(taken), is_free or bool(opened.rows)


def _rounds(offers: Sequence[Candidate]) -> list[Sequence[Candidate]]:
    """Offers up to and with each node that may have processes to open: those take no cores of their own."""
    ends = [at for at, offer in enumerate(offers, 1) if not offer.cores and offer.kind == Kind.NODE]
    return [offers[first:end] for first, end in pairwise((0, *ends, len(offers)))] if ends else [offers]


def _open(table: Table, workflow: WorkflowId, job: JobId, changes: Changes) -> bool:
    """A node that is at its main step and has processes is in their hands from now on; whether it is one."""
    row = table.row(workflow, job)
    node = table.node(row)
    if not node.parts or node.step is not Step.MAIN:
        return False
    row.to(State.RUNNING)
    row.lease = None
    is_new = not node.parts_left  # else it was disabled meanwhile, and goes on with the processes that are left
    if is_new:
        node.parts_left, node.parts_failed, node.result = node.parts, 0, None
    changes.rows[row.key], changes.nodes[row.key] = row, node
    for part in table.parts(row):
        if is_new or part.state is State.DISABLED:
            part.ready()
            part.tries, part.arrival = 0 if is_new else part.tries, row.arrival
            changes.rows[part.key] = part
    return True


def _call_last(table: Table, room: Room, workflow: WorkflowId, final: JobId) -> None:
    """The last job runs when nothing else of its workflow runs or will."""
    row = table.row(workflow, final)
    if row.state is State.WAITING and not table.supply.outlook(workflow).is_under_way:
        row.waiting_for = 0
        row.ready()
        table.save(Changes(rows={row.key: row}))
    if row.state is State.ELIGIBLE:
        taken = room.take([table.supply.last(workflow, final)])
        if taken:
            table.give(workflow, [(job, cores, ()) for job, cores in taken])
