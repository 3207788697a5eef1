"""How far a workflow is."""

from __future__ import annotations

from headway.engine.outlook import is_decisive, result
from headway.live.store.giving import outlook, traits
from headway.live.store.rows import STATES, row
from headway.live.store.text import decode, encode
from headway.model.messages import LOCAL, JobId, Seconds, WorkflowId
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database
    from headway.live.store.views import JobRow


class Progress:
    """What a run asks about its workflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def counts(self, workflow: WorkflowId) -> dict[State, int]:
        """How many jobs are in each state; milestones left out."""
        return {State(state): count for state, count in self._database.run("counts", workflow=workflow)}

    def left_out(self, workflow: WorkflowId) -> dict[State, int]:
        """How many jobs the latest run leaves out, by their state."""
        return {STATES[state]: count for state, count in self._database.run("left_out", workflow=workflow)}

    def disabled(self, workflow: WorkflowId) -> list[str]:
        """The jobs that have not ended and that their user has disabled."""
        return [decode(name) for (name,) in self._database.run("disabled", workflow=workflow)]

    def jobs(self, workflow: WorkflowId) -> list[JobRow]:
        """Every job, in order; milestones left out."""
        from headway.live.store.views import JobRow

        return [
            JobRow(job, decode(name), STATES[state], rank, waiting_for, attempts)
            for job, name, state, rank, waiting_for, attempts in self._database.run("jobs", workflow=workflow)
        ]

    def failures(self, workflow: WorkflowId) -> list[tuple[str, int, int, int | None, str | None, str, str]]:
        """Failed jobs: name, place, last attempt's number, exit code, reason, site, and its runner's folder there."""
        return [
            (
                *(decode(name), job, number, exit_code, None if reason is None else decode(reason)),
                *(decode(site or LOCAL), decode(home or "")),
            )
            for name, job, number, exit_code, reason, site, home in self._database.run("failures", workflow=workflow)
        ]

    def attempts(self, workflow: WorkflowId) -> list[tuple[object, ...]]:
        """Every attempt: job, number, host, started, ended, exit code, memory, CPU time, reason."""
        return [
            (decode(name), number, decode(host), *numbers, None if reason is None else decode(reason))
            for name, number, host, *numbers, reason in self._database.run("attempts", workflow=workflow)
        ]

    def began(self, workflow: WorkflowId, job: JobId, name: str) -> Seconds | None:
        """When a job of that place and name was last started and has ended; None if it never was, or is another."""
        found = self._database.run("began", workflow=workflow, job=job, name=encode(name))
        return found[0][0] if found else None

    def is_under_way(self, workflow: WorkflowId) -> bool:
        """Whether something of a workflow runs or could: services do not count."""
        return outlook(self._database, workflow).is_under_way

    def returned(self, workflow: WorkflowId) -> int | None:
        """What a workflow returns that one of its jobs has ended; None if none has."""
        found = self._database.run("halted", workflow=workflow)
        if not found or found[0][1] is None:
            return None
        halted, returns = found[0]
        return result(bool(halted), returns, self.counts(workflow).keys() <= {State.DONE})

    def final_state(self, workflow: WorkflowId) -> State | None:
        """How the job has ended that runs last, whatever happened; None if it has not run to its end."""
        final = traits(self._database, workflow).final
        if final is None:
            return None
        last = row(self._database.run("job", workflow=workflow, job=final)[0])
        return last.state if is_decisive(last) else None
