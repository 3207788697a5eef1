"""What a run will do with each job, and why: the answer of a dry run, and what a store is told before a real one.

An earlier run may have left jobs done, failed or begun; the user may want only a part of the workflow; and what make
calls up to date need not run. All that is weighed here, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from headway.model.errors import unquoted
from headway.model.flatten import Flat
from headway.model.part import WHOLE, Part
from headway.model.record import field, record
from headway.model.states import State


class Why(StrEnum):
    """Why a job runs or does not, as `--json` says it."""

    NEW = "new"
    BEGUN = "begun"
    EDITED = "edited"
    RETRIED = "retried"
    ASKED = "asked"
    AFTER = "after"
    OUTDATED = "outdated"
    RUNNING = "running"
    DONE = "done"
    UP_TO_DATE = "up-to-date"
    TAKEN_AS_DONE = "taken-as-done"
    FAILED = "failed"
    DISABLED = "disabled"
    BLOCKED = "blocked"
    LEFT_OUT = "left-out"


RUNS = frozenset({Why.NEW, Why.BEGUN, Why.EDITED, Why.RETRIED, Why.ASKED, Why.AFTER, Why.OUTDATED})
_SETTLED = RUNS | {Why.RUNNING, Why.DONE, Why.UP_TO_DATE, Why.TAKEN_AS_DONE}  # no reason for others not to run
_SENTENCES = {
    Why.NEW: "never run",
    Why.BEGUN: "begun before, and not done",
    Why.EDITED: "done before, but it or what it follows was edited",
    Why.RETRIED: "failed before, and --retry",
    Why.ASKED: "asked for by --from",
    Why.AFTER: "after {}, which runs",
    Why.OUTDATED: "{}",
    Why.RUNNING: "runs already",
    Why.DONE: "done by an earlier run",
    Why.UP_TO_DATE: "up to date",
    Why.TAKEN_AS_DONE: "taken as done: before --from",
    Why.FAILED: "failed before; --retry tries it again",
    Why.DISABLED: "disabled",
    Why.BLOCKED: "after {}, which {}",
    Why.LEFT_OUT: "not asked for",
}
_BLAME = {Why.FAILED: "failed before", Why.DISABLED: "is disabled", Why.LEFT_OUT: "is not asked for"}


@record
class Verdict:
    """What happens to one job."""

    why: Why
    because: str = ""  # the job that is the reason, or make's words
    blamed: Why = Why.FAILED  # why that job does not run

    @property
    def runs(self) -> bool:
        return self.why in RUNS

    @property
    def reason(self) -> str:
        said = self.because if self.why is Why.OUTDATED else unquoted(self.because)
        return _SENTENCES[self.why].format(said, _BLAME.get(self.blamed, ""))


@record
class Known:
    """How far an earlier run has got with a job."""

    state: State = State.WAITING
    begun: bool = False  # it was started at least once
    off: bool = False  # its user has disabled it
    edited: bool = False  # it was done, in a file that has been edited since


NEVER = Known()


@record
class Judged:
    """What make says of the jobs: those it would not run now, and those it would though they are done, with why."""

    up_to_date: frozenset[int] = field(default_factory=frozenset)
    outdated: Mapping[int, str] = field(default_factory=dict)


UNJUDGED = Judged()


@record
class Plan:
    """What happens to each node (None: a milestone), and what of that a store does not know by itself."""

    verdicts: Sequence[Verdict | None]
    anew: frozenset[int]  # done or failed, and run again
    done: frozenset[int]  # count as done though they never ran
    left_out: frozenset[int]  # not done, and not to be run now
    assumed: frozenset[int]  # those of them that hold up nobody

    @property
    def is_plain(self) -> bool:
        """Whether the store needs no word about it."""
        return not (self.anew or self.done or self.left_out)


def plan(
    flat: Flat,
    known: Mapping[int, Known],
    part: Part = WHOLE,
    judged: Judged = UNJUDGED,
    retry: bool = False,
) -> Plan:
    """What happens to each job of a workflow, parents before children."""
    planner = _Planner(flat, known, part, judged, retry)
    for node in flat.dag.order:
        planner.look_at(node)
    verdicts, jobs = planner.verdicts, [*flat.dag.jobs()]
    left_out = frozenset(
        node
        for node in jobs
        if (said := verdicts[node]) is not None
        and not part.wants(node)
        and said.why not in (Why.DONE, Why.UP_TO_DATE, Why.RUNNING)
    )
    return Plan(
        verdicts,
        frozenset(planner.anew),
        frozenset(n for n in jobs if (said := verdicts[n]) is not None and said.why is Why.UP_TO_DATE),
        left_out,
        left_out & part.assumed,
    )


_ENDED = (State.DONE, State.FAILED)


class _Planner:
    def __init__(self, flat: Flat, known: Mapping[int, Known], part: Part, judged: Judged, retry: bool) -> None:
        self.flat = flat
        self.known = known
        self.part = part
        self.judged = judged
        self.retry = retry
        self.verdicts: list[Verdict | None] = [None] * len(flat.dag)
        self.anew: set[int] = set()
        self.blocked_by: dict[int, int] = {}  # a node that is not settled: the job that is to blame
        self.renewed_by: dict[int, int] = {}  # a node below a job that runs again: that job

    def look_at(self, node: int) -> None:
        names, blame = self.flat.dag.names, self.blame(node)
        renewed = next((self.renewed_by[one] for one in self.flat.dag.parents_of(node) if one in self.renewed_by), None)
        if renewed is not None:
            self.renewed_by[node] = renewed
        if self.flat.jobs[node] is None:
            if blame is not None:
                self.blocked_by[node] = blame
            return
        again = self.again(node, None if renewed is None else names[renewed])
        said = self.verdicts[node] = self.verdict(node, again, blame)
        if again is not None:
            self.renewed_by[node] = node
            if self.known.get(node, NEVER).state in _ENDED:
                self.anew.add(node)
        if said.why not in _SETTLED:
            self.blocked_by[node] = blame if said.why is Why.BLOCKED and blame is not None else node

    def blame(self, node: int) -> int | None:
        """The job that a node waits for in vain, if there is one; a weak arc only wants its parent to have ended."""
        for parent in self.flat.dag.parents_of(node):
            blame = self.blocked_by.get(parent)
            if blame is None:
                continue
            if (parent, node) in self.flat.weak and self.has_failed(parent):
                continue
            return blame
        return None

    def has_failed(self, node: int) -> bool:
        """Whether a job has failed and stays so: also one that would be tried again if its user had not disabled it."""
        said = self.verdicts[node]
        if said is not None and said.why is Why.DISABLED:
            return self.known.get(node, NEVER).state is State.FAILED and node not in self.anew
        return said is not None and said.why is Why.FAILED

    def again(self, node: int, renewed: str | None) -> Verdict | None:
        """Why a job runs whether or not it is done, if it does."""
        if node in self.part.begun:
            return Verdict(Why.ASKED)
        if node in self.judged.outdated and self.part.wants(node):
            return Verdict(Why.OUTDATED, self.judged.outdated[node])
        if renewed is None:
            return None
        state = self.known.get(node, NEVER).state
        if node in self.part.anew:
            return Verdict(Why.AFTER, renewed) if state in _ENDED or self.is_up_to_date(node) else None
        return Verdict(Why.AFTER, renewed) if state is State.FAILED and self.part.wants(node) else None

    def is_up_to_date(self, node: int) -> bool:
        """Whether make says so, and can know: what was begun and not ended may have left half a file."""
        return node in self.judged.up_to_date and not self.known.get(node, NEVER).begun

    def verdict(self, node: int, again: Verdict | None, blame: int | None) -> Verdict:
        known = self.known.get(node, NEVER)
        if known.state is State.RUNNING:
            return Verdict(Why.RUNNING)
        if known.state is State.DONE and again is None:
            return Verdict(Why.DONE)
        if not self.part.wants(node):
            return Verdict(Why.TAKEN_AS_DONE if node in self.part.assumed else Why.LEFT_OUT)
        if again is None and self.is_up_to_date(node):
            return Verdict(Why.UP_TO_DATE)
        if known.state is State.FAILED and again is None and not self.retry:
            return Verdict(Why.FAILED)
        if known.off:
            return Verdict(Why.DISABLED)
        if blame is not None:
            cause = self.verdicts[blame]
            return Verdict(Why.BLOCKED, self.flat.dag.names[blame], Why.FAILED if cause is None else cause.why)
        return again or self.plain(known)

    def plain(self, known: Known) -> Verdict:
        if known.state is State.FAILED:
            return Verdict(Why.RETRIED)
        return Verdict(Why.EDITED if known.edited else Why.BEGUN if known.begun else Why.NEW)
