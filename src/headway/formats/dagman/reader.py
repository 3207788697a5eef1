"""Reads a DAGMan file and the files it takes in.

DAGMan goes over a file twice: nodes first, then everything that names them. Here a command is carried out at once while
all it names is known, which is nearly always; from the first one that names something unknown on, the second pass does
the rest. Either way every command sees the same DAG, in the same order.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from headway.formats.dagman.arc_lines import arcs, connect, pin, weak_arcs
from headway.formats.dagman.modifiers import MODIFIERS
from headway.formats.dagman.node_lines import check_name, description_line, node, node_line, opens
from headway.formats.dagman.nodes import Dag, UnknownNameError
from headway.formats.dagman.settings import SETTINGS
from headway.formats.dagman.size import MOST_FILES, Sizes
from headway.formats.dagman.submit_files import missing_files
from headway.formats.dagman.words import FIRST, KEYWORDS, NODES, Lines, WordError, canonical, tokens, unquoted
from headway.formats.world import World
from headway.model.errors import InputError, shown
from headway.model.record import field, mutable
from headway.model.workflow import Workflow

_RESCUE = re.compile(r"(.+)\.rescue\d+$")
_WORD_OF = {word: word for word in KEYWORDS}  # spellings met so far, and what they mean
# Commands that see the whole line: what is quoted there is not for the tokens.
_WHOLE_LINE = frozenset(("VARS", "SCRIPT", "SET_JOB_ATTR", "ENV"))
_WITH_BLOCK = frozenset(NODES) - {"SUBDAG"} | {"SUBMIT_DESCRIPTION"}


@mutable
class Scope:
    """Where names mean the same nodes: a DAG file, or a splice's, with all it includes."""

    path: str
    prefix: str  # what the nodes' names begin with in the whole DAG: "S+T+" in splice T of splice S
    included: list[str] = field(default_factory=list)


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow of a DAGMan file; of a rescue file, the DAG it rescues with what is done marked."""
    if arguments:
        raise InputError(path, 1, "a DAGMan file takes no arguments.", "Leave them out.")
    return parse_scopes(path, world)[0]


def parse_scopes(path: str, world: World) -> tuple[Workflow, list[Scope]]:
    """The same, and the files its nodes are declared in, the outermost first."""
    original = _rescued(path, world)
    dag = Dag()
    reader = _Reader(world, posixpath.dirname(original))
    reader.whole(original, dag)
    if original != path:
        dag.plus_allowed = True
        reader.read(path, dag)
    if dag.is_blank:
        raise InputError(path, 1, "the file is empty.", "A DAG has at least one node: JOB NAME SUBMIT-FILE.")
    return _workflow(original, dag, reader), reader.scopes


def _rescued(path: str, world: World) -> str:
    """The DAG that a rescue file belongs to; the file itself if it is a whole DAG, as old DAGMans wrote them."""
    rescue = _RESCUE.match(path)
    if rescue is None or world.exists(rescue[1]):
        return rescue[1] if rescue else path
    if any(line.split(None, 1)[:1] and canonical(line.split(None, 1)[0]) in NODES for line in world.lines(path)):
        return path
    raise InputError(path, 1, f"the DAG that it rescues, {shown(rescue[1])}, is not there.", "Put it beside this file.")


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
    workflow.warnings += missing_files(workflow, reader.base, reader.world)
    return workflow


class _Reader:
    def __init__(self, world: World, base: str) -> None:
        self.world = world
        self.base = base  # the outermost DAG's directory
        self.inside = ""  # the DIRs of the splices around the file being read
        self.open: list[str] = []  # files being read, outermost first
        self.files = 0  # read so far
        self.prefix = ""  # of the nodes of the splice being read
        self.scopes: list[Scope] = []
        self.is_sized = False  # whether it is known how large the DAG becomes

    def whole(self, path: str, dag: Dag) -> None:
        """Reads a DAG: a file, what it includes, and then the pins it connects."""
        self.scopes.append(Scope(path, self.prefix))
        dag.included = self.scopes[-1].included
        self.read(path, dag)
        for first, second, line in dag.connects:
            try:
                dag.connect(first, second, line)
            except WordError as error:
                raise InputError(path, line, error.what, error.fix) from None

    def read(self, path: str, dag: Dag) -> None:
        """Both passes over one file."""
        self.files += 1
        self.open.append(posixpath.normpath(path))
        outer, dag.file = dag.file, posixpath.basename(path)
        postponed = self._pass(path, dag, None)
        if postponed:
            self._pass(path, dag, postponed)
        dag.file = outer
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
        dag.is_blank = dag.is_blank and lines.blank
        if lines.broken_off and not second:
            dag.warnings.append(f"{path}: the last line ends in a backslash, so its command is ignored.")
        return postponed

    def _first(self, keyword: str, words: list[str], text: str, lines: Lines, dag: Dag, skip: bool) -> None:
        """A node, splice, description or setting; in the second pass only its inline block is passed over."""
        if skip:
            if keyword in _WITH_BLOCK and len(words) > 2 and opens(words[2]):
                lines.block(words[2])
            return
        if keyword == "JOB" and len(words) == 3 and words[2][0] not in "{@\"'":
            node(dag, "job", words[1], words[2])  # nearly every line that comes here
        elif keyword in NODES:
            node_line(keyword, words, lines, dag)
        elif keyword == "SPLICE":
            self._splice(words, lines.number, dag)
        elif keyword == "SUBMIT_DESCRIPTION":
            description_line(words, lines, dag)
        elif keyword == "REJECT":
            raise WordError("the DAG is marked with REJECT.", "Remove that line to use it.")
        else:
            SETTINGS[keyword](dag, words, text)

    def _second(self, keyword: str, words: list[str], text: str, line: int, dag: Dag, final: bool) -> None:
        """A command that names nodes, splices or files."""
        if keyword == "PARENT":
            arcs(words, line, dag)
        elif keyword in MODIFIERS:
            if len(words) < 2:
                raise WordError(f"{keyword} names no node.", f"Expected {keyword} NODE ….")
            MODIFIERS[keyword](dag, words, text, final)
        elif keyword == "WEAK":
            weak_arcs(words, line, dag)
        elif keyword == "INCLUDE":
            self._include(words, dag, final)
        elif keyword == "CONNECT":
            connect(words, line, dag)
        elif keyword in ("PIN_IN", "PIN_OUT"):
            pin(keyword, words, dag)
        else:
            SETTINGS[keyword](dag, words, text)

    # --- other files -----------------------------------------------------------------------------------------------

    def _include(self, words: list[str], dag: Dag, final: bool) -> None:
        if len(words) != 2:
            raise WordError("INCLUDE takes one file.", "Expected INCLUDE FILE.")
        if not final:
            raise UnknownNameError("INCLUDE comes after the nodes")
        file = self._file(unquoted(words[1]), self.inside, "included")
        dag.included.append(file)
        self.read(file, dag)

    def _splice(self, words: list[str], line: int, dag: Dag) -> None:
        if len(words) < 3:
            raise WordError("a splice needs a name and a file.", "Expected SPLICE NAME FILE.dag [DIR DIRECTORY].")
        name, directory = words[1], None
        check_name(name)
        if len(words) > 3:
            if words[3].upper() != "DIR" or len(words) != 5:
                raise WordError(f"unexpected word {shown(words[3])}.", "Expected SPLICE NAME FILE.dag [DIR DIRECTORY].")
            directory = unquoted(words[4])
        if dag.is_taken(name):
            raise WordError(f"{shown(name)} is already defined.", "Give the splice another name.")
        outer, inside = (self.inside, self.prefix), posixpath.join(self.inside, directory or "")
        file = self._file(unquoted(words[2]), inside, "splice")
        if not self.is_sized:
            self.is_sized = True
            Sizes(self.world, self._place).check(self.open[0])
        inner = Dag(is_splice=True, texts=dag.texts)
        self.inside, self.prefix = inside, f"{self.prefix}{name}+"
        self.whole(file, inner)
        self.inside, self.prefix = outer
        dag.take_in(name, inner, directory, line)

    def _file(self, path: str, inside: str, what: str) -> str:
        """Where a file that is named here lies: beside the DAG, or else where Headway was called, as DAGMan has it."""
        if self.files > MOST_FILES:
            raise WordError(f"over {MOST_FILES:,} files are taken in.", "Do splices or includes multiply?")
        place = self._place(path, inside)
        if place is None:
            raise WordError(f"{what} file {shown(path)} is not there.", "Check its name and directory.")
        if posixpath.normpath(place) in self.open:
            raise WordError(f"{what} {shown(path)} takes itself in.", "Files may not go round in circles.")
        return place

    def _place(self, path: str, inside: str) -> str | None:
        places = (posixpath.join(start, inside, path) for start in (self.base, ""))
        return next(filter(self.world.exists, places), None)


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
