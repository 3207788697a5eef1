"""The groups of a workflow as rows of a browser: those of TrellisDAG's Fig. 15, prologue groups and ids among them.

Nothing is kept for each job but one digit, its state, and nothing is counted before a row is shown, so ten thousand
groups cost no more than those that fit on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from headway.engine.groups import WORDS, group_state, shown_state
from headway.live.store.views import JobState, Span
from headway.model.flatten import PROLOGUE
from headway.model.record import record
from headway.model.states import Kind, State

_ZERO, _NO_JOB = ord("0"), ord("9")
_NO_JOBS = (Kind.MILESTONE, Kind.PART)
_OWN = re.compile(r"(_prologue|_epilogue)?(#\d+)?")  # what follows a group's path in the names of its own jobs
_WORDS = {State.WAITING: "Not started", State.ELIGIBLE: "Not started", State.LATER: "Not started"}
TOP = -1  # the level that is in no group


class What(Enum):
    """What a row stands for."""

    GROUP = "group"
    PROLOGUE = "prologue"
    JOB = "job"  # one of several in the same group


@record
class Row:
    """A group, the prologue group of one, or a job of the group that was dived into. Its jobs are first to last."""

    what: What
    path: str
    name: str  # the path without that of the group above
    id: int | None  # as the paper counts: groups in order, prologue groups included; jobs have none
    first: int
    last: int  # before first: there are no jobs, as in most prologue groups
    inside: int | None = None  # the level that one gets to by diving
    until: int = -1  # the last place of the group that a prologue group without jobs is of

    @property
    def span(self) -> Span:
        return Span(self.path, self.first, self.last)


@record
class Status:
    """How a row stands, in the words of Fig. 15."""

    state: State
    word: str
    attribute: str  # Disabled if some of its jobs are
    counts: Mapping[State, int]

    @property
    def done(self) -> int:
        return self.counts.get(State.DONE, 0)

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Digits:
    """The state of every place of a workflow."""

    def __init__(self, digits: bytearray | None = None) -> None:
        self.digits = bytearray() if digits is None else digits

    def take(self, jobs: Iterable[JobState]) -> tuple[bool, bool]:
        """Rows of the change feed; whether something is different, and whether there are places that are new."""
        different, before = False, len(self.digits)
        for one in jobs:
            if one.job >= len(self.digits):
                self.digits.extend(bytes([_NO_JOB]) * (one.job + 1 - len(self.digits)))
            digit = _ZERO + shown_state(one.state, one.off) if one.kind not in _NO_JOBS else _NO_JOB
            if self.digits[one.job] != digit:
                self.digits[one.job] = digit
                different = True
        return different, len(self.digits) > before

    def is_job(self, place: int) -> bool:
        return self.digits[place] != _NO_JOB

    def status(self, row: Row) -> Status:
        """How the jobs of a row stand. A prologue group without jobs is done when its group may begin."""
        counts = self._between(row.first, row.last)
        if row.last < row.first:
            has_begun = self._between(row.first, row.until).keys() - {State.WAITING}
            state = State.DONE if has_begun else State.WAITING
            return Status(state, "Done" if has_begun else "Not started", "None", counts)
        state = group_state(counts)
        word = _WORDS.get(state) or WORDS[state].capitalize()
        off = "Disabled" if counts.get(State.DISABLED) else "None"
        return Status(state, word, off, counts)

    def _between(self, first: int, last: int) -> dict[State, int]:
        if last < first:
            return {}
        return {state: count for state in State if (count := self.digits.count(_ZERO + state, first, last + 1))}

    def total(self) -> tuple[int, int]:
        """Jobs that are done, and all."""
        return self.digits.count(_ZERO + State.DONE), len(self.digits) - self.digits.count(_NO_JOB)


class Tree:
    """The groups of a workflow, level by level."""

    def __init__(self, spans: Sequence[Span], names: Mapping[int, str], digits: Digits) -> None:
        self._spans, self._names, self._digits = spans, names, digits
        self._above = [TOP] * len(spans)
        self._below: list[list[int]] = [[] for _ in range(len(spans) + 1)]  # the last: of the top
        stack: list[int] = []
        for number, span in enumerate(spans):  # supergroups come before their subgroups
            while stack and not _holds(spans[stack[-1]], span):
                stack.pop()
            self._above[number] = stack[-1] if stack else TOP
            self._below[self._above[number]].append(number)
            stack.append(number)
        self._prologues = [0] * len(spans)  # ids of prologue groups
        self._ids, self._single = self._numbered()

    def _numbered(self) -> tuple[list[int], dict[int, int]]:
        """The id of each group, and of each job that is a group by itself. A prologue group comes before all in it."""
        ids, single = [0] * len(self._spans), dict[int, int]()
        latest, following = 0, 0
        stack: list[int] = []
        for place in range(len(self._digits.digits)):
            while stack and self._spans[stack[-1]].last < place:
                latest = ids[stack.pop()] = latest + 1
            while following < len(self._spans) and self._spans[following].first == place:
                latest = self._prologues[following] = latest + 1
                stack.append(following)
                following += 1
            if self._digits.is_job(place) and not (stack and self._is_own(place, stack[-1])):
                latest += 2
                single[place] = latest
        while stack:
            latest = ids[stack.pop()] = latest + 1
        return ids, single

    def _is_own(self, place: int, group: int) -> bool:
        """Whether a job is one of the group itself, rather than of a group of one job in it."""
        name, path = self._names.get(place, ""), self._spans[group].path
        return name.startswith(path) and _OWN.fullmatch(name, len(path)) is not None

    def path(self, level: int) -> str:
        """The group that a level is in; nothing at the top."""
        return "" if level == TOP else self._spans[level].path

    def above(self, level: int) -> int:
        """The level above."""
        return TOP if level == TOP else self._above[level]

    def level(self, path: str) -> int:
        """The level in a group of that path, if it is still there; otherwise the top."""
        return next((number for number, span in enumerate(self._spans) if span.path == path), TOP)

    def rows(self, level: int, with_empty: bool = False) -> list[Row]:
        """What one sees in a group. `with_empty`: prologue groups that have no jobs too, as in Fig. 15."""
        if level == TOP:
            first, last = 0, len(self._digits.digits) - 1
        else:
            span = self._spans[level]
            first, last = self._after_prologue(span), span.last
        found: list[Row] = []
        for number in self._below[level]:
            span = self._spans[number]
            found += self._singles(level, range(first, span.first), with_empty)
            begin = self._after_prologue(span)
            name = self._within(level, span.path)
            if begin > span.first or with_empty:
                id = self._prologues[number]
                found.append(
                    Row(
                        What.PROLOGUE, span.path + PROLOGUE, name + PROLOGUE, id, span.first, begin - 1, until=span.last
                    )
                )
            found.append(Row(What.GROUP, span.path, name, self._ids[number], begin, span.last, number))
            first = span.last + 1
        return found + list(self._singles(level, range(first, last + 1), with_empty))

    def _singles(self, level: int, places: Iterable[int], with_empty: bool) -> Iterator[Row]:
        """Jobs that are in no group of the level: its own, and those that are groups by themselves."""
        for place in places:
            if not self._digits.is_job(place):
                continue
            path = self._names.get(place, "")
            name, id = self._within(level, path), self._single.get(place)
            if id is None:
                yield Row(What.JOB, path, name, None, place, place)
                continue
            if with_empty:
                yield Row(What.PROLOGUE, path + PROLOGUE, name + PROLOGUE, id - 1, place, place - 1, until=place)
            yield Row(What.GROUP, path, name, id, place, place)

    def _within(self, level: int, path: str) -> str:
        above = self.path(level) + "/"
        return path[len(above) :] if level != TOP and path.startswith(above) else path

    def _after_prologue(self, span: Span) -> int:
        """The first place of a group that is not of its prologue group."""
        place, prefix = span.first, span.path + PROLOGUE
        while place <= span.last and self._names.get(place, "").partition("#")[0] == prefix:
            place += 1
        return place


def _holds(outer: Span, inner: Span) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last
