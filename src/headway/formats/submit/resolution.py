"""Submit descriptions put to use: for the nodes of a workflow, or as a workflow of their own, all processes at once."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from typing import TypeVar

from headway.formats.flat import name_of
from headway.formats.submit.description import Description, Queue, parse_description
from headway.formats.submit.job import with_rules
from headway.formats.submit.late import WORKFLOW
from headway.formats.submit.process import has_queue, mentions, processes
from headway.formats.world import World
from headway.model.errors import InputError, UsageError, shown
from headway.model.job import PLAIN, Job, Pairs, Resources, Rules, Setting
from headway.model.record import replace
from headway.model.workflow import Group, Members, Workflow

Shared = TypeVar("Shared", Resources, Setting, Rules)
_NUMBER = re.compile(r"[0-9]{1,9}")
NOTHING = ":"  # the command of a node that does nothing


def parse(path: str, world: World, arguments: Sequence[str] = (), runs: bool = False) -> Workflow:
    """The processes that a submit file queues, with no order between them; arguments are name=value, read before it.

    `runs`: it is to be run. All of it is one submission then, whose number is that of the workflow.
    """
    variables = []
    for word in arguments:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{shown(word)} sets no variable.", "Expected name=value.")
        variables.append((name, value))
    description = parse_description(path, world.text(path), world)
    if not has_queue(description):
        raise InputError(path, 1, "there is no queue statement.", 'End the file with "queue".')
    workflow = Workflow(name_of(path))
    if runs:
        variables = [("CLUSTER", WORKFLOW), ("CLUSTERID", WORKFLOW), *variables]
    jobs = processes(description, workflow.name, tuple(variables), (), world, None, workflow.warnings, runs)
    if not jobs:
        raise InputError(path, 1, "no process is queued.", "A workflow has at least one job.")
    group = Group(workflow.name)
    workflow.groups.add(group)
    _fill(group, jobs)
    return workflow


def resolved(workflow: Workflow, world: World) -> Workflow:
    """The same workflow with the command, files and resources of each node read from its submit description."""
    return Resolution(workflow, world).workflow()


def node_processes(workflow: Workflow, name: str, job: Job, world: World) -> tuple[list[Job], list[str]]:
    """The processes of one node, and warnings; the job itself, its command unknown, if its submit file is missing."""
    resolution = Resolution(replace(workflow, warnings=[]), world)
    at = workflow.groups.place(name)
    return resolution.jobs(job, name, None if at is None else (workflow.groups, at)), resolution.warnings


class Resolution:
    """Reads each description once, for all nodes that share it."""

    runs = False  # the workflow is to be run, not only read

    def __init__(self, workflow: Workflow, world: World) -> None:
        self.source = workflow
        self.world = world
        self.warnings = list(workflow.warnings)
        self.told = set(self.warnings)
        self.read: dict[tuple[str, str | None], Description | None] = {}
        self.shared: dict[object, object] = {}
        self.mentioned: dict[tuple[int, str], bool] = {}  # by the identity of a description, which we keep
        self.parents: dict[int, dict[str, list[str]]] = {}

    def workflow(self) -> Workflow:
        source = self.source
        return replace(
            source,
            groups=self.members(source.groups),
            final=None if source.final is None else self.group(source.final, None),
            provisioner=None if source.provisioner is None else self.group(source.provisioner, None),
            services=[self.group(group, None) for group in source.services],
            warnings=self.warnings,
        )

    def mentions(self, description: Description, key: str) -> bool:
        """Whether a description may use a macro of this name: looked for once, whatever number of nodes share it."""
        asked = id(description), key
        if asked not in self.mentioned:
            self.mentioned[asked] = mentions(description, key)
        return self.mentioned[asked]

    def members(self, members: Members) -> Members:
        copy = Members()
        for at, group in enumerate(members):
            copy.add(self.group(group, (members, at)))
        copy.parents, copy.children = members.parents[:], members.children[:]
        copy.lines, copy.weak = members.lines[:], set(members.weak)
        return copy

    def group(self, group: Group, place: tuple[Members, int] | None) -> Group:
        copy = Group(group.name)
        if group.members is not None:
            copy.members = self.members(group.members)
        copy.prologue = tuple(self.in_turn(group.prologue, group.name))
        copy.epilogue = tuple(self.in_turn(group.epilogue, group.name))
        alone = len(group.jobs) == 1 and not (group.members or group.prologue or group.epilogue)
        if not alone:
            copy.jobs = self.in_turn(group.jobs, group.name)
            return copy
        node = group.jobs[0]
        jobs = self.jobs(node, group.name, place)
        if len(jobs) == 1:
            copy.jobs = jobs
        else:
            _fill(copy, [replace(job, rules=_without_scripts(job.rules)) for job in jobs])
            rules = node.rules
            if rules.pre is not None:
                copy.prologue = (Job(NOTHING, rules=Rules(pre=rules.pre, pre_skip=rules.pre_skip)),)
            if rules.post is not None:
                copy.epilogue = (Job(NOTHING, rules=Rules(post=rules.post)),)
        return copy

    def in_turn(self, jobs: Sequence[Job], name: str) -> list[Job]:
        """Jobs of a chain: the processes of one follow each other."""
        return [process for job in jobs for process in self.jobs(job, name, None)]

    def jobs(self, job: Job, name: str, place: tuple[Members, int] | None) -> list[Job]:
        """The concrete jobs of a node."""
        if job.command is not None:
            return [job]
        if job.rules.noop:
            return [replace(job, command=NOTHING, description="", variables=(), overrides=())]
        if job.rules.subdag is not None:
            return [replace(job, command=shlex.join(["headway", "run", job.rules.subdag]))]
        description = self.description(job) if job.description else None
        if description is None:
            return [job]
        return self.concrete(job, name, description, self.variables(job, description, place))

    def concrete(self, job: Job, name: str, description: Description, variables: Pairs) -> list[Job]:
        found: list[str] = []
        directory = job.setting.directory
        jobs = processes(description, name, variables, job.overrides, self.world, directory, found, self.runs)
        for warning in found:
            self.tell(warning)
        if not jobs:
            self.tell(f"{description.path}: no process is queued; its nodes do nothing.")
            jobs = [Job(NOTHING, setting=job.setting)]
        for process in jobs:
            process.rules = self.rules(process, job.rules)
            process.resources = self.same(process.resources)
            process.setting = self.same(process.setting)
            if job.attributes:
                process.attributes = {**process.attributes, **job.attributes}
            process.seconds = process.seconds if process.seconds is not None else job.seconds
        return jobs

    def rules(self, process: Job, node: Rules) -> Rules:
        """The rules of a process: its node's, and what its submit description adds to them."""
        return self.same(with_rules(process, node)) if process.rules is not PLAIN else node

    def same(self, value: Shared) -> Shared:
        """One object for all that are equal."""
        return self.shared.setdefault(value, value)  # type: ignore[return-value]

    def variables(self, job: Job, description: Description, place: tuple[Members, int] | None) -> Pairs:
        """A node's variables, and its parents' names for a description that asks for them."""
        if place is None or not self.mentions(description, "dag_parent_names"):
            return job.variables
        members, at = place
        if id(members) not in self.parents:
            self.parents[id(members)] = members.parents_of()
        names = ",".join(self.parents[id(members)].get(members.groups[at].name, []))
        return (("DAG_PARENT_NAMES", names), *job.variables)

    def tell(self, warning: str) -> None:
        if warning not in self.told:
            self.told.add(warning)
            self.warnings.append(warning)

    def description(self, job: Job) -> Description | None:
        """The description of a node; None, and a warning, if its file is missing."""
        directory = job.setting.directory
        inline = job.description in self.source.descriptions
        key = (job.description, None if inline else directory)
        if key not in self.read:
            found = self.inline(job.description) if inline else self.file(job.description, directory)
            self.read[key] = found
            if found is not None:
                self.check_size(found, job.description)
        return self.read[key]

    def check_size(self, description: Description, name: str) -> None:
        """Refuses a description before any process is made, if its nodes queue too many by what it plainly says."""
        queues = [command for command in description.commands if isinstance(command, Queue)]
        each = sum(int(command.text) for command in queues if _NUMBER.fullmatch(command.text.strip()))
        if each < 2:
            return
        nodes = sum(job.description == name for _, group in self.source.walk() for job in group.jobs)
        most = self.world.most_nodes
        if each * nodes > most:
            what = f"{nodes:,} nodes queue {each:,} processes each: {each * nodes:,}, and the limit is {most:,}."
            fix = "Queue fewer. If that is meant, set HEADWAY_MOST_NODES to a higher number."
            raise InputError(description.path, queues[0].line, what, fix)

    def inline(self, name: str) -> Description:
        path = f"{self.source.source or self.source.name} ({name.strip('{}')})"
        return parse_description(path, self.source.descriptions[name], self.world)

    def file(self, name: str, directory: str | None) -> Description | None:
        base = posixpath.dirname(self.source.source)
        for folder in ([posixpath.join(base, directory), directory] if directory else []) + [base, ""]:
            path = posixpath.join(folder, name)
            if self.world.exists(path):
                return parse_description(path, self.world.text(path), self.world)
        if not any(warning.startswith(f"submit file {shown(name)} ") for warning in self.told):  # told on reading
            self.tell(f"{self.source.source or self.source.name}: submit file {shown(name)} is missing.")
        return None


def _fill(group: Group, jobs: Sequence[Job]) -> None:
    """Gives a group its one job, or a subgroup for each of many: they run side by side."""
    if len(jobs) == 1:
        group.jobs = list(jobs)
        return
    for number, job in enumerate(jobs):
        group.groups.add(Group(str(number), [job]))


def _without_scripts(rules: Rules) -> Rules:
    """What of a node's rules each of its many processes keeps."""
    if rules.pre is None and rules.post is None:
        return rules
    return replace(rules, pre=None, post=None, pre_skip=None)
