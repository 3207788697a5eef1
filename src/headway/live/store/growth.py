"""A workflow in the store grows by a job, also while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.store.places import Places
from headway.live.store.submission import Submission
from headway.live.store.text import encode
from headway.model.errors import HeadwayError, ModelError, NotFoundError, shown
from headway.model.flatten import Flat, flatten, job_name
from headway.model.job import Job
from headway.model.messages import JobId, WorkflowId
from headway.model.record import record, replace
from headway.model.states import Kind, Needs, State
from headway.model.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database
    from headway.live.store.views import Span

_WHOLE = "Submit a description of the whole workflow instead (headway submit)."


@record
class _Outline:
    """What a new job must know of its workflow."""

    size: int
    rank: int  # the worst there is
    special: bool


class Growth:
    """The part of a store that adds jobs to its workflows. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database, self._places = database, Places(database)

    def add(self, workflow: WorkflowId, group: str, deps: Sequence[str], job: Job) -> str:
        """Adds a job to a group, which is made if it is not there, and lets it wait for groups and jobs; its name.

        A group gets no further jobs once others were added after it: what waits for it may have begun.
        """
        return self._database.retried(lambda: self._added(workflow, group, deps, job))

    def _added(self, workflow: WorkflowId, group: str, deps: Sequence[str], job: Job) -> str:
        database = self._database
        with database.transaction():
            database.run("close_arcs")
            outline = self._outline(workflow)
            place = JobId(outline.size)
            before = self._places.group(workflow, group)
            parents = {self._release(workflow, self._found(workflow, group, dep)) for dep in deps}
            late, number = None, 0
            if before is not None:
                last = JobId(before.last)
                if before.last != place - 1 or self._is_awaited(workflow, last):
                    raise _closed(group)
                parents.add(last)
                number = before.last - before.first + 1
                late = self._late(workflow, last)
                self._extend(workflow, before, place)
            name = job_name(group, number)
            if self._places.place(workflow, name) is not None:
                raise ModelError(f"{shown(name)} is there already.", "Give the group another name.")
            self._write(workflow, name, job, place, outline, parents, late)
            database.news.tell(workflow)
        return name

    # --- what is there ----------------------------------------------------------------------------------------------

    def _outline(self, workflow: WorkflowId) -> _Outline:
        found = self._database.run("outline", workflow=workflow)
        if not found:
            raise NotFoundError(f"the store has no workflow {workflow}.")
        size, rank, special, has_more, _ = found[0]
        if has_more or (special and self._database.run("is_open", workflow=workflow)):
            raise HeadwayError(
                f"workflow {workflow} cannot grow: it has nodes of several processes, outside of its order, or whose"
                " submit files number them.",
                _WHOLE,
            )
        if self._database.run("left_out", workflow=workflow):
            raise HeadwayError(f"workflow {workflow} cannot grow: only a part of it was run.", "Run all of it first.")
        return _Outline(size, rank, bool(special))

    def _found(self, workflow: WorkflowId, group: str, dep: str) -> Span:
        if dep == group:
            raise ModelError(f"{shown(group)} depends on itself.", "Remove that dependency.")
        found = self._places.group(workflow, dep)
        if found is None:
            raise NotFoundError(
                f"{shown(group)} depends on {shown(dep)}, which workflow {workflow} does not have.",
                self._like(workflow, dep),
            )
        return found

    def _like(self, workflow: WorkflowId, dep: str) -> str:
        from difflib import get_close_matches

        names = [span.path for span in self._places.groups(workflow)]
        names += list(self._places.names(workflow, range(1 << 10)).values())
        close = get_close_matches(dep, names[:5000], 1)
        return f"Did you mean {shown(close[0])}?" if close else "headway status lists the groups."

    def _release(self, workflow: WorkflowId, span: Span) -> JobId:
        """The node that those who wait for a group wait for: its early release, or its end (model.flatten)."""
        last = JobId(span.last)
        late = self._database.run("late_of", workflow=workflow, job=last)
        if late:
            return JobId(late[0][0])
        if last > span.first and self._is_milestone(workflow, last):
            before = JobId(last - 1)  # of a supergroup whose subgroups were released early its release comes first
            if (
                self._is_milestone(workflow, before)
                and self._database.run("has_arc", workflow=workflow, parent=before, child=last)
                and not self._database.run("ends_at", workflow=workflow, last=before)
            ):
                return before
        return last

    def _is_awaited(self, workflow: WorkflowId, last: JobId) -> bool:
        """Whether something waits for a group already."""
        ends = {last, self._late(workflow, last) or last}
        return any(self._database.run("is_awaited", workflow=workflow, parent=one, last=last) for one in ends)

    def _is_milestone(self, workflow: WorkflowId, job: JobId) -> bool:
        ((_, kind),) = self._database.run("node_state", workflow=workflow, job=job)
        return bool(kind == Kind.MILESTONE)

    def _late(self, workflow: WorkflowId, last: JobId) -> JobId | None:
        """The early release that a further job of a group comes after; None: it has none."""
        from headway.live.store.callers import attributes_of

        late = self._database.run("late_of", workflow=workflow, job=last)
        if late:
            return JobId(late[0][0])
        return last if attributes_of(self._database, workflow, last).get("release") == "yes" else None

    # --- what is new ------------------------------------------------------------------------------------------------

    def _extend(self, workflow: WorkflowId, group: Span, place: JobId) -> None:
        """The group is one job larger, and so are those that end with it."""
        database, path = self._database, encode(group.path)
        if group.first == group.last and not database.run("group", workflow=workflow, path=path):
            ((number,),) = database.run("next_group", workflow=workflow)
            database.run("add_group", workflow=workflow, place=number, path=path, first=group.first, last=place)
            return
        if any(other != path for other, _ in database.run("ends_at", workflow=workflow, last=group.last)):
            raise ModelError(f"{shown(group.path)} has groups inside, and gets no further jobs.", _WHOLE)
        database.run("grow_group", workflow=workflow, path=path, last=place)

    def _write(
        self,
        workflow: WorkflowId,
        name: str,
        job: Job,
        place: JobId,
        outline: _Outline,
        parents: set[JobId],
        late: JobId | None,
    ) -> None:
        database = self._database
        new = alone(name, job, outline.rank, late)
        if list(new.lanes()):
            raise ModelError("a job that is added to a workflow can ask for no named resources.", _WHOLE)
        left = 0
        for parent in sorted(parents):
            ((state, _),) = database.run("node_state", workflow=workflow, job=parent)
            left += state != State.DONE
            database.run("add_arc", workflow=workflow, parent=parent, child=place, needs=int(Needs.SUCCESS))
        ((arrival,),) = database.run("arrivals", workflow=workflow)
        ((_, kind, _, rank, _, _, retries, cores, lane, memory),) = new.rows()
        state = State.WAITING if left else State.ELIGIBLE
        database.run(
            "add_job",
            workflow=workflow,
            job=place,
            kind=kind,
            state=int(state),
            rank=rank,
            arrival=arrival + 1,
            waiting_for=left,
            retries=retries,
            cores=cores,
            lane=lane,
            memory=memory,
        )
        database.run("keep_arrivals", workflow=workflow, arrivals=arrival + 1)
        ((_, encoded, time, seconds, spec),) = new.specs()
        database.run("add_spec", workflow=workflow, job=place, name=encoded, time=time, seconds=seconds, spec=spec)
        for _, begins, rules, parts, _, _ in new.nodes():
            given = {"workflow": workflow, "job": place, "begins": begins, "rules": rules, "parts": parts}
            database.run("add_node", **given, owner=None, late=late)
            database.run("set_special", workflow=workflow)
        for _, pairs in new.attributes():
            database.run("add_attributes", workflow=workflow, job=place, pairs=pairs)
        if job.affinity and parents:
            database.run("add_affinity", workflow=workflow, job=place, after=max(parents))
        database.run("touch_job", workflow=workflow, job=place)


def alone(name: str, job: Job, rank: int = 0, late: int | None = None) -> Submission:
    """A workflow of one job, in a group of its own."""
    workflow = Workflow(name)
    from headway.model.workflow import add_group

    add_group(workflow.groups, name, (), job)
    flat: Flat = flatten(workflow)
    if late is not None:
        flat = replace(flat, late={0: late})
    return Submission(name, "", "", flat, [rank])


def _closed(group: str) -> ModelError:
    return ModelError(
        f"{shown(group)} gets no further jobs: others were added to its workflow after it.",
        f"Add a new group that depends on it: mqsub -deps {group} -l {group}2 …",
    )
