"""What GNU make calls out of date: its answer to -n without -B, which no recipe of ours stands between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from headway.formats.makefile.database import Entry, Trace, database
from headway.formats.makefile.writer import MARK
from headway.model.errors import unquoted
from headway.model.record import record
from headway.model.workflow import Workflow

NOTHING = frozenset({":", "true", "/bin/true"})  # commands that change no file
_RECURSIVE = ("$(MAKE)", "${MAKE}")
_PLAIN = re.compile(r"[^\s#$%:=|;&*?\[\]~\\'\"()]+")


@record
class Judgement:
    """The targets that make would remake, each with why, and all it knows of targets."""

    outdated: Mapping[str, str]
    entries: Mapping[str, Entry]
    is_headways: bool = False  # its targets are phony only because Headway wrote it, or its recipes call mqsub

    def is_judged(self, name: str) -> bool:
        """Whether make tells by files if a target is to be remade: a phony one always is."""
        entry = self.entries.get(name)
        return entry is not None and entry.target and not entry.phony

    def calls_make(self, name: str) -> bool:
        """Whether its recipe calls make: what that would change, nobody has seen."""
        entry = self.entries.get(name)
        return entry is not None and any(sign in line for line in entry.recipe for sign in _RECURSIVE)

    def made_with(self, name: str) -> tuple[str, ...]:
        """A target, and those that the same run of its recipe makes."""
        entry = self.entries.get(name)
        return (name, *entry.also) if entry is not None else (name,)


def judgement(text: str) -> Judgement:
    """What make's output says."""
    known = database(text)
    reasons = {trace.name: trace.why.partition("due to: ")[2] for trace in known.traces}
    ours = MARK in known.variables or _submits(known.traces)
    return Judgement({name: f"out of date: {unquoted(due)}" for name, due in reasons.items()}, known.entries, ours)


def _submits(traces: Iterable[Trace]) -> bool:
    """Whether the recipes are calls of mqsub: what these submit is run once, and make knows nothing of it."""
    words = [line.split(None, 1)[0] for trace in traces for line in trace.lines if line.strip()]
    return bool(words) and all(word.rpartition("/")[2] == "mqsub" for word in words)


def idle(workflow: Workflow) -> list[str]:
    """Targets whose recipes do nothing: make looks at their files again, and remakes what hangs on them only then."""
    return [
        group.name
        for group in workflow.groups
        if group.jobs and all(job.command is not None and job.command.strip() in NOTHING for job in group.jobs)
    ]


def looked_at_again(workflow: Workflow, names: Iterable[str]) -> str:
    """Rules that overrule those of idle targets, so that even make -n looks at their files again after the recipe.

    make -n takes for granted that a recipe changes its target, but for one whose lines all begin with +: that it runs.
    """
    parents = workflow.groups.parents_of()
    lines = []
    for name in names:
        group = workflow.groups.get(name)
        if group is None or not _PLAIN.fullmatch(name):
            continue
        before: Sequence[str] = [*parents.get(name, ()), *group.jobs[0].inputs]
        lines.append(f"{name}: {' '.join(filter(_PLAIN.fullmatch, before))} ; +@:\n")
    return "".join(lines)
