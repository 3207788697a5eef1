"""Reads a DAGMan file and the files it takes in.

DAGMan goes over a file twice: nodes first, then everything that names them. Here a command is carried out at once while
all it names is known, which is nearly always; from the first one that names something unknown on, the second pass does
the rest. Either way every command sees the same DAG, in the same order.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from itertools import chain

from headway.formats.dagman.modifiers import MODIFIERS
from headway.formats.dagman.nodes import Dag, UnknownNameError
from headway.formats.dagman.settings import SETTINGS
from headway.formats.dagman.words import (
    FIRST,
    KEYWORDS,
    NODES,
    RESERVED,
    Lines,
    WordError,
    canonical,
    integer,
    tokens,
    unquoted,
)
from headway.formats.world import World
from headway.model.errors import InputError, ModelError, shown
from headway.model.workflow import Group, Job, Workflow

_RESCUE = re.compile(r"(.+)\.rescue\d+$")
# The form of nearly every VARS line; others are read piece by piece.
_ONE_VARIABLE = re.compile(r'\S+[ \t]+([^\s"\']+)[ \t]+([A-Za-z_][\w.]*)[ \t]*=[ \t]*"([^"\\]*)"\s*$', re.ASCII)
_WORD_OF = {word: word for word in KEYWORDS}  # spellings met so far, and what they mean
# Commands that see the whole line: what is quoted there is not for the tokens.
_WHOLE_LINE = frozenset(("VARS", "SCRIPT", "SET_JOB_ATTR", "ENV"))
_WITH_BLOCK = frozenset(NODES) - {"SUBDAG"} | {"SUBMIT_DESCRIPTION"}


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow of a DAGMan file; of a rescue file, the DAG it rescues with what is done marked."""
    if arguments:
        raise InputError(path, 1, "a DAGMan file takes no arguments.", "Leave them out.")
    rescue = _RESCUE.match(path)
    original = rescue[1] if rescue and world.exists(rescue[1]) else path
    dag = Dag()
    reader = _Reader(world, posixpath.dirname(original))
    reader.whole(original, dag)
    if original != path:
        dag.plus_allowed = True
        reader.read(path, dag)
    if not dag.commands:
        raise InputError(path, 1, "the file has no commands.", "A DAG has at least one node: JOB NAME SUBMIT-FILE.")
    return _workflow(original, dag, reader)


def _workflow(path: str, dag: Dag, reader: _Reader) -> Workflow:
    name = posixpath.basename(path)
    for ending in (".xz", ".gz", ".dag"):
        name = name.removesuffix(ending)
    workflow = Workflow(name or "workflow", dag.members)
    for kind, group in dag.special.values():
        if kind == "final":
            workflow.final = group
        elif kind == "provisioner":
            workflow.provisioner = group
        else:
            workflow.services.append(group)
    workflow.throttles, workflow.settings = dag.throttles, dag.settings
    workflow.descriptions = dag.descriptions
    workflow.warnings = dag.warnings
    if not len(dag.members) and not dag.special:
        workflow.warnings.append("the DAG has no nodes.")
    workflow.warnings += _missing_files(workflow, reader.bases[0], reader.world)
    return workflow


class _Reader:
    def __init__(self, world: World, base: str) -> None:
        self.world = world
        self.bases = [base]  # where relative paths start: the DAG's directory, or a splice's DIR
        self.open: list[str] = []  # files being read, outermost first
        self.descriptions: dict[str, str] = {}  # one string for each submit file, however many nodes name it
        self.keys: dict[str, str] = {}  # one string for each variable

    def whole(self, path: str, dag: Dag) -> None:
        """Reads a DAG: a file, what it includes, and then the pins it connects."""
        self.read(path, dag)
        for first, second, line in dag.connects:
            try:
                dag.connect(first, second, line)
            except WordError as error:
                raise InputError(path, line, error.what, error.fix) from None

    def read(self, path: str, dag: Dag) -> None:
        """Both passes over one file."""
        self.open.append(path)
        postponed = self._pass(path, dag, None)
        if postponed:
            self._pass(path, dag, postponed)
        self.open.pop()

    def _pass(self, path: str, dag: Dag, second_from: int | None) -> int | None:
        """One pass; in the first one, the line from which on commands had to be left to the second."""
        lines = Lines(self.world.lines(path))
        postponed: int | None = None
        second = second_from is not None
        try:
            for first, words, text in lines.commands():
                keyword = _WORD_OF.get(words[0]) or _keyword(words[0])
                if ('"' in text or "'" in text) and keyword not in _WHOLE_LINE:
                    words = tokens(text)
                if keyword in FIRST:
                    self._first(keyword, words, text, lines, dag, skip=second)
                elif not postponed and (second_from is None or first >= second_from):
                    try:
                        self._second(keyword, words, text, lines.number, dag, final=second)
                    except UnknownNameError:
                        if second:
                            raise
                        postponed = first
        except WordError as error:
            raise InputError(path, lines.number, error.what, error.fix) from None
        dag.commands += lines.number
        if lines.broken_off and not second:
            dag.warnings.append(f"{path}: the last line ends in a backslash, so its command is ignored.")
        return postponed

    # --- what is read first ----------------------------------------------------------------------------------------

    def _first(self, keyword: str, words: list[str], text: str, lines: Lines, dag: Dag, skip: bool) -> None:
        """A node, splice, description or setting; in the second pass only its inline block is passed over."""
        if skip:
            if keyword in _WITH_BLOCK and len(words) > 2 and _opens(words[2]):
                lines.block(words[2])
            return
        if keyword == "JOB" and len(words) == 3 and words[2][0] not in "{@\"'":
            self._node(dag, "job", words[1], words[2])  # nearly every line that comes here
        elif keyword in NODES:
            self._node_line(keyword, words, lines, dag)
        elif keyword == "SPLICE":
            self._splice(words, lines.number, dag)
        elif keyword == "SUBMIT_DESCRIPTION":
            self._description(words, lines, dag)
        elif keyword == "REJECT":
            raise WordError("the DAG is marked with REJECT.", "Remove that line to use it.")
        else:
            SETTINGS[keyword](dag, words, text)

    def _node(self, dag: Dag, kind: str, name: str, description: str) -> Job:
        _check_name(name)
        job = Job(description=self.descriptions.setdefault(description, description))
        if kind == "job":
            if name in dag.special or name in dag.splices:
                raise WordError(f"{shown(name)} is already defined.", "Give the node another name.")
            if description.endswith(".condor.sub"):
                raise WordError(
                    f"{shown(description)} is a DAG submitted as a job.", "Use SUBDAG EXTERNAL NAME FILE.dag instead."
                )
            try:
                dag.members.add(Group(name, [job]))
            except ModelError:
                raise WordError(f"node {shown(name)} is already defined.", "Give it another name.") from None
            return job
        if dag.is_taken(name):
            raise WordError(f"{shown(name)} is already defined.", "Give the node another name.")
        if kind != "service" and any(other == kind for other, _ in dag.special.values()):
            raise WordError(f"there is a {kind.upper()} node already.", f"A DAG has at most one {kind.upper()} node.")
        if kind == "final" and len(self.bases) > 1:
            raise WordError("a splice can have no FINAL node.", "Move it to the outermost DAG.")
        dag.special[name] = (kind, Group(name, [job]))
        return job

    def _node_line(self, keyword: str, words: list[str], lines: Lines, dag: Dag) -> None:
        """A node with options, an inline description, or of another kind than JOB."""
        subdag = keyword == "SUBDAG"
        if subdag:
            if len(words) < 2 or words[1].upper() != "EXTERNAL":
                raise WordError("SUBDAG without EXTERNAL.", "Expected SUBDAG EXTERNAL NAME FILE.dag.")
            words = words[1:]
        if len(words) < 2:
            raise WordError("the node has no name.", f"Expected {keyword} NAME SUBMIT-FILE.")
        _check_name(words[1])
        if len(words) < 3:
            raise WordError(
                f"node {shown(words[1])} has no {'DAG file' if subdag else 'submit description'}.",
                f"Expected {keyword} NAME {'FILE.dag' if subdag else 'SUBMIT-FILE'}.",
            )
        name, description, options = words[1], words[2], words[3:]
        kind = "job" if keyword in ("JOB", "SUBDAG") else keyword.lower()
        if not subdag and _opens(description):
            body, rest = lines.block(words[2])
            options = tokens(rest)
            key = f"{{{name}}}"
            job = self._node(dag, kind, name, key)
            dag.descriptions[key] = body
        else:
            file = unquoted(description)
            job = self._node(dag, kind, name, "" if subdag else file)
            if subdag:
                dag.rule(job, "subdag", file)
        self._options(keyword, name, job, options, dag)

    def _options(self, keyword: str, name: str, job: Job, options: list[str], dag: Dag) -> None:
        rest = iter(options)
        for option in rest:
            word = option.upper()
            if word == "DIR":
                directory = next(rest, None)
                if directory is None:
                    raise WordError("DIR without a directory.", "Expected DIR DIRECTORY.")
                dag.placed(job, unquoted(directory))
            elif word == "NOOP":
                dag.rule(job, "noop", True)
            elif word == "DONE":
                if keyword in ("JOB", "SUBDAG"):
                    dag.rule(job, "done", True)
                else:
                    dag.warnings.append(f"{keyword} node {shown(name)} cannot be DONE; the word is ignored.")
            else:
                raise WordError(f"unexpected word {shown(option)}.", "Expected DIR, NOOP or DONE, or the line's end.")

    def _description(self, words: list[str], lines: Lines, dag: Dag) -> None:
        if len(words) < 2:
            raise WordError("the submit description has no name.", "Expected SUBMIT-DESCRIPTION NAME {.")
        if len(words) < 3 or not _opens(words[2]):
            raise WordError("no description follows.", "Expected SUBMIT-DESCRIPTION NAME { and its lines.")
        name = words[1]
        body, rest = lines.block(words[2])
        if rest:
            raise WordError(f"unexpected word {shown(rest)}.", "Nothing may follow the description.")
        if name in dag.descriptions:
            raise WordError(f"submit description {shown(name)} is already defined.", "Give it another name.")
        dag.descriptions[name] = body

    def _splice(self, words: list[str], line: int, dag: Dag) -> None:
        if len(words) < 3:
            raise WordError("a splice needs a name and a file.", "Expected SPLICE NAME FILE.dag [DIR DIRECTORY].")
        name, directory = words[1], None
        _check_name(name)
        if len(words) > 3:
            if words[3].upper() != "DIR" or len(words) != 5:
                raise WordError(f"unexpected word {shown(words[3])}.", "Expected SPLICE NAME FILE.dag [DIR DIRECTORY].")
            directory = unquoted(words[4])
        if dag.is_taken(name):
            raise WordError(f"{shown(name)} is already defined.", "Give the splice another name.")
        base = posixpath.join(self.bases[-1], directory) if directory else self.bases[-1]
        file = self._file(unquoted(words[2]), base, "splice")
        inner = Dag()
        self.bases.append(base)
        self.whole(file, inner)
        self.bases.pop()
        dag.take_in(name, inner, directory, line)

    def _file(self, path: str, base: str, what: str) -> str:
        """Where a file that is named here lies: beside the DAG, or else where Headway was called, as DAGMan has it."""
        for place in (posixpath.join(base, path), path):
            if self.world.exists(place):
                if place in self.open:
                    raise WordError(f"{what} {shown(path)} takes itself in.", "Files may not go round in circles.")
                return place
        raise WordError(f"{what} file {shown(path)} is not there.", "Check its name and directory.")

    # --- what names nodes ------------------------------------------------------------------------------------------

    def _second(self, keyword: str, words: list[str], text: str, line: int, dag: Dag, final: bool) -> None:
        if keyword == "PARENT":
            self._arcs(words, line, dag, weak=False)
        elif keyword == "VARS":
            self._variables(words, text, dag, final)
        elif keyword == "WEAK":
            if len(words) < 2 or words[1].upper() != "PARENT":
                raise WordError("WEAK without PARENT.", "Expected WEAK PARENT A CHILD B.")
            self._arcs(words[1:], line, dag, weak=True)
        elif keyword in MODIFIERS:
            if len(words) < 2:
                raise WordError(f"{keyword} names no node.", f"Expected {keyword} NODE ….")
            MODIFIERS[keyword](dag, words, text, final)
        elif keyword == "INCLUDE":
            if len(words) != 2:
                raise WordError("INCLUDE takes one file.", "Expected INCLUDE FILE.")
            if not final:
                raise UnknownNameError("INCLUDE comes after the nodes")
            self.read(self._file(unquoted(words[1]), self.bases[-1], "included"), dag)
        elif keyword == "CONNECT":
            if len(words) != 3:
                raise WordError("CONNECT takes two splices.", "Expected CONNECT SPLICE SPLICE.")
            dag.connects.append((words[1], words[2], line))
        elif keyword in ("PIN_IN", "PIN_OUT"):
            if len(words) != 3:
                raise WordError(f"{keyword} takes a node and a number.", f"Expected {keyword} NODE NUMBER.")
            at = dag.members.place(words[1])
            if at is None or "+" in words[1]:
                raise dag.unknown(words[1])
            pins = dag.pins_in if keyword == "PIN_IN" else dag.pins_out
            pins.setdefault(integer(words[2], "the pin's number", 1), []).append(at)
        else:
            SETTINGS[keyword](dag, words, text)

    def _arcs(self, words: list[str], line: int, dag: Dag, weak: bool) -> None:
        members = dag.members
        if len(words) == 4 and words[2] == "CHILD" and not dag.splices and words[1] != words[3]:
            parent, child = members.place(words[1]), members.place(words[3])
            if parent is not None and child is not None:  # nearly every line that comes here
                members.arc(parent, child, line, weak)
                return
        sides = [at for at, word in enumerate(words) if word.upper() == "CHILD"]
        if not sides:
            raise WordError("PARENT without CHILD.", "Expected PARENT A CHILD B.")
        parents = words[1 : sides[0]]
        children = [word for word in words[sides[0] + 1 :] if word.upper() != "CHILD"]
        if not parents:
            raise WordError("no parent is named.", "Expected PARENT A CHILD B.")
        if not children:
            raise WordError("no child is named.", "Expected PARENT A CHILD B.")
        dag.join(
            dag.ends(parents, lambda splice: splice.terminal),
            dag.ends(children, lambda splice: splice.initial),
            line,
            weak,
        )

    def _variables(self, words: list[str], text: str, dag: Dag, final: bool) -> None:
        one = _ONE_VARIABLE.match(text)
        if one is not None and one[1].upper() != "ALL_NODES" and not one[2].lower().startswith("queue"):
            job = dag.job(one[1])  # nearly every line that comes here
            if not job.variables and not job.overrides:
                key = one[2]
                job.variables = ((self.keys.setdefault(key, key), one[3]),)
                return
        MODIFIERS["VARS"](dag, words, text, final)


def _keyword(word: str) -> str:
    """The command a word means, remembered for the next line that spells it so."""
    keyword = canonical(word)
    if keyword not in KEYWORDS:
        from difflib import get_close_matches

        close = get_close_matches(keyword[:40], KEYWORDS, 1)
        fix = (
            f"Did you mean {close[0].replace('_', '-')}?"
            if close
            else "Expected a command such as JOB, PARENT or VARS."
        )
        raise WordError(f"{shown(word)} is not a valid DAG command.", fix)
    _WORD_OF[word] = keyword
    return keyword


def _check_name(name: str) -> None:
    if name.upper() in RESERVED:
        raise WordError(f"{shown(name)} is a reserved word.", "Give the node another name.")
    if "+" in name:
        raise WordError(f"the name {shown(name)} contains +, which stands for splices.", "Give it another name.")


def _opens(word: str) -> bool:
    """Whether a word begins a description written in the DAG file itself."""
    return word[0] == "{" or word.startswith("@=")


def _missing_files(workflow: Workflow, base: str, world: World) -> list[str]:
    """A sentence for each submit file that is not there: running needs them, looking does not."""
    named: dict[tuple[str, str], str] = {}
    plain: dict[str, str] = {}
    for group in chain(workflow.groups, workflow.special()):
        for job in group.jobs:
            file = job.description
            if file in plain or not file or file in workflow.descriptions:
                continue
            if job.setting.directory is None:
                plain[file] = group.name
            else:
                named.setdefault((job.setting.directory, file), group.name)
    missing = [(name, file) for file, name in plain.items() if not _there(world, base, "", file)]
    missing += [(name, file) for (place, file), name in named.items() if not _there(world, base, place, file)]
    told = [f"submit file {shown(file)} of node {shown(name)} is not there." for name, file in missing[:_TOLD]]
    if len(missing) > _TOLD:
        told.append(f"{len(missing) - _TOLD} more submit files are not there.")
    return told


_TOLD = 5  # missing files named one by one


def _there(world: World, base: str, directory: str, file: str) -> bool:
    """Whether a submit file is where DAGMan would look, seen from the DAG's directory or from here."""
    inner = posixpath.join(directory, file)
    return world.exists(posixpath.join(base, inner)) or world.exists(inner)
