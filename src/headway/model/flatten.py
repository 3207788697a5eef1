"""Groups to Dag. The only place that knows what a group means.

A group runs prologue, subgroups, own jobs, epilogue. Whoever waits for it waits for its *release*: the first of its
jobs with `release=yes` (not of its prologue, which is a group of its own), else its end. A supergroup without jobs of
its own ends in a milestone, so an arrow between two supergroups is one milestone and not every pair of their jobs;
early release passes through that milestone.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise

from headway.model.dag import Dag
from headway.model.errors import CycleError, InputError, ModelError, shown
from headway.model.job import Job
from headway.model.record import field, mutable, record
from headway.model.workflow import Group, Members, Workflow

PROLOGUE = "_prologue"
EPILOGUE = "_epilogue"


@record
class Flat:
    """A workflow as a graph: the dag, and the job behind each of its nodes (None: a milestone)."""

    dag: Dag
    jobs: Sequence[Job | None]
    weak: frozenset[tuple[int, int]]  # arcs that need the parent ended, not succeeded
    groups: Sequence[tuple[str, int, int]] = ()  # those of more than one node: path, first and last of its nodes
    late: Mapping[int, int] = field(default_factory=dict)  # nodes after an early release, and what was released


def flatten(workflow: Workflow) -> Flat:
    """The graph of a workflow; its special nodes (final, provisioner, services) stay outside."""
    build = _Builder()
    try:
        build.level(workflow.groups, "", None, 1)
        build.check_names()
        return build.flat()
    except CycleError as error:
        raise _placed(workflow, error) from None
    except ModelError as error:
        if not workflow.source:
            raise
        raise InputError(workflow.source, 1, error.what, error.fix) from None


def job_name(path: str, number: int) -> str:
    """The name of a group's n-th job, counted from 0: the group's own for the first."""
    return path if number == 0 else f"{path}#{number + 1}"


DEEPEST = 100  # levels of groups in groups; far more than anyone means


@mutable
class _Ends:
    """Where the groups of one level can be waited for, by their place; arrays, since there may be a million."""

    entry: array[int]  # what must wait for whatever the group waits for
    release: array[int]  # what dependent groups wait for
    last: array[int]  # done when all of the group is


class _Builder:
    def __init__(self) -> None:
        self.names: list[str] = []
        self.jobs: list[Job | None] = []
        self.milestones = bytearray()
        self.arcs_from = array("i")
        self.arcs_to = array("i")
        self.weak: set[tuple[int, int]] = set()
        self.groups: list[tuple[str, int, int]] = []
        self.late: dict[int, int] = {}
        self.timed = False
        self.derived = False  # some job's name was made here, so it might be taken

    def node(self, name: str, job: Job | None) -> int:
        self.names.append(name)
        self.jobs.append(job)
        self.milestones.append(job is None)
        if job is not None and job.seconds is not None:
            self.timed = True
        return len(self.names) - 1

    def arc(self, parent: int, child: int) -> None:
        self.arcs_from.append(parent)
        self.arcs_to.append(child)

    def level(self, members: Members, prefix: str, before: int | None, depth: int) -> _Ends:
        """All groups of one level; those that wait for no other wait for `before`."""
        if depth > DEEPEST:
            raise ModelError(f"groups are nested over {DEEPEST} levels deep.", "Use fewer levels.")
        self.derived = self.derived or bool(prefix)
        ends = _Ends(array("i"), array("i"), array("i"))
        for group in members:
            path = prefix + group.name if prefix else group.name
            if not group.members and not group.prologue and not group.epilogue and len(group.jobs) < 2:
                entry = release = last = self.node(path, group.jobs[0] if group.jobs else None)
            else:
                first, at = len(self.names), len(self.groups)
                self.groups.append((path, first, first))  # supergroups before their subgroups
                entry, release, last = self.group(group, path, depth)
                self.groups[at] = (path, first, len(self.names) - 1)
            ends.entry.append(entry)
            ends.release.append(release)
            ends.last.append(last)
        self.arcs_from.extend(map(ends.release.__getitem__, members.parents))
        self.arcs_to.extend(map(ends.entry.__getitem__, members.children))
        if members.weak:
            self.weaken(members, ends)
        if before is not None:
            waiting = set(members.children)
            for at, entry in enumerate(ends.entry):
                if at not in waiting:
                    self.arc(before, entry)
        return ends

    def weaken(self, members: Members, ends: _Ends) -> None:
        """Marks weak arcs; a strong arc on the same pair wins."""
        strong: set[tuple[int, int]] = set()
        for at, (parent, child) in enumerate(zip(members.parents, members.children, strict=True)):
            pair = ends.release[parent], ends.entry[child]
            (self.weak if at in members.weak else strong).add(pair)
        self.weak -= strong

    def chain(self, path: str, jobs: Sequence[Job], after: int | None = None) -> list[int]:
        """Jobs one after the other, the first after a node if one is given."""
        self.derived = self.derived or bool(jobs)
        nodes = [self.node(job_name(path, number), job) for number, job in enumerate(jobs)]
        for parent, child in pairwise(nodes):
            self.arc(parent, child)
        if nodes and after is not None:
            self.arc(after, nodes[0])
        return nodes

    def group(self, group: Group, path: str, depth: int) -> tuple[int, int, int]:
        """Entry, release and last node of a group that is more than one job."""
        before = self.chain(path + PROLOGUE, group.prologue)
        if not group.members:
            own = self.own_jobs(group, path, before[-1] if before else None)
            nodes = before + own
            return nodes[0], self.released(group, own) if own else nodes[-1], nodes[-1]
        if not before:
            before = [self.node(path, None)]
        inner = self.level(group.members, path + "/", before[-1], depth + 1)
        parents = set(group.members.parents)
        terminal = [at for at in range(len(group.members)) if at not in parents]
        # Early released subgroups are not done when their dependents are.
        late = [at for at, last in enumerate(inner.last) if last != inner.release[at]]
        own = self.own_jobs(group, path, None)
        if own:
            for node in dict.fromkeys(inner.last[at] for at in terminal + late):
                self.arc(node, own[0])
            return before[0], self.released(group, own), own[-1]
        release = last = self.node(path, None)
        for at in terminal:
            self.arc(inner.release[at], release)
        if late:
            last = self.node(path, None)
            self.arc(release, last)
            for at in late:
                self.arc(inner.last[at], last)
        return before[0], release, last

    def own_jobs(self, group: Group, path: str, after: int | None) -> list[int]:
        """The group's jobs and its epilogue, one after the other."""
        jobs = self.chain(path, group.jobs, after)
        return jobs + self.chain(path + EPILOGUE, group.epilogue, jobs[-1] if jobs else after)

    def released(self, group: Group, own: Sequence[int]) -> int:
        """The first job with release=yes lets dependents go on; without one it is the last job."""
        jobs = [*group.jobs, *group.epilogue]
        for at, (job, node) in enumerate(zip(jobs, own, strict=True)):
            if job.release:
                self.late.update(dict.fromkeys(own[at + 1 :], node))
                return node
        return own[-1]

    def check_names(self) -> None:
        """Names made here must not meet names that users gave."""
        if not self.derived:
            return
        seen: set[str] = set()
        for name, job in zip(self.names, self.jobs, strict=True):
            if job is not None:
                if name in seen:
                    raise ModelError(f"two jobs are called {shown(name)}.", "Rename one of the groups.")
                seen.add(name)

    def flat(self) -> Flat:
        seconds = [job.seconds if job is not None else None for job in self.jobs] if self.timed else None
        dag = Dag(self.names, self.arcs_from, self.arcs_to, seconds, bytes(self.milestones))
        return Flat(dag, self.jobs, frozenset(self.weak), self.groups, self.late)


def _placed(workflow: Workflow, error: CycleError) -> ModelError | InputError:
    """The cycle told in groups, as its user wrote it, and where one of its arcs was read."""
    for path, members in _levels(workflow):
        names = [path + group.name for group in members]
        try:
            Dag(names, members.parents, members.children)
        except CycleError as cycle:
            if not workflow.source:
                return cycle
            return InputError(workflow.source, _line(members, names, cycle.names), cycle.what, cycle.fix)
    return error


def _levels(workflow: Workflow) -> list[tuple[str, Members]]:
    inner = [(path + "/", group.members) for path, group in workflow.walk() if group.members is not None]
    return [("", workflow.groups), *inner]


def _line(members: Members, names: list[str], cycle: list[str]) -> int:
    """The line that closes the cycle: until it was read there was none."""
    following = dict(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    first: dict[int, int] = {}  # where each arc of the cycle was first read
    for parent, child, line in zip(members.parents, members.children, members.lines, strict=True):
        if following.get(names[parent]) == names[child]:
            first.setdefault(parent, line)
    return max(first.values(), default=1)
