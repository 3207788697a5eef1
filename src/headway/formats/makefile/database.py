"""What GNU make prints with -n -p --trace: the recipes it would run, and its database of targets and variables.

A target's recipe follows its trace line, expanded. Everything else comes from the database, which make prints last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from headway.model.record import field, mutable

SUBMAKE = ": HEADWAY_SUBMAKE make"  # what $(MAKE) is in a recipe while make is asked, so that no other make starts
EXPORTED = "# Headway: exported to recipes: "  # then JSON, below all that make says: {name: value}, [names]
_TRACE = re.compile(
    r"(?:(?P<file>.+):(?P<line>\d+)|<builtin>): (?:update )?target '(?P<name>.+)' (?P<why>does not exist|due to:? .*)"
)
_DIRECTORY = re.compile(r"(?:# )?make(?:\[\d+\])?: (Entering|Leaving) directory .*")
_MADE = re.compile(r"make: (?:Nothing to be done for '(.+)'\.|'(.+)' is up to date\.)")  # of a goal made before
_DATABASE, _FINISHED, _VERSION = "# Make data base, printed on ", "# Finished Make data base on ", "# GNU Make "
_VARIABLE = re.compile(r"(?:(?:private|export|override) )*(\S+) (?:[:+?!]{0,3}=) ?(.*)", re.DOTALL)
_DEFINE = re.compile(r"(?:(?:private|export|override) )*define (\S+)(?: [:+?]*=)?")
_HEAD = re.compile(r"(.*?[^:])(::?)(?: (.*))?")
_RECIPE = re.compile(r"#  recipe to execute \((?:from '(.*)', line (\d+)|.*)\):")


@mutable
class Entry:
    """What make knows of one file or target."""

    name: str
    prerequisites: list[str] = field(default_factory=list)
    order_only: frozenset[str] = frozenset()  # those of them that only have to be there
    target: bool = True  # some rule says how, or after what, to make it
    phony: bool = False
    exists: bool = False
    intermediate: bool = False
    precious: bool = False  # not to be removed if its recipe fails
    also: tuple[str, ...] = ()  # targets that the same run of the recipe makes
    recipe: list[str] = field(default_factory=list)  # as written, prefixes and variables in place
    file: str = ""
    line: int = 0
    variables: dict[str, str] = field(default_factory=dict)


@mutable
class Trace:
    """A recipe that make would run, as it would be run: its lines as printed."""

    name: str
    file: str
    line: int
    lines: list[str] = field(default_factory=list)
    doubtful: bool = False  # its last lines may be what the next recipe's $(info …) said
    why: str = ""  # as make says it


@mutable
class Database:
    """All that one run of make told."""

    traces: list[Trace]
    variables: dict[str, str]
    entries: dict[str, Entry]
    exported: tuple[tuple[str, str], ...] = ()  # what the Makefile adds to the environment of all recipes
    own_exports: tuple[str, ...] = ()  # names of what it adds to that of single targets: the values are not known

    def value(self, name: str, entry: Entry | None = None) -> str:
        """A variable's value with plain references in it followed; functions stay as they are."""
        own = entry.variables if entry is not None else {}
        text = own.get(name, self.variables.get(name, ""))
        for _ in range(10):
            replaced = re.sub(
                r"\$[({]([^$(){}\s:,]+)[)}]", lambda found: own.get(found[1], self.variables.get(found[1], "")), text
            )
            if replaced == text or len(replaced) > 10_000:
                break
            text = replaced
        return text.replace("$$", "$")


def database(text: str) -> Database:
    """What make's output says."""
    lines = text.split("\n")
    start = max((at for at, line in enumerate(lines) if line.startswith(_DATABASE)), default=len(lines))
    entries = _entries(lines, start)
    traces = _traces(lines[:start], entries)
    last = lines[-2] if len(lines) > 1 else ""
    exported, own = json.loads(last[len(EXPORTED) :]) if last.startswith(EXPORTED) else ({}, [])
    return Database(traces, _variables(lines, start), entries, tuple(exported.items()), tuple(own))


# --- recipes ---------------------------------------------------------------------------------------------------


def _traces(lines: Sequence[str], entries: dict[str, Entry]) -> list[Trace]:
    found: list[Trace] = []
    for line in _own_lines(lines):
        head = _TRACE.fullmatch(line) if "target '" in line else None
        name = head["name"].partition("', '")[0] if head and head["name"] not in entries else head and head["name"]
        if head and name in entries:
            if found:
                found[-1].doubtful = any("info " in line for line in entries[name].recipe)
            found.append(Trace(name, head["file"] or "", int(head["line"] or 0), why=head["why"]))
        elif found and not ((made := _MADE.fullmatch(line)) and (made[1] or made[2]) in entries):
            found[-1].lines.append(line.replace(SUBMAKE, "make"))
    if found:
        last = found[-1].lines
        while last and (not last[-1] or _removal(last[-1], entries)):
            last.pop()
    return found


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that this make printed, without those of makes that recipes started and without the version."""
    depth, version = 0, False
    for line in lines:
        if line.startswith(_VERSION):
            version = True
        elif line.startswith(_FINISHED):
            version = False
        elif directory := _DIRECTORY.fullmatch(line):
            depth += 1 if directory[1] == "Entering" else -1
        elif not version and depth <= 1:
            yield line


def _removal(line: str, entries: dict[str, Entry]) -> bool:
    """Whether a line is make's own removal of intermediate files, which it announces last."""
    names = {entry.name for entry in entries.values() if entry.intermediate}
    words = line.split(" ")
    return bool(names) and words[0] == "rm" and len(words) > 1 and all(word in names for word in words[1:])


# --- variables -------------------------------------------------------------------------------------------------


def _variables(lines: Sequence[str], start: int) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = iter(lines[start:])
    for line in rest:
        if line == "# Variables":
            break
    for line in rest:
        if line in ("# Directories", "# Implicit Rules", "# Files"):
            break
        if not line.startswith("#"):
            _take_variable(line, rest, found)
    return found


def _take_variable(line: str, rest: Iterator[str], found: dict[str, str]) -> None:
    """Notes the variable that a line, or the define it opens, gives."""
    if define := _DEFINE.fullmatch(line):
        body = []
        for inner in rest:
            if inner == "endef":
                break
            body.append(inner)
        found[define[1]] = "\n".join(body)
    elif variable := _VARIABLE.fullmatch(line):
        found[variable[1]] = variable[2]


# --- targets ---------------------------------------------------------------------------------------------------


def _entries(lines: Sequence[str], start: int) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    heads: list[tuple[Entry, str]] = []
    rest = iter(lines[start:])
    for line in rest:
        if line == "# Files":
            break
    target, origin, own = True, False, {}  # type: bool, bool, dict[str, str]
    entry: Entry | None = None
    for line in rest:
        if line.startswith("# files hash-table stats"):
            break
        if not line:
            target, origin, own, entry = True, False, {}, None
        elif line == "# Not a target:":
            target = False
        elif entry is not None:
            _detail(entry, line)
        elif line.startswith("# "):
            origin = True
        elif origin:
            _take_variable(line.partition(": ")[2], rest, own)
            origin = False
        elif head := _HEAD.fullmatch(line):
            entry = found.setdefault(head[1], Entry(head[1]))
            entry.target = target
            entry.variables.update(own)
            heads.append((entry, head[3] or ""))
    spaced = sorted((name for name in found if " " in name), key=len, reverse=True)
    for entry, text in heads:
        names = [name for name in _names(text, spaced) if name != ".WAIT"]
        at = names.index("|") if "|" in names else len(names)
        entry.prerequisites += [*names[:at], *names[at + 1 :]]
        if at < len(names):
            entry.order_only |= frozenset(names[at + 1 :]) - frozenset(names[:at])
    return found


def _detail(entry: Entry, line: str) -> None:
    """One line below a target's own: a remark of make's, or a line of its recipe."""
    if not line.startswith("#"):
        entry.recipe.append(line[1:])
    elif recipe := _RECIPE.fullmatch(line):
        entry.file, entry.line = recipe[1] or "", int(recipe[2] or 0)
    elif line.startswith("#  Phony target"):
        entry.phony = True
    elif line.startswith("#  Precious file"):
        entry.precious = True
    elif line.startswith("#  Last modified") and not entry.recipe:
        entry.exists = True
    elif line.startswith("#  File is an intermediate"):
        entry.intermediate = True
    elif line.startswith("#  Also makes: "):
        entry.also = tuple(line.removeprefix("#  Also makes: ").split())


def _names(text: str, spaced: Sequence[str]) -> Iterator[str]:
    """Names in a list; make prints spaces in names like those between them, so known names are looked for."""
    if not spaced:
        yield from text.split()
        return
    while text:
        name = next((name for name in spaced if text == name or text.startswith(name + " ")), None)
        if name is None:
            name = text.partition(" ")[0]
        if name:
            yield name
        text = text[len(name) + 1 :]
