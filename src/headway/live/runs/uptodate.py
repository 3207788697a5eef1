"""What make calls up to date, held against what earlier runs have done.

make judges by files. What it calls out of date runs, done before or not: so phony targets run once in every run, as
with make. What it calls up to date counts as done. Of two things the store knows more than any file: that a recipe was
edited since its target was made, and that it was begun and has not come to its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from headway.engine.plan import NEVER, UNJUDGED, Judged, Known
from headway.formats.makefile.judgement import Judgement, idle, judgement, looked_at_again
from headway.live.reading.make import outdated
from headway.live.reading.recipes import nodes_of
from headway.live.reading.streams import folder
from headway.model.errors import unquoted
from headway.model.flatten import Flat
from headway.model.messages import LeaseId
from headway.model.record import field, record
from headway.model.states import State
from headway.model.workflow import Workflow

if TYPE_CHECKING:
    from headway.live.store.arrangement import Made
    from headway.live.store.makefiles import Begun

_LONGEST = 1_000_000  # bytes of targets that a command line is sure to hold
AGAIN = "its recipe begins again"
ALWAYS = "--always-make"
EDITED = "its recipe was edited since it was last run"
HALF = "an earlier run began it and did not come to its end"


@record
class Earlier:
    """What earlier runs have done: how far each job is, when it was last started, and what their files are not."""

    known: Mapping[int, Known] = field(default_factory=dict)
    started: Mapping[int, float] = field(default_factory=dict)
    owed: Mapping[str, str] = field(default_factory=dict)  # targets that must be made, whatever their files look like


NOTHING = Earlier()


def judged(workflow: Workflow, arguments: Sequence[str], flat: Flat, earlier: Earlier, retry: bool) -> Judged:
    """What make says of the jobs of a Makefile; of any other workflow it says nothing."""
    if workflow.format != "makefile" or any(one.state is State.RUNNING for one in earlier.known.values()):
        return UNJUDGED  # another run has asked make already, and this one joins it
    return _Judge(workflow, arguments, flat, earlier, retry).judged()


def all_of(flat: Flat) -> Judged:
    """What make -B says."""
    return Judged(outdated=dict.fromkeys(flat.dag.jobs(), ALWAYS))


def owed(flat: Flat, now: Mapping[str, Made], past: Iterable[Mapping[str, Made]]) -> dict[str, str]:
    """Targets whose files are not what the Makefile says now, by what was last done under their names, with why.

    `now`: what the jobs are; `past`: what they were and how far they came, in earlier workflows, the latest first.
    """
    targets = {name: [flat.dag.names[node] for node in nodes] for name, nodes in nodes_of(flat).items()}
    for name, lines in list(targets.items()):
        known = [now[line] for line in lines if line in now]
        if any(one.begun for one in known) or all(one.done for one in known):
            del targets[name]  # what it is now has been begun: it is as far as its jobs are
    found: dict[str, str] = {}
    for before in past if targets else ():
        for name, lines in list(targets.items()):
            was = [before.get(line) for line in lines]
            if not any(one is not None and (one.done or one.begun) for one in was):
                continue
            same = [
                one is not None and one.definition == now[line].definition for one, line in zip(was, lines, strict=True)
            ]
            if not all(same) or f"{name}#{len(lines) + 1}" in before:
                found[name] = EDITED
            elif not all(one is not None and one.done for one in was):
                found[name] = HALF
            del targets[name]
        if not targets:
            break
    return found


def half_made(
    flat: Flat, unfinished: Sequence[Mapping[str, Begun]], last: Callable[[Sequence[str]], Mapping[str, LeaseId]]
) -> set[str]:
    """Targets whose last attempt, with whatever goals, has not come to its end.

    `unfinished`: jobs of workflows with other goals; `last`: the last attempt at jobs, in whichever workflow.
    """
    halves: dict[str, list[Mapping[str, Begun]]] = {}
    targets = nodes_of(flat) if unfinished else {}
    for before in unfinished:
        for name in targets:
            lines = _recipe(before, name)
            if any(one.lease for one in lines.values()) and not all(one.done for one in lines.values()):
                halves.setdefault(name, []).append(lines)
    if not halves:
        return set()
    names = {name: {line for lines in found for line in lines} for name, found in halves.items()}
    latest = last(sorted(set[str]().union(*names.values())))
    found = set()
    for name, recipes in halves.items():
        newest = max(latest.get(line, 0) for line in names[name])
        if any(one.lease == newest for lines in recipes for one in lines.values()):
            found.add(name)
    return found


def _recipe(jobs: Mapping[str, Begun], target: str) -> dict[str, Begun]:
    """The lines of a target's recipe, by the names of their jobs."""
    found: dict[str, Begun] = {}
    name = target
    while name in jobs:
        found[name] = jobs[name]
        name = f"{target}#{len(found) + 1}"
    return found


class _Judge:
    def __init__(self, workflow: Workflow, arguments: Sequence[str], flat: Flat, earlier: Earlier, retry: bool) -> None:
        self.path = workflow.source
        self.arguments = arguments
        self.folder = folder(self.path)
        self.earlier = earlier
        self.retry = retry
        self.idle = idle(workflow)
        self.more = looked_at_again(workflow, self.idle)
        self.nodes = nodes_of(flat)
        self.now = judgement(outdated(self.path, arguments, more=self.more))

    def judged(self) -> Judged:
        up_to_date: set[int] = set()
        found: dict[int, str] = {}
        groups = [name for name in self.nodes if name in self.now.entries]
        known = {name: self.standing(name) for name in groups}
        stale = {} if self.now.is_headways else self.stale(groups)
        for name in groups:
            if known[name] == "new":
                if name in stale:
                    told = self.now.is_judged(name) or name in self.earlier.owed
                    found |= dict.fromkeys(self.nodes[name], stale[name] if told else "")
                elif self.now.is_judged(name):
                    up_to_date.update(self.nodes[name])
            elif known[name] == "done":
                if name in stale and name not in self.idle:
                    found |= dict.fromkeys(self.nodes[name], stale[name])
            else:
                found |= dict.fromkeys(self.nodes[name], self.begins_anew(name, known[name], stale))
        return Judged(frozenset(up_to_date), {node: why for node, why in found.items() if why})

    def standing(self, name: str) -> str:
        """How far the recipe of a target is: done, new, failed, broken off, or between two of its lines."""
        lines = [self.earlier.known.get(node, NEVER) for node in self.nodes[name]]
        if name in self.earlier.owed:
            return "new"
        if all(line.state is State.DONE for line in lines):
            return "done"
        if not any(line.begun or line.state is State.DONE for line in lines):
            return "new"
        if any(line.state is State.FAILED for line in lines):
            return "failed"
        first, *rest = (self.earlier.started.get(node, 0.0) for node in self.nodes[name])
        undone = [started for started, line in zip(rest, lines[1:], strict=True) if line.state is not State.DONE]
        broken = lines[0].state is not State.DONE or any(started > first for started in undone)
        return "broken" if broken else "between"

    def begins_anew(self, name: str, standing: str, stale: Mapping[str, str]) -> str:
        """Why a recipe that is not done begins with its first line again, if it does: to make it is one thing."""
        if (standing == "broken" or (standing == "failed" and self.retry)) and len(self.nodes[name]) > 1:
            return AGAIN
        entry = self.now.entries[name]
        if entry.phony and name in stale:
            return stale[name]
        newer = self.newer(name, self.earlier.started.get(self.nodes[name][0], 0.0))
        return self.because(name, stale) or (f"out of date: {unquoted(newer)}" if newer is not None else "")

    # --- what has to be made ---------------------------------------------------------------------------------------

    def stale(self, groups: Sequence[str]) -> dict[str, str]:
        """The targets that are to be made, with why: make says so, or the store does, or what they need is made.

        Asked with -n make looks again at what a recursive make should have changed, which has not run. So whatever
        calls make is taken to change its target. make is told of what it does not see, and says what hangs on that.
        """
        found = self.said(self.now, groups) | dict(self.earlier.owed)
        unseen = set[str]()
        while more := (set(self.earlier.owed) | set(self.after_makes(found))) - unseen:
            found = self.after_makes(found) | found
            unseen |= more
            changed = sorted(also for name in unseen for also in self.now.made_with(name))
            if sum(map(len, changed)) + 4 * len(changed) > _LONGEST:
                return self.after_all(found)
            told = judgement(outdated(self.path, self.arguments, changed, self.more))
            found = self.said(told, groups) | found
        return found

    def after_makes(self, found: Mapping[str, str]) -> dict[str, str]:
        """What needs a target whose recipe runs and calls make."""
        makes = {name for name in found if self.now.calls_make(name)}
        if not makes:
            return {}
        return {name: because for name in self.now.entries if (because := self.because(name, makes))}

    def after_all(self, found: Mapping[str, str]) -> dict[str, str]:
        """All that hangs on targets that are made: for a Makefile that is too large for make to be asked."""
        reached = dict(found)
        for name in self.nodes:  # each comes after what it waits for
            if name not in reached and (because := self.because(name, reached)):
                reached[name] = because
        return reached

    def because(self, name: str, made: Container[str]) -> str:
        """Why a target has to be made if others are, if it has to."""
        entry = self.now.entries.get(name)
        if entry is not None:
            for before in entry.prerequisites:
                if before in made and before not in entry.order_only:
                    return f"out of date: {unquoted(before)}"
        return ""

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

    def said(self, told: Judgement, groups: Iterable[str]) -> dict[str, str]:
        """The targets that make would remake, with why."""
        return {name: why for name in groups if (why := self.why(told, name)) is not None}

    def why(self, told: Judgement, name: str) -> str | None:
        """Why make would remake a target, or one that its recipe makes with it."""
        for one in told.made_with(name):
            if one in told.outdated:
                gone = self.now.is_judged(one) and not self.is_there(one)
                return f"{unquoted(one)} is not there" if gone else told.outdated[one]
        return None
