"""A workflow as its owner sees it: what is reserved where, what is still to be reserved, and when that must happen."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from headway.engine.peering.messages import PieceId, Request, Submit
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import Key
from headway.model.dag import Dag
from headway.model.record import field, mutable, replace
from headway.policies.by_when.sequences import Decomposition, decomposition
from headway.policies.by_when.summary import class_for_all
from headway.policies.by_when.windows import Window, Windows

ASKING, HELD, ACCEPTED = "asking", "held", "accepted"


@mutable
class Place:
    """Jobs of a piece at a leaf."""

    leaf: int
    jobs: list[int]
    committed: bool = False
    heard: int = 0


@mutable
class Plan:
    """One try at reserving room for some jobs of a workflow."""

    attempt: int
    jobs: list[int]  # of the workflow, by their numbers in the plan
    dag: Dag
    cut: Decomposition
    windows: Windows
    begun: int
    waits: list[int]  # for each sequence, how many it waits for that are not reserved
    then: list[list[int]]  # for each sequence, those that wait for it
    left: list[int]  # jobs of each sequence that have no offer
    pieces: dict[PieceId, Place] = field(default_factory=dict)
    open: dict[int, tuple[Request, int]] = field(default_factory=dict)  # of sequences without an answer: what, and when
    asked: int = 0  # when something was sent last
    renew_at: int = 0  # when what is held is renewed next
    hops: int = 0
    splits: int = 0

    @property
    def reserved(self) -> bool:
        return not any(self.left)


class Flow:
    """A workflow of this owner."""

    def __init__(self, body: Submit, now: int, power: int) -> None:
        self.id, self.works, self.deadline, self.power = body.workflow, body.works, body.deadline, power
        self.needed = body.needed or (0,) * len(body.works)
        self.parents: list[list[int]] = [[] for _ in body.works]
        self.children: list[list[int]] = [[] for _ in body.works]
        for one, other in body.arcs:
            self.parents[other].append(one)
            self.children[one].append(other)
        self.submitted, self.accepted = now, False
        self.done: dict[int, int] = {}  # when each job ended
        self.where: dict[int, PieceId] = {}  # of jobs that are reserved and have not ended
        self.ends: dict[int, int] = {}  # when each of them will have ended at the latest
        self.pieces: dict[PieceId, Place] = {}  # what is committed to, or about to be
        self.plan: Plan | None = None
        self.attempts = self.serial = 0
        self.retry_at = -1
        self.to_plan: set[int] = set(range(len(body.works)))

    def times(self) -> list[int]:
        """Milliseconds of each job on the owner's node, memory and disk left aside."""
        return [max(1, -(-work // self.power)) for work in self.works]

    def missing(self, lost: Collection[int]) -> set[int]:
        """Jobs that are lost, and all after them, which must be planned again."""
        found, stack = set[int](), [job for job in lost if job not in self.done]
        while stack:
            job = stack.pop()
            if job not in found:
                found.add(job)
                stack.extend(self.children[job])
        return found

    def planned(self, now: int, wait: int, notice: int, attempt: int = 0) -> Plan:
        """A plan for what is to be planned, that begins after the time its stages are expected to take.

        `attempt`: that of a plan which was made before a crash.
        """
        jobs = sorted(job for job in self.to_plan if job not in self.done)
        number = {job: at for at, job in enumerate(jobs)}
        pairs = [(number[one], number[other]) for one in jobs for other in self.children[one] if other in number]
        times = self.times()
        dag = Dag([str(job) for job in jobs], [one for one, _ in pairs], [other for _, other in pairs])
        lengths = [times[job] for job in jobs]
        cut = decomposition(dag, lengths)
        start = now + wait * max(cut.width, 1)
        before = [
            max(
                (self.ends[one] + notice for one in self.parents[job] if one in self.ends and one not in self.done),
                default=start,
            )
            for job in jobs
        ]
        windows = Windows(dag, cut, lengths, start, self.deadline - notice, notice, before)  # its owner hears of it
        waits, then = waiting(dag, cut)
        self.serial = attempt or self.serial + 1
        left = [len(sequence) for sequence in cut.sequences]
        return Plan(self.serial, jobs, dag, cut, windows, now, waits, then, left, asked=now)

    def ready(self, place: Place) -> tuple[int, ...]:
        """Jobs of a piece that can run with what is at its node."""
        return tuple(job for job in place.jobs if self.has_inputs(job))

    def has_inputs(self, job: int) -> bool:
        """Whether all that a job needs from other nodes is there; what its own piece makes is at its node."""
        piece = self.where.get(job)
        return all(parent in self.done or self.where.get(parent) == piece for parent in self.parents[job])


def waiting(dag: Dag, cut: Decomposition) -> tuple[list[int], list[list[int]]]:
    """Which sequences wait for which: a later one for every earlier one that it is joined to."""
    pairs = {tuple(sorted((cut.sequence_of[one], cut.sequence_of[other]))) for one, other in dag.arcs()}
    waits, then = [0] * len(cut.sequences), [list[int]() for _ in cut.sequences]
    for first, second in sorted(pairs):
        if first != second:
            waits[second] += 1
            then[first].append(second)
    return waits, then


def asked(flow: Flow, plan: Plan, number: int, peer: int, low: Key, now: int, settings: Settings) -> Request:
    """What asks for room for a sequence. From now on it has no answer."""
    bounds = plan.windows.floating(number)
    jobs = [plan.jobs[at] for at in plan.cut.sequences[number]]
    rows = tuple((job, flow.works[job], *bound) for job, bound in zip(jobs, bounds, strict=True))
    piece = (peer, flow.id, plan.attempt, jobs[0])
    needed = class_for_all(flow.needed[job] for job in jobs)
    request = Request(piece, rows, bounds[0][0], bounds[-1][1], now + settings.answer, low, needed)
    plan.asked = now
    plan.open[number] = request, now
    return request


def repeated(plan: Plan, now: int, settings: Settings) -> list[Request]:
    """What has had no answer for so long that it is asked again, on another way: somebody on it may be dead."""
    found = []
    for number, (request, at) in plan.open.items():
        if now >= at + settings.repeat:
            times = (request.repeated or 0) + 1
            found.append(replace(request, expires=now + settings.answer, repeated=times))
            plan.open[number] = found[-1], now
    return found


def is_asked_for(plan: Plan, jobs: Sequence[tuple[int, int]]) -> bool:
    """Whether room was asked for these jobs, and nobody holds some for any of them yet."""
    number = {job: at for at, job in enumerate(plan.jobs)}
    held = {job for place in plan.pieces.values() for job in place.jobs}
    told = {job for job, _ in jobs}
    return len(told) == len(jobs) > 0 and all(
        number.get(job, -1) in plan.windows.pinned and job not in held for job in told
    )


def offered(plan: Plan, jobs: Sequence[tuple[int, int]]) -> list[int]:
    """Takes in what a leaf promises; the sequences that are reserved whole by it."""
    found, number = [], {job: at for at, job in enumerate(plan.jobs)}
    for job, end in jobs:
        at = number[job]
        window = plan.windows.pinned[at]
        plan.windows.pin(at, Window(window.start, min(window.end, end)))
        sequence = plan.cut.sequence_of[at]
        plan.open.pop(sequence, None)
        plan.left[sequence] -= 1
        if not plan.left[sequence]:
            found.append(sequence)
    return found
