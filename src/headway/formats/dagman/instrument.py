"""The PRIO tool (section 3.2 of its paper): priorities written into a DAG file, and where asked into submit files.

Nothing of the user's is changed or moved. DAGMan lets the last line on a node win, so Headway's lines go to the end of
the file whose names they use: the DAG's own, or a splice's for the nodes of a splice.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from headway.formats.dagman.outline import Outline, declaration, outline
from headway.formats.dagman.own_lines import END, USE, VARIABLE, with_own, without_own
from headway.formats.dagman.reader import Scope, parse_scopes
from headway.formats.dagman.remarks import Remarks
from headway.formats.dagman.sharing import Sharing
from headway.formats.dagman.submit_files import found_file
from headway.formats.world import Originals
from headway.model.dag import Dag
from headway.model.errors import InputError, shown
from headway.model.flatten import flatten
from headway.model.job import Job
from headway.model.record import field, mutable, record

STYLES = ("priority", "vars")
_VALUE = f"$({VARIABLE})"
_MAY_SAY = re.compile(rb"prio|include", re.IGNORECASE)  # nearly no submit file does


@record
class Change:
    """What a file is, and what it is to be."""

    path: str
    before: bytes
    after: bytes


@mutable
class Instrumented:
    """The priority of each job, the files to change, in this order, and sentences for the user."""

    priorities: dict[str, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def instrumented(
    path: str, world: Originals, ranks: Callable[[Dag], Sequence[int]], style: str = "priority"
) -> Instrumented:
    """A DAG with priorities in it, in place of those that Headway wrote before."""
    return _Instrument(path, world, vars_style=style == "vars").written(ranks)


def restored(path: str, world: Originals) -> Instrumented:
    """A DAG without any of Headway's lines."""
    return _Instrument(path, world, vars_style=False).restored()


def priorities(dag: Dag, ranks: Sequence[int]) -> dict[str, int]:
    """The priority of each job by name: 1 for the last one, never 0, which means none; equal ranks stay equal."""
    distinct = sorted({ranks[node] for node in dag.jobs()}, reverse=True)
    value = {rank: at for at, rank in enumerate(distinct, 1)}
    return {dag.names[node]: value[ranks[node]] for node in dag.jobs()}


class _Instrument:
    def __init__(self, path: str, world: Originals, vars_style: bool) -> None:
        self.path = path
        self.world = world
        self.vars_style = vars_style
        self.workflow, self.scopes = parse_scopes(path, world)
        if self.scopes[0].path != path:
            raise InputError(path, 1, "this is a rescue file.", f"Name the DAG itself: {shown(self.scopes[0].path)}.")
        self.workflow.source = path
        self.remarks = Remarks(self.workflow.warnings)
        self.before: dict[str, bytes] = {}  # by a file's first name
        self.clean: dict[str, bytes] = {}  # the same without Headway's lines
        self.names: dict[str, str] = {}  # a file's identity: its first name
        self.dag_files = self._known(file for scope in self.scopes for file in (scope.path, *scope.included))
        self.submit_files = self._submit_files()
        self.sharing = Sharing(path, self.dag_files, world)

    def written(self, ranks: Callable[[Dag], Sequence[int]]) -> Instrumented:
        dag = flatten(self.workflow).dag
        given, lines = self._shares(priorities(dag, ranks(dag)))
        after = dict(self.clean)
        for file in self.dag_files:
            shape = outline(file, self.clean[file])
            own = self._inline(file, shape)
            if lines.get(file):
                self._check_end(file, shape)
                own[END] = self._lines(lines[file])
            self.remarks.own_lines(file, shape, self.vars_style)
            after[file] = with_own(self.clean[file], own)
        for file in self.submit_files:
            after[file] = self._submit(file)
        return Instrumented(given, self._changes(after), self.remarks.all())

    def restored(self) -> Instrumented:
        for file in self.submit_files:
            self._keep_if_needed(file)
        self.remarks.drop()
        return Instrumented({}, self._changes(self.clean), self.remarks.all())

    # --- files -----------------------------------------------------------------------------------------------------

    def _known(self, files: Iterable[str]) -> list[str]:
        """The files, each once and by its first name, and their bytes kept."""
        found: dict[str, None] = {}
        for file in files:
            name = self.names.setdefault(self.world.identity(file), file)
            found[name] = None
            if name not in self.before:
                self.before[name] = self.world.raw(name)
                self.clean[name] = without_own(name, self.before[name])
        return list(found)

    def _name(self, file: str) -> str:
        return self.names[self.world.identity(file)]

    def _jobs(self) -> Iterator[tuple[str, Job]]:
        """The nodes that can have a priority: not FINAL and its like, not join nodes."""
        return ((group.name, group.jobs[0]) for group in self.workflow.groups if group.jobs)

    def _submit_files(self) -> list[str]:
        """The submit files that are there; in the paper's style, none may be missing."""
        base = posixpath.dirname(self.path)
        seen: dict[tuple[str, str], str | None] = {}
        for name, job in self._jobs():
            key = job.setting.directory or "", job.description
            if not job.description or job.description in self.workflow.descriptions or key in seen:
                continue
            seen[key] = found_file(job.description, key[0], base, self.world)
            if seen[key] is None and self.vars_style and not job.rules.noop:
                raise self._missing(name, job.description)
        found = self._known(file for file in seen.values() if file is not None)
        if both := set(found).intersection(self.dag_files):
            raise InputError(min(both), 1, "this is named as a DAG file and as a submit file.", "It can be but one.")
        return found

    def _missing(self, node: str, file: str) -> InputError:
        prefix, plus, local = node.rpartition("+")
        scope = next(scope for scope in self.scopes if scope.prefix == prefix + plus)
        for path in (scope.path, *scope.included):
            if line := declaration(self.world.raw(path), local):
                break
        return InputError(
            path,
            line,
            f"submit file {shown(file)} of node {shown(local)} is not there.",
            "--style vars must change it; without that option the DAG file alone is changed.",
        )

    def _changes(self, after: Mapping[str, bytes]) -> list[Change]:
        """What differs. Should only some be replaced, no submit file names a variable that the DAG does not set."""
        order = [*self.dag_files, *self.submit_files] if self.vars_style else [*self.submit_files, *self.dag_files]
        changes = [Change(file, self.before[file], after[file]) for file in dict.fromkeys(order)]
        changes = [change for change in changes if change.before != change.after]
        self.remarks.shared(self.sharing, [change.path for change in changes if change.path != self.path])
        return changes

    # --- the DAG -----------------------------------------------------------------------------------------------------

    def _shares(self, wanted: Mapping[str, int]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """What each job gets, and for each file what its nodes get: copies of one splice share, the highest counts."""
        place_of = {scope.prefix: self._name(scope.path) for scope in self.scopes}
        lines: dict[str, dict[str, int]] = {}
        homes: dict[str, tuple[dict[str, int], str]] = {}
        for name, job in self._jobs():
            if job.rules.subdag is not None:
                self.remarks.subdag(name, job.rules.subdag, wanted[name], self.vars_style)
                if self.vars_style:
                    continue
            prefix, plus, local = name.rpartition("+")
            own = lines.setdefault(place_of[prefix + plus], {})
            own[local] = max(wanted[name], own.get(local, 0))
            homes[name] = own, local
        self.remarks.copies(_copies(self.scopes, place_of))
        return {name: own[local] for name, (own, local) in homes.items()}, lines

    def _lines(self, values: Mapping[str, int]) -> list[str]:
        """A line for each node, the highest priority first."""
        ordered = sorted(values.items(), key=lambda pair: -pair[1])
        if self.vars_style:
            return [f'Vars {name} {VARIABLE}="{value}"' for name, value in ordered]
        return [f"PRIORITY {name} {value}" for name, value in ordered]

    def _check_end(self, file: str, shape: Outline) -> None:
        if shape.is_broken_off:
            raise InputError(
                file, self.clean[file].rstrip().count(b"\n") + 1, "the last command ends in a backslash.", "Finish it."
            )

    def _inline(self, file: str, shape: Outline) -> dict[int, Sequence[str]]:
        """Where the descriptions in the DAG file itself need a line."""
        own: dict[int, Sequence[str]] = {}
        physical = self.clean[file].split(b"\n") if shape.blocks else []
        for block in shape.blocks:
            if not block.is_special:
                body = b"\n".join(physical[block.opening : block.closing - 1])
                at = self._place(file, body, block.opening)
                if at is not None:
                    own[block.closing - 1 if at == END else at] = (USE,)
        return own

    # --- submit descriptions -----------------------------------------------------------------------------------------

    def _submit(self, file: str) -> bytes:
        if not self.vars_style:
            self._keep_if_needed(file)
        at = self._place(file, self.clean[file], 0)
        return self.clean[file] if at is None else with_own(self.clean[file], {at: (USE,)})

    def _keep_if_needed(self, file: str) -> None:
        """Leaves a submit file its line while another DAG of the folder sets the variable."""
        if self.before[file] != self.clean[file] and (others := self.sharing.users(file)):
            self.clean[file] = self.before[file]
            self.remarks.kept(file, others)

    def _place(self, file: str, text: bytes, offset: int) -> int | None:
        """Where a description that begins behind line `offset` needs a line of ours: nowhere in the native style."""
        if not self.vars_style and not _MAY_SAY.search(text):
            return None
        from headway.formats.submit.priority_line import priority_lines  # seldom needed, and not cheap

        try:
            found = priority_lines(file, text.decode("utf-8", "surrogateescape"), self.world)
        except InputError as error:
            if self.vars_style:
                raise InputError(error.path, error.line + offset, error.what, error.fix) from None
            return None
        for own in found.own:
            if not self.vars_style or own.value.upper() != _VALUE:
                number = own.line + (offset if own.path == file else 0)
                self.remarks.submit_priority(own.path, number, self.vars_style, own.comes_first, is_inline=offset > 0)
        last = next((own.value.upper() for own in reversed(found.own) if own.comes_first), "")
        if not self.vars_style or last == _VALUE:
            return None
        if found.place is None and text.rstrip().endswith(b"\\"):
            line = offset + text.rstrip().count(b"\n") + 1
            raise InputError(file, line, "the last line ends in a backslash.", "Finish it.")
        return END if found.place is None else offset + found.place - 1


def _copies(scopes: Iterable[Scope], place_of: Mapping[str, str]) -> dict[str, int]:
    """How often each file is spliced in."""
    counts: dict[str, int] = {}
    for scope in scopes:
        file = place_of[scope.prefix]
        counts[file] = counts.get(file, 0) + 1
    return {file: count for file, count in counts.items() if count > 1}
