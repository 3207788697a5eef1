"""What GNU make complains of, as errors with a place and a way out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from headway.formats.makefile.database import Entry, database
from headway.model.errors import CycleError, InputError, shown

_STOP = re.compile(r"(.+?):(\d+): \*\*\* (.*?)\.?(?:  Stop\.)?")
_GENERAL = re.compile(r"\S*make(?:\[\d+\])?: \*\*\* (.*?)\.?(?:  Stop\.)?")
_NO_RULE = re.compile(r"No rule to make target '(.*?)'(?:, needed by '(.*?)')?")
_MISSING = re.compile(r"(.+?):(\d+): (.+): No such file or directory")
_CIRCULAR = re.compile(r"\S*make(?:\[\d+\])?: Circular (.+) <- (.+) dependency dropped\.")


def cycle(path: str, output: str, complaints: str) -> InputError | None:
    """The first cycle that make dropped a dependency of."""
    for line in complaints.split("\n"):
        if found := _CIRCULAR.fullmatch(line):
            entries = database(output).entries
            names = _cycle(entries, found[1], found[2])
            error = CycleError(names)
            return InputError(path, _line_of(path, entries, names), error.what, error.fix)
    return None


def _cycle(entries: dict[str, Entry], child: str, parent: str) -> list[str]:
    """The dropped dependency's cycle in the order of work: from the child to the parent it waits for."""
    waits: dict[str, str] = {parent: ""}
    queue = [parent]
    for name in queue:
        if name == child:
            break
        for before in entries[name].prerequisites if name in entries else ():
            if before not in waits:
                waits[before] = name
                queue.append(before)
    names, at = [], child if child in waits else parent
    while at:
        names.append(at)
        at = waits[at]
    return names


def _line_of(path: str, entries: dict[str, Entry], names: Sequence[str]) -> int:
    for name in names:
        entry = entries.get(name)
        if entry is not None and entry.line and entry.file == posixpath.basename(path):
            return entry.line
    return 1


def failure(path: str, output: str, complaints: str) -> InputError:
    """Why make gave up."""
    missing: tuple[str, int, str] | None = None
    last = ""
    for line in complaints.split("\n"):
        last = line or last
        if place := _MISSING.fullmatch(line):
            missing = place[1], int(place[2][:9]), place[3]
        elif stop := _STOP.fullmatch(line):
            return InputError(_beside(path, stop[1]), int(stop[2][:9]), f"{_plain(stop[3])}.", _way_out(stop[3]))
        elif general := _GENERAL.fullmatch(line):
            rule = _NO_RULE.fullmatch(general[1])
            if rule and missing and missing[2] == rule[1]:
                what = f"the included file {shown(missing[2])} is missing, and no rule makes it."
                return InputError(_beside(path, missing[0]), missing[1], what, "Add it, or include it with -include.")
            if rule:
                return _no_rule(path, output, rule[1], rule[2])
            return InputError(path, 1, f"make says: {_plain(general[1])}.", _way_out(general[1]))
    return InputError(path, 1, f"make cannot read this: {shown(last)}.", "Try make -n yourself.")


def _no_rule(path: str, output: str, name: str, needed_by: str | None) -> InputError:
    if needed_by is None:
        return InputError(path, 1, f"there is no target {shown(name)}.", "Name a target of this Makefile.")
    entry = database(output).entries.get(needed_by)
    place, line = (entry.file, entry.line) if entry is not None and entry.line else (posixpath.basename(path), 1)
    what = f"{shown(needed_by)} needs {shown(name)}, which is neither a file nor a target."
    return InputError(_beside(path, place), line, what, "Add the file or a rule for it.")


def _beside(path: str, name: str) -> str:
    """A file that make names, from where the user stands."""
    return posixpath.join(posixpath.dirname(path), name)


def _plain(text: str) -> str:
    return shown(text)[1:-1]


def _way_out(text: str) -> str:
    if text.startswith("missing separator"):
        return "A rule reads TARGET: PREREQUISITES, and its recipe lines begin with a TAB."
    if text.startswith("No targets"):
        return "A Makefile has at least one rule."
    return "GNU make itself reads the file: this is its own complaint."
