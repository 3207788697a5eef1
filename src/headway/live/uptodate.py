"""What make calls up to date, held against what earlier runs have done.

make judges by files. A job that the store calls done runs again if make now calls its target out of date; one that
never ran counts as done if make calls it up to date. Targets that leave no file (phony ones, FORCE) are out of date to
make whenever it is asked: of those the store knows more, and done ones run again only if what they need has changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from headway.engine.plan import NEVER, UNJUDGED, Judged, Known
from headway.formats.makefile.judgement import Judgement, idle, judgement, looked_at_again
from headway.live.make import outdated
from headway.live.streams import folder
from headway.model.errors import unquoted
from headway.model.flatten import Flat
from headway.model.record import field, record
from headway.model.states import State
from headway.model.workflow import Workflow

_LONGEST = 1_000_000  # bytes of targets that a command line is sure to hold
ANEW = "its recipe begins anew"


@record
class Earlier:
    """What earlier runs have done: how far each job is, and when it was last started."""

    known: Mapping[int, Known] = field(default_factory=dict)
    started: Mapping[int, float] = field(default_factory=dict)


NOTHING = Earlier()


def judged(workflow: Workflow, arguments: Sequence[str], flat: Flat, earlier: Earlier, retry: bool) -> Judged:
    """What make says of the jobs of a Makefile; of any other workflow it says nothing."""
    if workflow.format != "makefile":
        return UNJUDGED
    return _Judge(workflow, arguments, flat, earlier, retry).judged()


class _Judge:
    def __init__(self, workflow: Workflow, arguments: Sequence[str], flat: Flat, earlier: Earlier, retry: bool) -> None:
        self.path = workflow.source
        self.arguments = arguments
        self.folder = folder(self.path)
        self.earlier = earlier
        self.retry = retry
        self.idle = idle(workflow)
        self.more = looked_at_again(workflow, self.idle)
        self.nodes = _nodes(flat)
        self.now = judgement(outdated(self.path, arguments, more=self.more))

    def judged(self) -> Judged:
        up_to_date: set[int] = set()
        found: dict[int, str] = {}
        groups = [name for name in self.nodes if name in self.now.entries]
        known = {name: self.standing(name) for name in groups}
        stale = self.stale({name for name in groups if known[name] == "done"})
        for name in groups:
            why = self.why(self.now, name)
            if known[name] == "new":
                if why is not None:
                    found |= dict.fromkeys(self.nodes[name], why if self.now.is_judged(name) else "")
                elif self.now.is_judged(name):
                    up_to_date.update(self.nodes[name])
            elif known[name] == "done":
                if name in stale:
                    found |= dict.fromkeys(self.nodes[name], stale[name])
            else:
                found |= dict.fromkeys(self.nodes[name], self.begins_anew(name, known[name], stale))
        return Judged(frozenset(up_to_date), {node: why for node, why in found.items() if why})

    def standing(self, name: str) -> str:
        """How far the recipe of a target is: done, new, failed, broken off, or between two of its lines."""
        lines = [self.earlier.known.get(node, NEVER) for node in self.nodes[name]]
        if all(line.state is State.DONE for line in lines):
            return "done"
        if not any(line.begun or line.state is State.DONE for line in lines):
            return "new"
        if any(line.state is State.RUNNING for line in lines):
            return "running"
        if any(line.state is State.FAILED for line in lines):
            return "failed"
        first, *rest = (self.earlier.started.get(node, 0.0) for node in self.nodes[name])
        undone = [started for started, line in zip(rest, lines[1:], strict=True) if line.state is not State.DONE]
        broken = lines[0].state is not State.DONE or any(started > first for started in undone)
        return "broken" if broken else "between"

    def begins_anew(self, name: str, standing: str, stale: Mapping[str, str]) -> str:
        """Why a recipe that is not done begins with its first line again, if it does: to make it is one thing."""
        if standing == "running":
            return ""
        if (standing == "broken" or (standing == "failed" and self.retry)) and len(self.nodes[name]) > 1:
            return ANEW
        newer = next((one for one in self.now.entries[name].prerequisites if one in stale), None)
        newer = newer or self.newer(name, self.since(name))
        return f"out of date: {newer}" if newer is not None else ""

    # --- what is done and has to run again -------------------------------------------------------------------------

    def stale(self, done: set[str]) -> dict[str, str]:
        """Targets that are done, as far as the store knows, and out of date all the same; with why.

        Those that leave no file are taken out of make's sight while nothing speaks against them. What runs again may
        do so, therefore make is asked until it finds nothing more.
        """
        if not done:
            return {}
        old = self.without_file(done)
        told, renewed = self.now, dict[str, str]()
        while True:
            fresh = {name for name in old if name not in renewed}
            if fresh:
                asked = (name for name in self.nodes if name in self.now.entries and name not in fresh)
                targets = list(dict.fromkeys(one for name in asked for one in self.now.made_with(name)))
                if sum(map(len, targets)) + len(targets) > _LONGEST:
                    return {}
                told = judgement(outdated(self.path, self.arguments, sorted(fresh), targets, self.more))
            else:
                told = self.now
            again = {name: why for name in self.nodes if name not in fresh and (why := self.why(told, name))}
            more = {name: why for name in fresh if (why := self.speaks_against(name, again | renewed))}
            if not more:
                break
            renewed |= more
        found = again | renewed
        return {name: found[name] for name in done if name in found and name not in self.idle}

    def without_file(self, done: set[str]) -> set[str]:
        """Targets that make always remakes: phony, or with no recipe or an idle one and no file."""
        found = set()
        for name, entry in self.now.entries.items():
            fileless = entry.phony or ((not entry.recipe or name in self.idle) and not self.is_there(name))
            if entry.target and fileless and (name in done or name not in self.nodes):
                found.add(name)
        return {name for name in found if not name.startswith(".") or name in self.nodes}

    def speaks_against(self, name: str, again: Mapping[str, str]) -> str:
        """Why a target without a file that was done is to be done again: what it needs is made anew, or is newer."""
        for before in self.now.entries[name].prerequisites:
            if before in again:
                return f"out of date: {before}"
        newer = self.newer(name, self.since(name))
        return f"out of date: {newer}" if newer is not None else ""

    def since(self, name: str) -> float:
        """When the recipe of a target was begun; of one without, the first of those that need it."""
        if name in self.nodes:
            return self.earlier.started.get(self.nodes[name][0], 0.0)
        needing = [other for other in self.nodes if name in getattr(self.now.entries.get(other), "prerequisites", ())]
        return min((self.earlier.started.get(self.nodes[other][0], 0.0) for other in needing), default=0.0)

    def newer(self, name: str, when: float) -> str | None:
        """A file that a target needs, made by no recipe, and changed after that time."""
        for before in self.now.entries[name].prerequisites:
            if before not in self.nodes and when and self.changed(before) > when:
                return before
        return None

    def changed(self, name: str) -> float:
        try:
            return os.stat(os.path.join(self.folder, name)).st_mtime  # noqa: PTH116, PTH118
        except (OSError, ValueError):
            return 0.0

    def is_there(self, name: str) -> bool:
        return os.path.lexists(os.path.join(self.folder, name))  # noqa: PTH118

    def why(self, told: Judgement, name: str) -> str | None:
        """Why make would remake a target, or one that its recipe makes with it."""
        for one in told.made_with(name):
            if one in told.outdated:
                gone = self.now.is_judged(one) and not self.is_there(one)
                return f"{unquoted(one)} is not there" if gone else told.outdated[one]
        return None


def _nodes(flat: Flat) -> dict[str, list[int]]:
    """The jobs of each group, in order."""
    found = {path: list(range(first, last + 1)) for path, first, last in flat.groups}
    grouped = {node for nodes in found.values() for node in nodes}
    singles: Iterator[int] = (node for node in flat.dag.jobs() if node not in grouped)
    return found | {flat.dag.names[node]: [node] for node in singles}
