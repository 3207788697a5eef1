"""A workflow as its user thinks of it: TrellisDAG's groups of jobs, and the arcs between groups.

A million jobs must fit into memory, so arcs are pairs of integers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from headway.model.errors import ModelError, shown
from headway.model.job import Job, Pairs
from headway.model.record import field, mutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Command = str | Sequence[object]  # a line for sh, or a program and its arguments


class Members:
    """Groups of one level, by name and in order, and the arcs between them."""

    __slots__ = ("_index", "children", "groups", "lines", "parents", "place", "weak")

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self._index: dict[str, int] = {}
        self.place = self._index.get  # the place of a group in `groups`, by its name; None if it is not there
        self.parents = array("i")
        self.children = array("i")
        self.lines = array("i")  # where each arc was read, 0 if nowhere
        self.weak: set[int] = set()  # arcs (their place in the arrays) that need their parent ended, not succeeded

    def __getstate__(self) -> tuple[object, ...]:
        """All but `place`, which belongs to the index of this very object: for copies and pickles."""
        return self.groups, self._index, self.parents, self.children, self.lines, self.weak

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.groups, self._index, self.parents, self.children, self.lines, self.weak = state
        self.place = self._index.get

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Members):
            return NotImplemented
        return self.groups == other.groups and self._arc_set() == other._arc_set()

    def _arc_set(self) -> set[tuple[str, str, bool]]:
        return {(parent.name, child.name, weak) for parent, child, weak in self.arcs()}

    def add(self, group: Group) -> int:
        """Adds a group at the end; its place."""
        at = len(self.groups)
        if self._index.setdefault(group.name, at) != at:
            raise ModelError(f"group {shown(group.name)} is there already.", "Give it another name.")
        self.groups.append(group)
        return at

    def get(self, name: str) -> Group | None:
        at = self._index.get(name)
        return None if at is None else self.groups[at]

    def arc(self, parent: int, child: int, line: int = 0, weak: bool = False) -> None:
        """The group at `child` waits for the group at `parent`."""
        if weak:
            self.weak.add(len(self.parents))
        self.parents.append(parent)
        self.children.append(child)
        self.lines.append(line)

    def arcs(self) -> Iterator[tuple[Group, Group, bool]]:
        """Parent, child, and whether the arc is weak. A strong arc on the same pair wins."""
        strength: dict[tuple[int, int], bool] = {}
        for at, pair in enumerate(zip(self.parents, self.children, strict=True)):
            strength[pair] = strength.get(pair, True) and at in self.weak
        for (parent, child), weak in strength.items():
            yield self.groups[parent], self.groups[child], weak

    def parents_of(self) -> dict[str, list[str]]:
        """The groups each group waits for, by name, in order of mention; groups that wait for none are left out."""
        found: dict[str, list[str]] = {}
        for parent, child, _ in self.arcs():
            found.setdefault(child.name, []).append(parent.name)
        return found


@mutable
class Group:
    """TrellisDAG's unit: prologue, then subgroups, then its own jobs in order, then epilogue."""

    name: str
    jobs: list[Job] = field(default_factory=list)
    prologue: tuple[Job, ...] = ()
    epilogue: tuple[Job, ...] = ()
    members: Members | None = None

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ModelError("a group has no name.", "Give it one, as text.")

    def __eq__(self, other: object) -> bool:
        """Whether subgroups were asked for and not found makes no difference."""
        if not isinstance(other, Group):
            return NotImplemented
        mine = self.name, self.jobs, self.prologue, self.epilogue, self.members or None
        return mine == (other.name, other.jobs, other.prologue, other.epilogue, other.members or None)

    @property
    def groups(self) -> Members:
        """The subgroups; made when first asked for, since most groups have none."""
        if self.members is None:
            self.members = Members()
        return self.members

    @property
    def is_barrier(self) -> bool:
        """Whether it holds nothing: a group only to be waited for."""
        return not (self.jobs or self.members or self.prologue or self.epilogue)

    def all_jobs(self) -> Iterator[Job]:
        """The group's own jobs in the order they run."""
        yield from self.prologue
        yield from self.jobs
        yield from self.epilogue

    def run(self, command: Command, **options: object) -> Group:
        """Appends a job that runs after the group's earlier ones; the options are those of `Workflow.job`."""
        self.jobs.append(new_job(command, options))
        return self

    def before(self, command: Command, **options: object) -> Group:
        """Appends a prologue job: it runs before anything else of the group."""
        self.prologue += (new_job(command, options),)
        return self

    def afterwards(self, command: Command, **options: object) -> Group:
        """Appends an epilogue job: it runs when all else of the group is done."""
        self.epilogue += (new_job(command, options),)
        return self

    def job(self, name: str, command: Command, after: Names = (), **options: object) -> Group:
        """Adds a subgroup of one job; see `Workflow.job`."""
        return add_group(self.groups, name, after, new_job(command, options))

    def group(self, name: str, after: Names = ()) -> Group:
        """Adds an empty subgroup."""
        return add_group(self.groups, name, after)

    def array(self, name: str, command: Command, lines: Iterable[str], after: Names = (), **options: object) -> Group:
        """Adds a subgroup with a job for each line of a list; {} in the command and the options stands for the line."""
        return add_array(self.groups, name, command, lines, after, options)


@mutable
class Settings:
    """What a DAGMan file says of the whole DAG."""

    config: str | None = None
    dot: tuple[str, ...] = ()  # file and options
    status_file: tuple[str, int, bool] | None = None  # file, least seconds between two writings, always
    jobstate_log: str | None = None
    job_attributes: Pairs = ()
    environment_get: tuple[str, ...] = ()
    environment_set: tuple[str, ...] = ()


@mutable
class Workflow:
    """Jobs and the order they must respect."""

    name: str = "workflow"
    groups: Members = field(default_factory=Members)
    final: Group | None = None  # runs last, whatever happened
    provisioner: Group | None = None  # runs first; the rest waits until it is ready
    services: list[Group] = field(default_factory=list)  # run beside the rest, best effort
    throttles: dict[str, int] = field(default_factory=dict)  # category: most jobs at once
    descriptions: dict[str, str] = field(default_factory=dict)  # texts of inline and named submit descriptions
    files: dict[str, int] = field(default_factory=dict)  # sizes in bytes of inputs and outputs, where known
    settings: Settings = field(default_factory=Settings)
    dropped: int = 0  # dependencies on groups that were never generated (TrellisDAG's Fig. 14 relies on it)
    warnings: list[str] = field(default_factory=list)
    source: str = ""  # the file it was read from
    format: str = "python"

    def job(self, name: str, command: Command, after: Names = (), **options: object) -> Group:
        """Adds a group of one job that waits for the groups `after`.

        `command` is a line for sh, or a list: a program and its arguments.
        Options: `seconds` (expected run time), `cores`, `nodes` (hosts that it runs on at once), `memory`, `time`
        (limit), `retries`, `backoff` (seconds before the first of them, twice as long before each next), `more_memory`
        (a factor for each), `inputs`, `outputs`, `precious`, `directory`, `stdin`, `stdout`, `stderr`, `environment`
        and `resources` (mappings), `release`, `affinity`, and `attributes`: a mapping of your own.
        """
        return add_group(self.groups, name, after, new_job(command, options))

    def group(self, name: str, after: Names = ()) -> Group:
        """Adds an empty group: give it jobs with `run`, subgroups with `group` and `job`."""
        return add_group(self.groups, name, after)

    def array(self, name: str, command: Command, lines: Iterable[str], after: Names = (), **options: object) -> Group:
        """Adds a group with a job for each line of a list; {} in the command and the options stands for the line."""
        return add_array(self.groups, name, command, lines, after, options)

    def special(self) -> Iterator[Group]:
        """The nodes outside the order: provisioner, services, final."""
        if self.provisioner is not None:
            yield self.provisioner
        yield from self.services
        if self.final is not None:
            yield self.final

    def walk(self) -> Iterator[tuple[str, Group]]:
        """Every group with its path, supergroups before their subgroups; not the special nodes."""
        stack = [("", iter(self.groups))]
        while stack:
            prefix, level = stack[-1]
            group = next(level, None)
            if group is None:
                stack.pop()
                continue
            path = prefix + group.name
            yield path, group
            if group.members is not None:
                stack.append((path + "/", iter(group.members)))


Names = str | Group | Iterable[str | Group]


def add_group(members: Members, name: str, after: Names = (), job: Job | None = None) -> Group:
    """Adds a group that waits for the groups named; those must be there already, on the same level."""
    group = Group(name, [] if job is None else [job])
    if not isinstance(after, Iterable | Group):
        raise _bad_after(name, type(after).__name__)
    places = [_place(members, name, parent) for parent in ([after] if isinstance(after, str | Group) else after)]
    mine = members.add(group)
    for at in places:
        members.arc(at, mine)
    return group


def add_array(
    members: Members,
    name: str,
    command: Command,
    lines: Iterable[str],
    after: Names,
    options: Mapping[str, object],
) -> Group:
    """Adds a group of one subgroup and job for each line; see `model.array` for what a command may hold."""
    from headway.model.array import command_of, filled_option, lines_of, names_of

    found, run = lines_of(lines), command_of(command)
    jobs = []
    for line in found:
        jobs.append(new_job(run(line), {key: filled_option(key, value, line) for key, value in options.items()}))
    group = add_group(members, name, after)
    for job_name, job in zip(names_of(found), jobs, strict=True):
        add_group(group.groups, job_name, (), job)
    return group


def _place(members: Members, name: str, parent: str | Group) -> int:
    """Where the group is that the group `name` is to wait for."""
    if not isinstance(parent, str | Group):
        raise _bad_after(name, type(parent).__name__)
    wanted = parent if isinstance(parent, str) else parent.name
    at = members.place(wanted)
    if at is None or (isinstance(parent, Group) and members.groups[at] is not parent):
        raise ModelError(
            f"group {shown(name)} is to run after {shown(wanted)}, which is not on its level.",
            "Dependencies join groups of one supergroup: add that group there first.",
        )
    return at


def _bad_after(name: str, kind: str) -> ModelError:
    return ModelError(f"group {shown(name)} is to run after something of type {kind}.", "Expected groups or names.")


def new_job(command: Command, options: Mapping[str, object]) -> Job:
    """A job from the Python API's options."""
    from headway.model.attributes import from_options

    if isinstance(command, list | tuple) and command:
        from shlex import join

        command = join(map(str, command))
    if not isinstance(command, str) or not command.strip():
        raise ModelError(
            f"a job's command is {shown(repr(command))}.",
            "Expected a command line, or a list: a program and its arguments.",
        )
    return from_options(command, options)
