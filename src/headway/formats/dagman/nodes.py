"""A DAG under construction: what the commands of a file, and of the files it names, have said so far."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from typing import Any

from headway.formats.dagman.words import WordError
from headway.model.errors import shown
from headway.model.job import PLAIN, Job, Rules, Setting
from headway.model.record import field, mutable, replace
from headway.model.workflow import Group, Members, Settings


class UnknownNameError(WordError):
    """A command names a node that is not there, or not yet."""


@mutable
class Splice:
    """A DAG taken in whole: what an arc to or from it stands for."""

    initial: list[int]
    terminal: list[int]
    pins_in: dict[int, list[int]]
    pins_out: dict[int, list[int]]


@mutable
class Dag:
    """Nodes, splices and arcs of one DAG file and what it includes."""

    members: Members = field(default_factory=Members)
    special: dict[str, tuple[str, Group]] = field(default_factory=dict)  # name: kind, node
    splices: dict[str, Splice] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    throttles: dict[str, int] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    pins_in: dict[int, list[int]] = field(default_factory=dict)
    pins_out: dict[int, list[int]] = field(default_factory=dict)
    connects: list[tuple[str, str, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_blank: bool = True  # no line so far had anything on it, not even a comment
    is_splice: bool = False
    file: str = ""  # the name of the file being read
    included: list[str] = field(default_factory=list)  # files taken in by INCLUDE
    texts: dict[str, str] = field(default_factory=dict)  # one string for each, however many nodes say it
    joins: int = 0
    plus_allowed: bool = False  # a rescue file names spliced nodes
    _rules: dict[tuple[Rules, str, object], Rules] = field(default_factory=dict)
    _places: dict[str, Setting] = field(default_factory=dict)

    def is_taken(self, name: str) -> bool:
        return name in self.members or name in self.special or name in self.splices

    def job(self, name: str) -> Job:
        """The job behind a node's name, for a command that modifies it."""
        group = self.members.get(name)
        if group is None:
            if name not in self.special:
                raise self.unknown(name)
            group = self.special[name][1]
        elif "+" in name and not self.plus_allowed:
            raise WordError(
                f"{shown(name)} is a node of a splice, which only the splice's own file can modify.",
                "Move the command there.",
            )
        if not group.jobs:
            raise WordError(
                f"{shown(name)} is no node of the file: it joins many parents to many children.", "Name a node."
            )
        return group.jobs[0]

    def unknown(self, name: str) -> UnknownNameError:
        """The error for a name that is no node, with the one that was perhaps meant."""
        hint = ""
        if len(self.members) <= 10_000:
            from difflib import get_close_matches

            known = [group.name for group in self.members] + list(self.special) + list(self.splices)
            close = get_close_matches(name[:100], known, 1)
            hint = f" (did you mean {shown(close[0])}?)" if close else ""
        if name[0] == "#":
            return UnknownNameError("a comment stands behind a command.", "Comments have lines of their own.")
        if name in self.splices:
            return UnknownNameError(f"{shown(name)} is a splice; only nodes can be modified.", "Name a node.")
        return UnknownNameError(f"node {shown(name)} is not declared{hint}.", f"Add a JOB line for {shown(name)}.")

    def own_jobs(self) -> Iterable[Job]:
        """What ALL_NODES means: the nodes of this file, not those of splices."""
        if not self.splices:
            return [group.jobs[0] for group in self.members if group.jobs]
        return [group.jobs[0] for group in self.members if group.jobs and "+" not in group.name]

    def rule(self, job: Job, name: str, value: object) -> None:
        """Sets one rule of a job. Equal rules are one object: a million jobs may share them."""
        key = (job.rules, name, value)
        rules = self._rules.get(key)
        if rules is None:
            changes: dict[str, Any] = {name: value}
            rules = self._rules[key] = replace(job.rules, **changes)
        job.rules = rules if rules != PLAIN else PLAIN

    def placed(self, job: Job, directory: str) -> None:
        """Sets the directory a node is submitted from."""
        job.setting = self._places.setdefault(directory, Setting(directory=directory))

    # --- arcs ----------------------------------------------------------------------------------------------------

    def ends(self, names: list[str], side: Callable[[Splice], list[int]]) -> list[int]:
        """The places of nodes, splices standing for their last or first nodes, without doubles."""
        found: dict[int, None] = {}
        for name in names:
            at = self.members.place(name)
            if at is not None and ("+" not in name or self.plus_allowed):
                found[at] = None
            elif name in self.splices:
                found.update(dict.fromkeys(side(self.splices[name])))
            elif name in self.special:
                kind = self.special[name][0].upper()
                raise WordError(f"{kind} node {shown(name)} can not have dependencies.", "Take it out of this line.")
            else:
                raise self.unknown(name)
        return list(found)

    def join(self, parents: list[int], children: list[int], line: int, weak: bool) -> None:
        """Arcs from each parent to each child, through a node of no work where that needs fewer."""
        both = set(parents).intersection(children)
        if both:
            name = shown(self.members.groups[min(both)].name)
            raise WordError(f"{name} is made to depend on itself.", "Take it out of one side.")
        if len(parents) * len(children) <= len(parents) + len(children):
            for parent in parents:
                for child in children:
                    self.members.arc(parent, child, line, weak)
            return
        while f"_condor_join_node{self.joins}" in self.members:
            self.joins += 1
        barrier = self.members.add(Group(f"_condor_join_node{self.joins}"))
        self.joins += 1
        for parent in parents:
            self.members.arc(parent, barrier, line, weak)
        for child in children:
            self.members.arc(barrier, child, line)

    # --- splices -------------------------------------------------------------------------------------------------

    def take_in(self, name: str, inner: Dag, directory: str | None, line: int) -> None:
        """Merges a splice: node X becomes NAME+X."""
        base = len(self.members)
        for group in inner.members:
            self._take_node(name, group, inner, directory)
            self.members.add(group)
        for at, (parent, child) in enumerate(zip(inner.members.parents, inner.members.children, strict=True)):
            self.members.arc(base + parent, base + child, line, at in inner.members.weak)
        for kind, group in inner.special.values():
            self._take_node(name, group, inner, directory)
            self.special[group.name] = (kind, group)
        self.descriptions.update({_spliced(name, key): text for key, text in inner.descriptions.items()})
        self.throttles.update({_prefixed(name, key): most for key, most in inner.throttles.items()})
        parents, children = set(inner.members.parents), set(inner.members.children)
        places = range(len(inner.members))
        self.splices[name] = Splice(
            [base + at for at in places if at not in children],
            [base + at for at in places if at not in parents],
            {pin: [base + at for at in pinned] for pin, pinned in inner.pins_in.items()},
            {pin: [base + at for at in pinned] for pin, pinned in inner.pins_out.items()},
        )
        self.warnings += inner.warnings

    def _take_node(self, splice: str, group: Group, inner: Dag, directory: str | None) -> None:
        group.name = f"{splice}+{group.name}"
        for job in group.jobs:
            if job.description in inner.descriptions:
                job.description = _spliced(splice, job.description)
            if job.rules.category is not None:
                self.rule(job, "category", _prefixed(splice, job.rules.category))
            if directory is not None:
                own = job.setting.directory
                self.placed(job, posixpath.join(directory, own) if own else directory)

    def connect(self, first: str, second: str, line: int) -> None:
        """Joins the pins that come out of one splice with those that go into another."""
        outward, inward = self.splices.get(first), self.splices.get(second)
        if outward is None or inward is None:
            missing = first if outward is None else second
            raise WordError(f"CONNECT names {shown(missing)}, which is no splice.", "Connect two splices.")
        out, into = outward.pins_out, inward.pins_in
        if not out or not into or len(out) != len(into):
            raise WordError(
                f"{shown(first)} has {len(out)} PIN_OUT, {shown(second)} has {len(into)} PIN_IN.",
                "CONNECT needs the same number of both, and at least one.",
            )
        for side, pins in ((first, out), (second, into)):
            if set(pins) != set(range(1, len(pins) + 1)):
                raise WordError(f"the pins of {shown(side)} are not numbered 1 to {len(pins)}.", "Leave out no number.")
        pinned = {at for places in into.values() for at in places}.union(self.members.children)
        for at in inward.initial:
            if at not in pinned:
                name = shown(self.members.groups[at].name)
                raise WordError(f"{name} starts its splice and has no PIN_IN.", "Pin every node without parents.")
        for pin, parents in out.items():
            self.join(parents, into[pin], line, weak=False)


def _spliced(splice: str, key: str) -> str:
    """A description's key in the outer DAG; those of inline descriptions are {NODE}."""
    return f"{{{splice}+{key[1:]}" if key.startswith("{") else f"{splice}+{key}"


def _prefixed(splice: str, category: str) -> str:
    """Categories are a splice's own, unless they begin with +."""
    return category if category.startswith("+") else f"{splice}+{category}"
