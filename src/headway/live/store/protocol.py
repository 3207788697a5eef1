"""The jobs database as everything else sees it. Every method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from headway.engine.ready import Room
from headway.model.messages import PATIENCE, Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.states import State

if TYPE_CHECKING:  # a runner, which every run waits for, does without
    from headway.engine.explain import Facts
    from headway.live.store.spec import Spec
    from headway.live.store.submission import Submission
    from headway.live.store.views import (
        Attempt,
        Counted,
        Event,
        JobRow,
        Member,
        Run,
        RunningJob,
        Seen,
        Span,
        Submitted,
        Web,
    )
    from headway.model.job import Rules


class Progress(Protocol):
    """How jobs come in and move on, and the placeholders that make them."""

    def add(self, submission: Submission, now: Seconds, follows: WorkflowId | None = None) -> WorkflowId:
        """Takes a workflow in, whole or not at all.

        `follows`: the latest workflow of the same file as far as its user knows, 0 for none. If there is a later one
        it is refused, so that two who bring the same file at once do not both submit it.
        """

    def exchange(
        self,
        placeholder: PlaceholderId,
        finished: Sequence[Finish],
        room: Room,
        workflows: Sequence[WorkflowId],
        now: Seconds,
        idle: Sequence[WorkflowId] = (),
        holds: Collection[LeaseId] | None = None,
    ) -> Answer:
        """The only way a job makes progress: attempts that ended go in, and the next jobs come out.

        `idle`: workflows of which the placeholder has nothing, to be told whether they are over. `holds`: all leases
        that it has beside those that ended. That is a sign of life, and the answer says which of them are lost or to
        end; leases that it does not know of are given back.
        """

    def resume(self, workflow: WorkflowId, in_place: bool = False) -> None:
        """A workflow is run: what ended it early does not count any more. `in_place`: as a job of another."""

    def retry_failed(self, workflow: WorkflowId) -> int:
        """Failed jobs become eligible again, with all their retries; how many."""

    def enter(self, host: str, pid: int, now: Seconds, patience: Seconds = PATIENCE) -> PlaceholderId:
        """A new placeholder, and how long its silence may last before its jobs are given to others."""

    def beat(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It is still there, or there again."""

    def adopt(self, placeholder: PlaceholderId, leases: Sequence[LeaseId]) -> list[Lease]:
        """Gives attempts that go on to another placeholder; those of them that have not ended, as they were given."""

    def leave(self, placeholder: PlaceholderId, now: Seconds) -> None:
        """It ends, and gives back what it holds."""

    def reclaim(self, placeholder: PlaceholderId, now: Seconds) -> list[tuple[WorkflowId, JobId]]:
        """Jobs of placeholders that count as lost (engine.silence) as far as this one can tell are eligible again.

        A late result counts all the same, unless its job was leased, redone, disabled or edited since.
        """

    def clock(self) -> Seconds:
        """The time by the clock that all times in the store are from: its server's, if it has one."""

    def listen(self) -> None:
        """From now on this connection hears what others change, if there are others."""

    def fileno(self) -> int:
        """What to wait for: it can be read when there is something to hear. -1: nothing ever will be, or not now."""

    def heard(self) -> dict[WorkflowId, bool]:
        """The workflows that others have changed since this was last asked; True: attempts may have to end."""


class Looking(Protocol):
    """What the store knows."""

    def latest(self, source: str) -> tuple[WorkflowId, str] | None:
        """The last workflow submitted from a file, and its digest."""

    def directory(self, workflow: WorkflowId) -> str:
        """Where the jobs of a workflow run."""

    def definitions(self, workflow: WorkflowId) -> dict[str, tuple[bool, str]]:
        """Whether each job is done, and what it is: to be compared with an edited file."""

    def left_out(self, workflow: WorkflowId) -> dict[State, int]:
        """How many jobs the latest run leaves out, by their state."""

    def disabled(self, workflow: WorkflowId) -> list[str]:
        """The jobs that have not ended and that their user has disabled."""

    def counts(self, workflow: WorkflowId) -> dict[State, int]:
        """How many jobs are in each state; milestones left out."""

    def jobs(self, workflow: WorkflowId) -> list[JobRow]:
        """Every job, in order; milestones left out."""

    def failures(self, workflow: WorkflowId) -> list[tuple[str, int, int, int | None, str | None]]:
        """Failed jobs: name, place, last attempt's number, exit code and reason."""

    def attempts(self, workflow: WorkflowId) -> list[tuple[object, ...]]:
        """Every attempt: job, number, host, started, ended, exit code, memory, CPU time, reason."""

    def stop_requests(self, placeholder: PlaceholderId) -> list[tuple[LeaseId, str]]:
        """Attempts of a placeholder that are to end, and why."""

    def held(self, placeholder: PlaceholderId) -> list[LeaseId]:
        """Attempts of one placeholder that have not ended."""

    def open_leases(self, host: str | None = None) -> list[LeaseId]:
        """Attempts that have not ended, of all placeholders or of one host's."""

    def began(self, workflow: WorkflowId, job: JobId, name: str) -> Seconds | None:
        """When a job of that place and name was last started and has ended; None if it never was, or is another."""

    def lost(self, lease: LeaseId) -> tuple[str, str, Seconds] | None:
        """What an attempt at a command was about whose runner has died: spec, directory, and when it got its lease."""

    def is_under_way(self, workflow: WorkflowId) -> bool:
        """Whether something of a workflow runs or could: services do not count."""

    def returned(self, workflow: WorkflowId) -> int | None:
        """What a workflow returns that one of its jobs has ended; None if none has."""

    def final_state(self, workflow: WorkflowId) -> State | None:
        """How the job has ended that runs last, whatever happened; None if it has not run to its end."""

    def remove(self, workflow: WorkflowId) -> list[LeaseId] | None:
        """Ends a workflow but for its final job, which then runs: attempts that are to end. None: there is none."""

    def events(self, after: int = 0) -> list[Event]:
        """What happened out of the ordinary since that event."""


class Steering(Protocol):
    """How people, and jobs themselves, change what is to be done."""

    def steer(
        self, verb: str, workflow: WorkflowId, ranges: Sequence[tuple[int, int]], only: bool = False
    ) -> tuple[list[str], list[LeaseId]]:
        """Enables, disables, stops, calls done or has done anew (`redo`) the jobs from one place to another.

        The jobs that this changed, and the attempts that are to end. `only`: not what depends on them.
        """

    def say(self, lease: LeaseId, status: str) -> bool:
        """Keeps what a job says of itself; whether it still has its lease."""

    def ready(self, lease: LeaseId) -> bool:
        """A provisioner says that the rest may start; whether it is one that had not said so."""

    def miscounted(self, workflow: WorkflowId) -> list[tuple[int, int, int]]:
        """Jobs whose counters are wrong: what they say, and what counting anew says. There must never be one."""


class Watching(Protocol):
    """What people ask."""

    def workflows(self) -> list[Submitted]:
        """All there are, the latest first."""

    def given(self, workflow: WorkflowId, job: JobId, attempt: int, spec: str) -> Spec:
        """What an attempt runs or has run, with all filled in that was open before."""

    def last_run(self) -> WorkflowId | None:
        """The workflow that was run last, and is no sub-DAG; None if stores of an earlier version do not tell."""

    def leased(self) -> frozenset[WorkflowId]:
        """Those that placeholders have jobs of."""

    def seen_counts(self, workflow: WorkflowId | None = None) -> dict[WorkflowId, Counted]:
        """How many jobs of each workflow are in each state; those that wait but are switched off are disabled."""

    def groups(self, workflow: WorkflowId) -> list[Span]:
        """Groups of more than one job, supergroups before their subgroups."""

    def group(self, workflow: WorkflowId, path: str) -> Span | None:
        """A group by its path, which may be one job."""

    def place(self, workflow: WorkflowId, name: str) -> JobId | None:
        """A job by its name."""

    def seen(self, workflow: WorkflowId, first: int, last: int) -> list[Seen]:
        """The jobs from one place to another; milestones, and the processes of nodes, left out."""

    def awaited_by(self, workflow: WorkflowId, first: int, last: int) -> list[str]:
        """The jobs that those from one place to another wait for directly, or behind milestones, done or not."""

    def running(self, workflow: WorkflowId | None = None) -> list[RunningJob]:
        """What is under way, in the order it was begun."""

    def premature_starts(self, workflow: WorkflowId) -> list[tuple[str, str]]:
        """Jobs that began on an early release, and the job that failed after it."""

    def present(self, now: Seconds) -> int:
        """How many placeholders have lately given a sign of life."""

    def facts(self, workflow: WorkflowId, job: JobId, is_served: bool) -> Facts:
        """All that tells why a job does not run."""


class Remembering(Protocol):
    """What was, and how it is forgotten."""

    def runs(self) -> list[Run]:
        """Every workflow there is, in the order they were submitted."""

    def history(self, workflow: WorkflowId, job: JobId | None = None) -> list[Attempt]:
        """Every attempt at a workflow's jobs, or at one of them, in the order they were given out."""

    def last_attempt(self, workflow: WorkflowId, job: JobId) -> Attempt | None:
        """The last attempt at a job; found by its number, however long the history is."""

    def named(self, workflow: WorkflowId, name: str) -> JobId | None:
        """The place of a job, or of one of a node's processes."""

    def member(self, workflow: WorkflowId, job: JobId) -> Member:
        """One job, and what it runs."""

    def web(self, workflow: WorkflowId) -> Web:
        """All jobs and milestones of a workflow, and the arcs between them."""

    def part_rules(self, workflow: WorkflowId) -> dict[JobId, Rules]:
        """The rules of processes that are tried again by what their own submit description says."""

    def forget(self, workflows: Sequence[WorkflowId]) -> None:
        """Removes workflows and all that is known of them, all or none; refused while a job of theirs runs.

        Numbers of workflows and leases are not used again, so that whoever still remembers one finds nothing.
        """

    def shrink(self) -> None:
        """Gives back the room of what was forgotten."""


class Working(Progress, Looking, Protocol):
    """The jobs database as those see it who run jobs. `id` is the mark that its jobs carry."""

    @property
    def id(self) -> str: ...

    @property
    def is_shared(self) -> bool:
        """Whether placeholders of other hosts may use it at the same time."""

    @property
    def remark(self) -> str:
        """A sentence, if what is shown may be out of date."""

    def close(self) -> None: ...


class Store(Working, Steering, Watching, Remembering, Protocol):
    """The jobs database, all of it."""
