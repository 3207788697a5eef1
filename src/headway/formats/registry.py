"""The formats by name, and which one a file is in."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from importlib import import_module

from headway.formats.world import Rendering, World
from headway.model.errors import InputError, UsageError
from headway.model.record import record
from headway.model.workflow import Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record
class Format:
    """A format by name: its module is imported when it is used, and not before."""

    name: str
    about: str
    module: str
    reads: bool = True
    writes: bool = True
    renders: str = "render"  # the function of its module that writes it
    needs_commands: bool = False  # each job must have one: submit files are read before writing
    runs_code: str = ""  # what reading it executes, for the docs and --help

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(f"headway.formats.{self.module}"), name)
        return function

    def parse(self, path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
        if not self.reads:
            raise UsageError(f"{self.name} is a format to write, not to read.", f"Headway reads {names(reads=True)}.")
        workflow: Workflow = self._function("parse")(path, world, arguments)
        workflow.source, workflow.format = path, self.name
        return workflow

    def render(self, workflow: Workflow) -> Rendering:
        if not self.writes:
            raise UsageError(f"{self.name} is a format to read, not to write.", f"Headway writes {names(writes=True)}.")
        rendering: Rendering = self._function(self.renders)(workflow)
        return rendering


FORMATS = {
    format.name: format
    for format in (
        Format("dagman", "HTCondor DAGMan files, rescue files", "dagman"),
        Format("submit", "HTCondor submit description files", "submit", writes=False),
        Format(
            "makefile",
            "GNU Makefiles",
            "makefile",
            needs_commands=True,
            runs_code="$(shell …), and what make -n runs: lines with + or $(MAKE)",
        ),
        Format(
            "flat",
            "scripts of mqsub lines",
            "flat",
            needs_commands=True,
            runs_code="the script, if it is more than mqsub lines",
        ),
        Format(
            "description",
            "TrellisDAG's DAG description scripts",
            "description",
            writes=False,
            runs_code="the script",
        ),
        Format(
            "python",
            "Python scripts that build a headway.Workflow",
            "script",
            writes=False,
            runs_code="the script",
        ),
        Format("wfformat", "WfCommons WfFormat 1.5 and 1.6 (JSON), written as 1.5", "wfformat", needs_commands=True),
        Format(
            "wfformat-1.6",
            "the same, written as 1.6",
            "wfformat",
            reads=False,
            renders="render_1_6",
            needs_commands=True,
        ),
        Format("dax", "Pegasus DAX (XML)", "dax", writes=False),
        Format("dot", "Graphviz", "dot", reads=False),
        Format("mermaid", "Mermaid flow charts", "mermaid", reads=False),
    )
}


def names(reads: bool = False, writes: bool = False) -> str:
    """The formats that can be read, or written, as a list in a sentence."""
    return ", ".join(f.name for f in FORMATS.values() if (f.reads or not reads) and (f.writes or not writes))


def named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UsageError(f'there is no format "{name}".', f"Headway knows {names()}.")
    return FORMATS[name]


_ENDINGS = {
    ".dag": "dagman",
    ".sub": "submit",
    ".submit": "submit",
    ".mk": "makefile",
    ".mak": "makefile",
    ".make": "makefile",
    ".json": "wfformat",
    ".dax": "dax",
    ".xml": "dax",
    ".mq": "flat",
    ".sh": "flat",
}
_MAKEFILES = {"makefile", "gnumakefile"}
_PACKED = (".gz", ".xz")
# Patterns with their flags in them: each is compiled when it is first used, for which a short run need not wait.
_RESCUE = r"\.rescue\d+$"
_DAGMAN_NODE = (
    r"(?im)^\s*(?:(?:job|final|service|provisioner|subdag\s+external|splice)\s+\S+\s+\S"
    r"|(?:weak\s+)?parent\s+\S.*\schild\s)"
)
_DAGMAN_WORD = (  # these also begin lines of other formats
    r"(?im)^\s*(?:vars|script|include|retry|priority|category|maxjobs|config|submit-description)\s+\S"
)
_MQSUB = r"(?m)^[^#\n]*\bmqsub\b"
_SHELL = r"#!.*sh\b"
_QUEUE = r"(?im)^\s*queue\b"
_RULE = r"(?m)^[^\s#:=][^#:=\n]*::?(?:[^=]|$)"
_PYTHON = r"(?m)^#!.*python|^\s*(?:from\s+\S+\s+)?import\s+\S|^\s*def\s+\w+\s*\("
_DESCRIPTION = r"(?m)^\s*(?:Levels\s*=|def\s+generateGroup\b)"


def unpacked_name(path: str) -> str:
    """A file's name without .gz or .xz."""
    stem, ending = posixpath.splitext(path)
    return stem if ending.lower() in _PACKED else path


def detect(path: str, head: str) -> Format:
    """The format of a file from its name and its beginning."""
    if not head.strip():
        raise InputError(path, 1, "the file is empty.", "A workflow has at least one job.")
    name = posixpath.basename(unpacked_name(path))
    stem, ending = posixpath.splitext(name.lower())
    if ending == ".py" or (ending not in _ENDINGS and re.search(_PYTHON, head) and not re.search(_MQSUB, head)):
        return FORMATS["description" if re.search(_DESCRIPTION, head) else "python"]
    if ending in _ENDINGS:
        return FORMATS[_ENDINGS[ending]]
    if re.search(_RESCUE, name):
        return FORMATS["dagman"]
    if name.lower() in _MAKEFILES or stem in _MAKEFILES:
        return FORMATS["makefile"]
    return FORMATS[_from_content(path, head)]


def _from_content(path: str, head: str) -> str:
    start = head.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return "wfformat"
    if start.startswith("<"):
        return "dax"
    if re.search(_MQSUB, head) and (re.match(_SHELL, start) or not re.search(r"^\t", head, re.MULTILINE)):
        return "flat"
    if re.search(_DAGMAN_NODE, head):
        return "dagman"
    if re.search(_QUEUE, head) and "=" in head:
        return "submit"
    if re.search(_RULE, head):
        return "makefile"
    if re.search(_DAGMAN_WORD, head):
        return "dagman"
    raise InputError(
        path, 1, "this is in no format that Headway knows.", f"Say which with --format: {names(reads=True)}."
    )
