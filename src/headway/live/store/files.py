"""The files that jobs declare: what is copied to a site before a job begins there, and home when it has ended."""

from __future__ import annotations

import json
from collections.abc import Iterable

from headway.live.store.text import decode, encode
from headway.model.messages import JobId, LeaseId, WorkflowId
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database


@record
class Declared:
    """The files of one job, as paths below the folder of its workflow."""

    inputs: tuple[str, ...] = ()  # its program among them
    outputs: tuple[str, ...] = ()


NONE = Declared()


class DeclaredFiles:
    """The part of a store that knows them. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def declare(self, workflow: WorkflowId, files: Iterable[tuple[JobId, Declared]]) -> None:
        """Keeps what jobs declare; what was kept of them before does not count any more."""
        rows = [
            {"workflow": workflow, "job": job, "inputs": _text(one.inputs), "outputs": _text(one.outputs)}
            for job, one in files
        ]
        with self._database.transaction():
            self._database.many("declare_files", rows)

    def of(self, workflow: WorkflowId, job: JobId) -> Declared:
        found = self._database.run("files", workflow=workflow, job=job)
        return Declared(*map(_paths, found[0])) if found else NONE

    def of_lease(self, lease: LeaseId) -> tuple[WorkflowId, Declared] | None:
        """The same for the job of an attempt, with its workflow; None: there is no such attempt."""
        found = self._database.run("leased_job", lease=lease)
        return (WorkflowId(found[0][0]), self.of(WorkflowId(found[0][0]), JobId(found[0][1]))) if found else None


def _text(paths: Iterable[str]) -> str:
    return json.dumps([encode(path) for path in paths])


def _paths(text: str) -> tuple[str, ...]:
    return tuple(decode(path) for path in json.loads(text))
