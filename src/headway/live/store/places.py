"""Groups and jobs of a workflow, by their names and places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from headway.live.store.rows import STATES, names
from headway.live.store.text import decode, encode
from headway.live.store.views import Seen, Span
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database

MANY = 1000  # names that are not looked for one by one


class Places:
    """A group is the jobs from one place to another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self, workflow: WorkflowId) -> list[Span]:
        """Groups of more than one job, supergroups before their subgroups."""
        return [
            Span(decode(path), first, last) for path, first, last in self._database.run("groups", workflow=workflow)
        ]

    def group(self, workflow: WorkflowId, path: str) -> Span | None:
        """A group by its path, which may be one job."""
        found = self._database.run("group", workflow=workflow, path=encode(path))
        if found:
            return Span(path, *found[0][1:])
        place = self.place(workflow, path)
        return None if place is None else Span(path, place, place)

    def place(self, workflow: WorkflowId, name: str) -> JobId | None:
        """A job by its name."""
        found = self._database.run("job_named", workflow=workflow, name=encode(name))
        return JobId(found[0][1]) if found else None

    def seen(self, workflow: WorkflowId, first: int, last: int) -> list[Seen]:
        """The jobs from one place to another; milestones, and the processes of nodes, left out."""
        return [
            Seen(JobId(job), decode(name), STATES[state], bool(off), lease)
            for job, name, state, off, lease in self._database.run("seen", workflow=workflow, first=first, last=last)
        ]

    def names(self, workflow: WorkflowId, jobs: Sequence[int]) -> dict[int, str]:
        """Of some jobs; of all of them if they are many."""
        if len(jobs) > MANY:
            found = self._database.run("names", workflow=workflow)
        else:
            found = self._database.run("some_names", workflow=workflow, jobs=self._database.array(jobs))
        return {job: decode(name) for job, name in found}

    def awaited_by(self, workflow: WorkflowId, first: int, last: int) -> list[str]:
        """The jobs that those from one place to another wait for directly, or behind milestones, done or not."""
        parents: dict[int, list[int]] = {}
        for parent, child, _ in self._database.run("all_arcs", workflow=workflow):
            parents.setdefault(child, []).append(parent)
        milestones = {job for job, kind in self._database.run("kinds", workflow=workflow) if kind == Kind.MILESTONE}
        inside = range(first, last + 1)
        found = reached(inside, lambda at: parents.get(at, ()) if at in inside or at in milestones else ())
        called = names(self._database, workflow)
        return [called[JobId(job)] for job in sorted(found - set(inside) - milestones)]


def reached(begin: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    """Where one comes to, step by step; the beginning too."""
    found = set(begin)
    stack = list(found)
    while stack:
        new = set(following(stack.pop())) - found
        found |= new
        stack += new
    return found
