"""In the child: asks a DAG description script its questions, in the words of the paper's Fig. 14."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from headway.live.reading.child_script import Script, ScriptError, explained, tell
from headway.model.errors import shown

MOST_GROUPS = 2_000_000
MOST_ENTRIES = 1_000_000  # of one list: a generator may have no end
_NEEDED = {
    "generateGroup": "generateGroup(level, parentGroup)",
    "getDependent": "getDependent(level, group, parentGroup)",
    "getJobsExecutables": "getJobsExecutables(level, group)",
}
# Ours: the paper has prologue and epilogue jobs, but shows no functions for them.
_PARTS = {"prologue": "getPrologueExecutables", "jobs": "getJobsExecutables", "epilogue": "getEpilogueExecutables"}
_OPTIONAL = ("getJobsAttributes", "getJobsParameters", "getPrologueExecutables", "getEpilogueExecutables")

Id = list[int]


class _Wrong(Exception):  # noqa: N818 - never leaves this module
    """A function of the script returned something else than it should."""


def main() -> None:
    """Answers for the script named in sys.argv; a description script is a module, not a program."""
    tell("description", answers)


def answers(script: Script) -> dict[str, object]:
    """All groups, each after its supergroup: [supergroup's place, level, id, dependencies, jobs by part, ...]."""
    levels = _levels(script)
    for name, signature in _NEEDED.items():
        if name not in script.names:
            raise ScriptError(1, f"the script has no function {name}.", f"Define {signature}.")
    for name in (*_NEEDED, *_OPTIONAL):
        if name in script.names and not callable(script.names[name]):
            raise ScriptError(script.line_of(name), f"{name} is no function.", "Define it with def.")
    groups: list[dict[str, object]] = []
    above: list[tuple[int, Id]] = [(-1, [])]
    for level, count in levels:
        below: list[tuple[int, Id]] = []
        for place, parent in above:
            for found in _ask(script, "generateGroup", _ids(count), level, parent):
                if len(groups) >= MOST_GROUPS:
                    line = script.line_of("generateGroup")
                    raise ScriptError(line, f"there are over {MOST_GROUPS:,} groups.", "Generate fewer.")
                below.append((len(groups), found))
                groups.append({"parent": place, "level": level, "id": found})
        for (place, found), parent in zip(below, _parents(below, groups, above), strict=True):
            groups[place]["deps"] = _ask(script, "getDependent", _ids(count), level, found, parent)
            groups[place]["jobs"] = {
                part: _ask(script, name, _commands, level, found)
                for part, name in _PARTS.items()
                if name in script.names
            }
            for key, name, convert in (
                ("attributes", "getJobsAttributes", _attributes),
                ("parameters", "getJobsParameters", _parameters),
            ):
                groups[place][key] = _ask(script, name, convert, level, found) if name in script.names else []
        above = below
    return {
        "groups": groups,
        "lines": {name: script.line_of(name) for name in (*_NEEDED, *_OPTIONAL) if name in script.names},
    }


def _parents(below: list[tuple[int, Id]], groups: list[dict[str, object]], above: list[tuple[int, Id]]) -> Iterable[Id]:
    """The id of each group's supergroup."""
    known = dict(above)
    return (known[groups[place]["parent"]] for place, _ in below)  # type: ignore[index]


def _levels(script: Script) -> list[tuple[str, int]]:
    expected = "Expected a list such as Levels = [['VS', 2], ['Slice', 4]]: names, and how many integers name a group."
    if "Levels" not in script.names:
        raise ScriptError(1, "the script has no Levels.", expected)
    line = script.line_of("Levels")
    try:
        levels = [(name, operator.index(count)) for name, count in script.names["Levels"]]
    except Exception:
        raise ScriptError(line, f"Levels is {_shown(script.names['Levels'])}.", expected) from None
    for name, count in levels:
        if not isinstance(name, str) or not name or not 0 < count <= 1000:
            raise ScriptError(line, f"Levels has an entry {_shown([name, count])}.", expected)
    if not 0 < len(levels) <= 100:
        raise ScriptError(line, f"there are {len(levels)} levels.", "Use 1 to 100.")
    if len({name for name, _ in levels}) < len(levels):
        raise ScriptError(line, "two levels have the same name.", expected)
    return levels


def _ask(script: Script, name: str, convert: Callable[[Any], list[Any]], *arguments: object) -> list[Any]:
    """What a function of the script returns; it gets copies, so that it cannot change ours."""
    given = [list(value) if isinstance(value, list) else value for value in arguments]
    call = f"{name}({', '.join(map(repr, given))})"
    try:
        return convert(script.names[name](*given))
    except _Wrong as wrong:
        raise ScriptError(script.line_of(name), f"{call} returns {wrong}.", "") from None
    except BaseException as error:
        raise explained(script, error, call, script.line_of(name)) from None


def _shown(value: object) -> str:
    try:
        return shown(repr(value))
    except Exception:  # the user's own __repr__
        return type(value).__name__


def _items(value: object, expected: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        missing = " (is its return missing?)" if value is None else ""
        raise _Wrong(f"{_shown(value)}{missing}; expected {expected}, [] for none")
    items = list(islice(value, MOST_ENTRIES + 1))
    if len(items) > MOST_ENTRIES:
        raise _Wrong(f"over {MOST_ENTRIES:,} entries")
    return sorted(items, key=repr) if isinstance(value, set | frozenset) else items


def _ids(count: int) -> Callable[[object], list[Id]]:
    expected = f"a list of groups, each a list of {count} integer{'s' * (count > 1)}"

    def convert(value: object) -> list[Id]:
        return [_id(item, count, expected) for item in _items(value, expected)]

    return convert


def _id(value: object, count: int, expected: str) -> Id:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _Wrong(f"a group {_shown(value)}; expected {expected}")
    numbers = list(islice(value, count + 1))
    if any(isinstance(number, float) for number in numbers):
        raise _Wrong(f"a group {_shown(value)}; expected {expected}: in Python 3, // divides whole numbers, not /")
    try:
        found = [operator.index(number) for number in numbers]
    except TypeError:
        raise _Wrong(f"a group {_shown(value)}; expected {expected}") from None
    if len(found) != count or any(abs(number) >= 2**63 for number in found):
        raise _Wrong(f"a group {_shown(value)}; expected {expected}")
    return found


def _word(value: object, expected: str) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        raise _Wrong(f"{_shown(value)} in it; expected {expected}")
    return value


def _commands(value: object) -> list[list[str] | str]:
    """Executables: a text is a piece of a command line, a list is a program and its arguments."""
    expected = "a list of command lines"
    found: list[list[str] | str] = []
    for item in _items(value, expected):
        if isinstance(item, list | tuple):
            found.append([_word(word, expected) for word in item])
        else:
            found.append(_word(item, expected))
    return found


def _parameters(value: object) -> list[list[str] | str]:
    return _commands(["" if item is None else item for item in _items([] if value is None else value, "a list")])


def _attributes(value: object) -> list[list[str]]:
    """The pairs of each job: a list, a tuple or a set of "key=value", one such text, or a mapping."""
    expected = 'a list of "key=value" for each job'
    found: list[list[str]] = []
    for item in _items([] if value is None else value, expected):
        if item is None:
            found.append([])
        elif isinstance(item, str):
            found.append([item])
        elif isinstance(item, Mapping):
            found.append([f"{_word(key, expected)}={_word(content, expected)}" for key, content in item.items()])
        else:
            found.append([_word(pair, expected) for pair in _items(item, expected)])
    return found
