"""One call of mqsub, TrellisDAG's qsub with dependencies: `mqsub -deps "A B" -l NAME -c COMMAND`.

The paper leaves open how attributes, prologues and subgroups are said. Here: `-attr key=value`, `-prologue`,
`-epilogue`, and a path `A/B` in -l for group B of supergroup A. A repeated -l appends a job to the group; without -c
the group is only declared. In names a backslash keeps the next character: `a\\/b` is one name, and so is `a\\ b` in
-deps, which holds names of the group's own level or whole paths. With `-array FILE` the group gets a
subgroup of one job for each line of the file (`model.array`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from headway.model import attributes
from headway.model.errors import ModelError, shown
from headway.model.flatten import DEEPEST
from headway.model.record import record
from headway.model.workflow import Group, Members, Workflow

USAGE = 'mqsub [-deps "A B"] -l NAME [-c COMMAND [-array FILE]] [-attr KEY=VALUE]... [-prologue | -epilogue]'
OPTIONS = frozenset({"-deps", "-l", "-c", "-array", "-attr", "-prologue", "-epilogue"})
_EXPECTED = f"Expected: {USAGE}"


@record
class Call:
    """What one mqsub call says."""

    path: tuple[str, ...]
    deps: tuple[tuple[str, ...], ...] = ()
    command: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    part: str = "jobs"  # or prologue, epilogue
    array: str | None = None  # a file; there is a job for each of its lines


def parse_call(words: Sequence[str]) -> Call:
    """The call with these arguments; ModelError where they are none."""
    given: dict[str, str] = {}
    deps: list[tuple[str, ...]] = []
    pairs: list[tuple[str, str]] = []
    part = "jobs"
    rest = iter(words)
    for word in rest:
        if word in ("-prologue", "-epilogue"):
            if part != "jobs":
                raise ModelError("a job is either prologue or epilogue, and said to be so once.", _EXPECTED)
            part = word[1:]
            continue
        if word not in ("-deps", "-l", "-c", "-attr", "-array"):
            raise ModelError(f"mqsub has no option {shown(word)}.", _EXPECTED)
        value = next(rest, None)
        if value is None:
            raise ModelError(f"{word} needs a value.", _EXPECTED)
        if word == "-deps":
            deps += map(path_of, _split(value, " \t\n"))
        elif word == "-attr":
            pairs.append(_pair(value))
        elif word in given:
            raise ModelError(f"{word} is given twice.", _EXPECTED)
        else:
            given[word] = value
    if "-l" not in given:
        raise ModelError("-l is missing: the group's name.", _EXPECTED)
    command = given.get("-c")
    if command is None and (pairs or part != "jobs"):
        raise ModelError("there is no job to give this to: -c is missing.", _EXPECTED)
    if command is not None and not command.strip():
        raise ModelError("-c is empty.", "Give it a command; leave -c out to declare a group without a job.")
    array = given.get("-array")
    if array is not None and (command is None or part != "jobs"):
        raise ModelError("-array goes with -c, and with neither -prologue nor -epilogue.", _EXPECTED)
    return Call(path_of(given["-l"]), tuple(deps), command, tuple(pairs), part, array)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ModelError(f"-attr {shown(text)} has no value.", "Expected: -attr KEY=VALUE")
    if key not in attributes.KEYS:
        from headway.model import near_misses

        near_misses.check(key, "-attr")
    return key, value


def words_of(call: Call) -> list[str]:
    """The arguments that `parse_call` reads as this call."""
    words = ["-deps", " ".join(label_of(dep) for dep in call.deps), "-l", label_of(call.path)]
    if call.part != "jobs":
        words.append(f"-{call.part}")
    if call.command is not None:
        words += ["-c", call.command]
    if call.array is not None:
        words += ["-array", call.array]
    for key, value in call.attributes:
        words += ["-attr", f"{key}={value}"]
    return words


def path_of(label: str) -> tuple[str, ...]:
    """The names in a label such as `A/B`."""
    if label and "/" not in label and "\\" not in label:
        return (label,)
    names = _split(label, "/", keep_empty=True)
    if not all(names):
        raise ModelError(f"{shown(label)} is no group's name: a part of it is empty.", _EXPECTED)
    return tuple(re.sub(_ESCAPE, r"\1", name, flags=re.DOTALL) if "\\" in name else name for name in names)


def label_of(path: Iterable[str]) -> str:
    """The label that `path_of` reads as this path."""
    return "/".join(re.sub(_TO_ESCAPE, r"\\\g<0>", name) for name in path)


# Most files need neither: what is compiled here each run would wait for.
_ESCAPE = r"\\(.)"
_TO_ESCAPE = r"[\\/ \t\n]"


def _split(text: str, separators: str, keep_empty: bool = False) -> list[str]:
    """Pieces between separators; a backslash keeps the next character from being one. Escapes stay in place."""
    plain = text
    for other in separators[1:]:
        plain = plain.replace(other, separators[0])
    pieces = plain.split(separators[0])
    if "\\" in text:
        pieces = _rejoined(text, pieces)
    return pieces if keep_empty else [piece for piece in pieces if piece]


def _rejoined(text: str, pieces: list[str]) -> list[str]:
    """Pieces of `text` with those together again that an escaped separator stands between."""
    whole: list[str] = []
    start = end = 0
    for piece in pieces:
        end += len(piece)
        backslashes = len(piece) - len(piece.rstrip("\\"))
        if backslashes % 2 == 0 or end == len(text):
            whole.append(text[start:end])
            start = end + 1
        end += 1
    return whole


Reading = Callable[[str], Iterable[str]]  # the lines of a file, by the name that a call gives it


def add_call(workflow: Workflow, call: Call, line: int = 0, read: Reading | None = None) -> None:
    """Adds what a call says to a workflow; what it depends on must be there already."""
    if len(call.path) > DEEPEST:
        raise ModelError(f"groups are nested over {DEEPEST} levels deep.", "Use fewer levels.")
    members = workflow.groups
    for name in call.path[:-1]:
        members = _member(members, name).groups
    parents = [_parent(workflow, members, call, dep) for dep in call.deps]
    group = _member(members, call.path[-1])
    mine = members.place(group.name)
    assert mine is not None
    for parent in parents:
        members.arc(parent, mine, line)
    if call.array is not None and call.command is not None:
        _add_array(group, call.command, call.attributes, _lines(call.array, read))
    elif call.command is not None:
        job = attributes.from_pairs(call.command, call.attributes)
        if call.part == "prologue":
            group.prologue += (job,)
        elif call.part == "epilogue":
            group.epilogue += (job,)
        else:
            group.jobs.append(job)


def _lines(name: str, read: Reading | None) -> Iterable[str]:
    if read is None:
        raise ModelError("-array cannot be used here.", "Give the script with this call to headway.")
    return read(name)


def _add_array(group: Group, command: str, pairs: Iterable[tuple[str, str]], texts: Iterable[str]) -> None:
    """A subgroup of one job for each line."""
    from headway.model.array import command_of, filled_pair, lines_of, names_of

    lines, run = lines_of(texts), command_of(command)
    for name, line in zip(names_of(lines), lines, strict=True):
        own = [(key, filled_pair(key, value, line)) for key, value in pairs]
        group.groups.add(Group(name, [attributes.from_pairs(run(line), own)]))


def _parent(workflow: Workflow, members: Members, call: Call, dep: tuple[str, ...]) -> int:
    """The place of what a call depends on, among the groups of its level."""
    sibling = len(dep) == 1 or dep[:-1] == call.path[:-1]
    at = members.place(dep[-1]) if sibling else None
    if at is not None and dep[-1] != call.path[-1]:
        return at
    me, wanted = shown(label_of(call.path)), shown(label_of(dep))
    if sibling and dep[-1] == call.path[-1]:
        raise ModelError(f"{me} depends on itself.", "Remove that dependency.")
    if not sibling or dep[-1] in workflow.groups:
        raise ModelError(
            f"{me} cannot depend on {wanted}: they are not in one supergroup.",
            "Let their supergroups depend on each other.",
        )
    raise ModelError(
        f"{me} depends on {wanted}, which no earlier line submits{_similar(dep[-1], members)}.",
        "Groups are submitted in an order in which they could run.",
    )


def _similar(name: str, members: Members) -> str:
    """A hint at the name that was perhaps meant."""
    from difflib import get_close_matches

    known = [group.name for group in members if len(group.name) <= 100]
    close = get_close_matches(name, known, 1) if len(name) <= 100 and len(known) <= 10_000 else []
    return f" (did you mean {shown(close[0])}?)" if close else ""


def _member(members: Members, name: str) -> Group:
    """The group of that name, made where missing."""
    group = members.get(name)
    if group is None:
        group = Group(name)
        members.add(group)
    return group
