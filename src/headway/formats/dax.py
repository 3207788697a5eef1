"""Pegasus DAX, versions 2 and 3, read only.

A job is a group of one job under its id; the name of its transformation is an attribute, and the program it runs unless
the file has an <executable> for it. expat is used directly: it knows the line, and a document type is refused before
any entity can grow.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence
from typing import Any
from xml.parsers import expat

from headway.formats.flat import name_of
from headway.formats.world import World
from headway.model import attributes
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import Job
from headway.model.record import replace
from headway.model.workflow import Group, Workflow

NODES = ("job", "dag", "dax")
# What may stand where. Elements that say nothing on order, commands or files are passed over, with all they hold.
_IN_ADAG = {*NODES, "child", "executable", "file", "filename", "transformation", "profile", "metadata", "invoke"}
_IN_NODE = {"argument", "profile", "uses", "stdin", "stdout", "stderr", "metadata", "invoke"}
_PASSED_OVER = {"transformation", "metadata", "invoke"}
# Pegasus' profiles that are fields of a job: namespace and key, lower case, to the attribute, and what one of it is.
_PROFILES = {
    ("pegasus", "runtime"): ("seconds", ""),
    ("pegasus", "cores"): ("cores", ""),
    ("pegasus", "memory"): ("memory", "M"),
    ("dagman", "retry"): ("retries", ""),
}


def parse(path: str, world: World, arguments: Sequence[str] = ()) -> Workflow:
    """The workflow of a DAX file; it takes no arguments."""
    if arguments:
        raise InputError(path, 1, "a DAX file takes no arguments.", "Leave them out.")
    reader = _Reader(path)
    parser = reader.parser
    try:
        for line in world.lines(path):
            parser.Parse(line.encode("utf-8", "surrogateescape"))
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, "cannot be parsed")
        raise InputError(path, error.lineno, f"this is no well-formed XML: {what}.", "Mend it.") from None
    except ModelError as error:
        raise InputError(path, parser.CurrentLineNumber, error.what, error.fix) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not have, or not for XML
        raise InputError(path, parser.CurrentLineNumber, f"cannot be decoded: {error}.", "Use UTF-8.") from None
    return reader.finished()


class _Reader:
    """Collects what expat reports."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.workflow = Workflow(name_of(path))
        self.open: list[str] = []  # the elements around this place
        self.passing = 0  # how deep inside an element that is passed over
        self.job: Job | None = None
        self.inputs: list[str] = []  # of that job
        self.outputs: list[str] = []
        self.negative = {"sizes": 0, "run times": 0}  # the best known generator makes some
        self.text: list[str] | None = None  # of the argument or profile being read
        self.profile: dict[str, str] = {}
        self.child = ""
        self.arcs: list[tuple[str, str, int]] = []
        self.executable = ""
        self.programs: dict[str, str] = {}
        self.unknown: set[str] = set()
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def wrong(self, what: str, fix: str) -> InputError:
        return InputError(self.path, self.line, what, fix)

    def doctype(self, *_: Any) -> None:
        raise self.wrong("a document type (<!DOCTYPE …>) is not read.", "Remove it, and write entities out.")

    # --- elements ----------------------------------------------------------------------------------------------

    def start(self, qualified: str, given: dict[str, str]) -> None:
        tag = qualified.rpartition(" ")[2]
        around = self.open[-1] if self.open else ""
        self.open.append(tag)
        if self.passing or tag in _PASSED_OVER:
            self.passing += 1
        elif not around:
            self.start_root(tag, given)
        elif around == "adag":
            self.start_part(tag, given)
        elif around in NODES:
            self.start_detail(tag, given)
        elif around == "child":
            if tag != "parent":
                raise self.wrong(f"<{tag[:80]}> is not expected in <child>.", 'Expected <parent ref="…"/>.')
            self.arcs.append((self.required(tag, given, "ref"), self.child, self.line))
        elif around == "argument" and tag in ("file", "filename") and self.text is not None:
            self.text.append(shlex.quote(self.file_name(tag, given)))
        elif around == "executable" and tag == "pfn":
            self.add_program(self.required(tag, given, "url"))
        elif tag not in ("pfn", "profile"):
            self.pass_over(tag)

    def end(self, qualified: str) -> None:
        tag = self.open.pop()
        if self.passing:
            self.passing -= 1
        elif tag in NODES and self.job is not None:
            self.job.inputs, self.job.outputs = tuple(self.inputs), tuple(self.outputs)
            self.job, self.inputs, self.outputs = None, [], []
        elif tag == "argument" and self.job is not None:
            self.end_argument(self.job)
        elif tag == "profile" and self.job is not None:
            self.end_profile(self.job)

    def characters(self, text: str) -> None:
        if self.text is not None and not self.passing and self.open[-1] in ("argument", "profile"):
            self.text.append(text)

    def start_root(self, tag: str, given: dict[str, str]) -> None:
        if tag != "adag":
            raise self.wrong(f"the root element is <{tag[:80]}>.", "Expected <adag>: a Pegasus DAX.")
        version = given.get("version", "2")
        if version.partition(".")[0] not in ("2", "3"):
            raise self.wrong(f"DAX version {shown(version)} is not known.", "Headway reads DAX 2 and 3.")
        name = given.get("name", "")
        if name and name != "test":  # what the best known generator calls all its workflows
            self.workflow.name = name

    def start_part(self, tag: str, given: dict[str, str]) -> None:
        if tag in NODES:
            self.start_node(tag, given)
        elif tag == "child":
            self.child = self.required(tag, given, "ref")
        elif tag == "executable":
            self.executable = self.required(tag, given, "name")
        elif tag in ("file", "filename"):
            self.add_size(self.file_name(tag, given), given)
        elif tag not in _IN_ADAG:
            raise self.wrong(f"<{tag[:80]}> is not expected in <adag>.", "Expected <job>, <child> and what they need.")

    def start_node(self, tag: str, given: dict[str, str]) -> None:
        identity = self.required(tag, given, "id")
        self.job = Job()
        if tag == "job":
            name = self.required(tag, given, "name")
            self.job.command = shlex.quote(self.programs.get(name, name))
            attributes.apply(self.job, "transformation", name)
            for key in ("namespace", "version"):
                if given.get(key):
                    attributes.apply(self.job, key, given[key])
            if "runtime" in given:
                self.add_runtime(self.job, given["runtime"].strip())
        else:
            self.job.rules = replace(self.job.rules, subdag=self.file_name(tag, given))
        self.workflow.groups.add(Group(identity, [self.job]))

    def start_detail(self, tag: str, given: dict[str, str]) -> None:
        job = self.job
        if tag not in _IN_NODE:
            self.pass_over(tag)
        if job is None or tag not in _IN_NODE:
            return
        if tag == "uses":
            self.add_file(given)
        elif tag in ("stdin", "stdout", "stderr"):
            attributes.apply(job, tag, self.file_name(tag, given))
        elif tag in ("argument", "profile"):
            self.text, self.profile = [], given

    def pass_over(self, tag: str) -> None:
        """An element that DAX does not have here: its user should know that it changes nothing."""
        self.passing += 1
        if tag not in self.unknown and len(self.unknown) < 10:
            self.unknown.add(tag)
            self.workflow.warnings.append(f"{self.path}:{self.line}: <{tag[:80]}> is not known and passed over.")

    # --- what they say -----------------------------------------------------------------------------------------

    def required(self, tag: str, given: dict[str, str], name: str) -> str:
        value = given.get(name, "")
        if not value:
            raise self.wrong(f"<{tag}> has no {name}.", f'Expected <{tag} {name}="…">.')
        return value

    def file_name(self, tag: str, given: dict[str, str]) -> str:
        """DAX 2 says file, DAX 3 says name."""
        return given.get("name") or given.get("file") or self.required(tag, given, "name")

    def add_runtime(self, job: Job, text: str) -> None:
        attributes.apply(job, "seconds", text.removeprefix("-"))
        if text.startswith("-"):
            job.seconds = None
            self.negative["run times"] += 1

    def add_file(self, given: dict[str, str]) -> None:
        name, link = self.file_name("uses", given), given.get("link", "").lower()
        if given.get("executable", "").lower() == "true" or given.get("type") == "executable":
            return
        if link not in ("input", "output", "inout", "none", "checkpoint", ""):
            raise self.wrong(f"<uses> has link {shown(link)}.", "Expected input, output or inout.")
        if link in ("input", "inout"):
            self.inputs.append(name)
        if link in ("output", "inout"):
            self.outputs.append(name)
        self.add_size(name, given)

    def add_size(self, name: str, given: dict[str, str]) -> None:
        size = given.get("size", "").strip()
        if not size:
            return
        if not (size.isascii() and size.removeprefix("-").isdecimal() and len(size) < 19):
            raise self.wrong(f"file {shown(name)} has size {shown(size)}.", "Expected its bytes, a whole number.")
        if size.startswith("-"):
            self.negative["sizes"] += 1
        else:
            self.workflow.files[name] = int(size)

    def add_program(self, url: str) -> None:
        scheme, colon, rest = url.partition("://")
        if not colon:
            self.programs.setdefault(self.executable, url)
        elif scheme == "file":
            self.programs.setdefault(self.executable, posixpath.join("/", rest.partition("/")[2]))

    def end_argument(self, job: Job) -> None:
        """Pegasus passes words to the program without a shell, so whatever sh would act on is quoted."""
        text, self.text = "".join(self.text or ()), None
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        if job.command is not None and words:
            job.command += f" {shlex.join(words)}"
        elif words:
            place = f"{self.path}:{self.line}"
            self.workflow.warnings.append(f"{place}: the arguments of a sub-workflow are Pegasus' own, and left out.")

    def end_profile(self, job: Job) -> None:
        text, self.text = "".join(self.text or ()), None
        space, key = self.profile.get("namespace", ""), self.required("profile", self.profile, "key")
        known = _PROFILES.get((space.lower(), key.lower()))
        if space.lower() == "env":
            attributes.apply(job, f"{attributes.ENVIRONMENT}{key}", text)
        elif known is not None:
            attributes.apply(job, known[0], text.strip() + known[1])
        else:
            attributes.apply(job, f"{space}.{key}" if space else key, text)

    def finished(self) -> Workflow:
        groups = self.workflow.groups
        if not len(groups):
            raise InputError(self.path, 1, "there is no job.", "A workflow has at least one.")
        for what, count in self.negative.items():
            if count:
                self.workflow.warnings.append(f"{self.path}: {count} {what} are negative, and taken as unknown.")
        for parent, child, line in self.arcs:
            places = []
            for name in (parent, child):
                at = groups.place(name)
                if at is None:
                    hint = _similar(name, [group.name for group in groups])
                    raise InputError(self.path, line, f"{shown(name)} is no job's id{hint}.", "Add that job.")
                places.append(at)
            if parent == child:
                raise InputError(self.path, line, f"{shown(child)} depends on itself.", "Remove this <parent>.")
            groups.arc(places[0], places[1], line)
        return self.workflow


def _similar(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:100], known, 1) if len(known) <= 10_000 else []
    return f" (did you mean {shown(close[0])}?)" if close else ""
