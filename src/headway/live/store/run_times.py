"""What jobs run, how large their input is, and how long they are expected to take at each site."""

from __future__ import annotations

from collections.abc import Iterable

from headway.engine.run_times import Ran, RunTimes, program_of
from headway.live.store.spec import Spec
from headway.live.store.text import decode, encode
from headway.model.messages import JobId, Seconds, WorkflowId
from headway.model.states import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

LATEST = 10_000  # attempts that are learnt from


class ExpectedRunTimes:
    """The part of a store that knows them. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def learnt(self) -> RunTimes:
        """What the latest attempts teach that ended well, of workflows of this user."""
        found = self._database.run("ran", most=LATEST, owner=encode(self._database.owner), step=int(Step.MAIN))
        return RunTimes(
            Ran(
                program_of(Spec.read(spec).command) if program is None else decode(program), decode(site), seconds, size
            )
            for program, spec, site, seconds, size in found
            if seconds >= 0
        )

    def note(self, workflow: WorkflowId, jobs: Iterable[tuple[JobId, str, int | None]]) -> None:
        """What each job runs, and the bytes of its input; what was noted before does not count any more."""
        rows = [{"workflow": workflow, "job": job, "program": encode(name), "bytes": size} for job, name, size in jobs]
        with self._database.transaction():
            self._database.many("note_work", rows)

    def expect(self, workflow: WorkflowId, jobs: Iterable[tuple[JobId, str, Seconds]]) -> None:
        """How long each job is expected to take at a site. All that was expected before is forgotten."""
        rows = [{"workflow": workflow, "job": job, "site": encode(site), "seconds": time} for job, site, time in jobs]
        with self._database.transaction():
            self._database.run("forget_expected", workflow=workflow)
            self._database.many("expect", rows)


def _program(noted: str | None, spec: str) -> str:
    """What an attempt ran: as it was noted, else by its command."""
    return program_of(Spec.read(spec).command) if noted is None else decode(noted)
