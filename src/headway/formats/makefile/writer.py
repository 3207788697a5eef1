"""Workflows as Makefiles: rules that run the jobs, or rules that submit them with mqsub as in the paper's Fig. 13.

What make cannot say (attributes, names with spaces, commands of several lines) is kept in target-specific variables
whose names begin with HEADWAY_.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence

from headway.formats.flat import calls
from headway.formats.losses import known_command, lost
from headway.formats.mqsub import OPTIONS, Call, label_of, words_of
from headway.formats.shellwords import quoted
from headway.formats.world import Rendering
from headway.model import attributes
from headway.model.errors import ModelError, shown
from headway.model.workflow import Group, Workflow

MARK = "HEADWAY_MAKEFILE"  # says that the order of groups is that of .PHONY
ATTRIBUTES = "HEADWAY_ATTRIBUTES_"
COMMAND = "HEADWAY_COMMAND_"
NAME = "HEADWAY_NAME"
WORD = "HEADWAY_WORD_"
_CONSTANTS = {
    "HEADWAY_EMPTY": "HEADWAY_EMPTY :=",
    "HEADWAY_HASH": "HEADWAY_HASH := \\#",
    "HEADWAY_NEWLINE": "define HEADWAY_NEWLINE\n\n\nendef",
}
_ENCODED = re.compile(r"\$\$|\$\(HEADWAY_(EMPTY|HASH|NEWLINE)\)")
_DECODED = {"$$": "$", "$(HEADWAY_EMPTY)": "", "$(HEADWAY_HASH)": "#", "$(HEADWAY_NEWLINE)": "\n"}
_SAFE_NAME = re.compile(r"[\w/@^][\w/@^.,+-]*")
_SAFE_LINE = re.compile(r"(?![\s@+\-#])[^\x00-\x08\x0a-\x1f\x7f]+(?<![\s\\])")
# make runs lines that mention $(MAKE) even with -n; and these would be taken for something that make says itself.
_SAID_BY_MAKE = re.compile(r"\$[({]MAKE[)}]|HEADWAY_|.*: (?:update )?target '|\S*make(?:\[\d+\])?: |eval ")
_KEYWORD = re.compile(
    "define|endef|undefine|ifn?def|ifn?eq|else|endif|s?include|override|(?:un)?export|private|vpath|load"
)


def render(workflow: Workflow) -> Rendering:
    """A Makefile that runs the workflow; one that submits it with mqsub, where make cannot say its order itself."""
    return render_rules(workflow) if is_plain(workflow) else render_calls(workflow)


def encoded(text: str) -> str:
    """A text as the value of a make variable that `decoded` reads back and that make expands to the text."""
    if "\0" in text:
        raise ModelError(f"{shown(text)} has a NUL character.", "No program can be given one: remove it.")
    found = text.replace("$", "$$").replace("#", "$(HEADWAY_HASH)").replace("\n", "$(HEADWAY_NEWLINE)")
    found = found.replace("\\;", "\\$(HEADWAY_EMPTY);")  # make takes the backslash away as if in a rule
    if not text or text[0].isspace():
        found = "$(HEADWAY_EMPTY)" + found
    return found + "$(HEADWAY_EMPTY)" if text and (text[-1].isspace() or text[-1] == "\\") else found


def decoded(value: str) -> str:
    """The text that `encoded` made this value of."""
    return _ENCODED.sub(lambda found: _DECODED[found[0]], value)


def is_plain(workflow: Workflow) -> bool:
    """Whether rules of make alone can say the order: no subgroups, prologues, early release, affinity, weak arcs."""
    return not workflow.groups.weak and not any(
        group.members or group.prologue or group.epilogue or any(job.release or job.affinity for job in group.jobs)
        for group in workflow.groups
    )


class _Names:
    """Target names: a group's own where make takes it as it is, a made-up one elsewhere."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self.taken = {name for name in wanted if _is_safe(name)}
        self.goal = self.free("all")
        self.of = {name: name if _is_safe(name) else self.free(_similar(name)) for name in wanted}

    def free(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}-{number}"
        self.taken.add(name)
        return name


def _is_safe(name: str) -> bool:
    return bool(_SAFE_NAME.fullmatch(name)) and not _KEYWORD.fullmatch(name) and not name.endswith("/")


def _similar(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name[:40]).strip("-")
    return f"group-{plain}" if plain else "group"


def _makefile(goal: str, waited: Iterable[str], rules: Sequence[str], phony: Sequence[str], mark: bool) -> str:
    """The whole text: what it needs of make first, the goal, the rules, and that no target is a file."""
    body = "\n".join(rules)
    start = [f"{MARK} := 1"] if mark else []
    start += [text for name, text in _CONSTANTS.items() if f"$({name})" in body]
    first = _list(f"{goal}:", waited)
    return "\n".join([*start, *([""] if start else []), first, "", body, "", _list(".PHONY:", phony), ""])


def _list(head: str, names: Iterable[str]) -> str:
    return " ".join([head, *names])


def _value(target: str, name: str, text: str, export: bool = False) -> str:
    return f"{target}: private {'export ' if export else ''}{name} = {encoded(text)}"


# --- rules that run ----------------------------------------------------------------------------------------------


def render_rules(workflow: Workflow) -> Rendering:
    """One rule for each group, one recipe line for each job: `make -j` runs it."""
    groups = workflow.groups
    names = _Names([group.name for group in groups])
    parents = groups.parents_of()
    waited = {parent.name for parent, _, _ in groups.arcs()}
    rules: list[str] = []
    for group in groups:
        rules += _rule(group, names.of[group.name], [names.of[name] for name in parents.get(group.name, ())])
    sinks = [names.of[group.name] for group in groups if group.name not in waited]
    phony = [*names.of.values(), names.goal]
    return Rendering(_makefile(names.goal, sinks, rules, phony, True), lost(workflow, can={"groups", "retries"}))


def _rule(group: Group, target: str, parents: Sequence[str]) -> list[str]:
    lines = [_value(target, NAME, group.name)] if target != group.name else []
    recipe = []
    for number, job in enumerate(group.jobs, 1):
        pairs = attributes.pairs_of(job)
        if pairs:
            text = shlex.join(f"{key}={value}" for key, value in pairs)
            lines.append(_value(target, f"{ATTRIBUTES}{number}", text))
        command, place = known_command(job, group.name), job.setting.directory
        if _is_safe_line(command) and place is None:
            recipe.append("\t" + command.replace("$", "$$"))
        else:
            lines.append(_value(target, f"{COMMAND}{number}", command, export=True))
            way = f"cd {quoted(place).replace('$', '$$')} && " if place is not None and place.isprintable() else ""
            recipe.append(f'\t{way}eval "$${COMMAND}{number}"')
    return [*lines, _list(f"{target}:", parents), *recipe]


def _is_safe_line(command: str) -> bool:
    """Whether make passes a line on as it is, and Headway reads it as a job."""
    if not _SAFE_LINE.fullmatch(command) or _SAID_BY_MAKE.search(command):
        return False
    return posixpath.basename(command.split(None, 1)[0]) != "mqsub"


# --- rules that submit -------------------------------------------------------------------------------------------


def render_calls(workflow: Workflow) -> Rendering:
    """One rule for each group, whose recipe submits its jobs with mqsub."""
    by_path: dict[tuple[str, ...], list[Call]] = {}
    for call in calls(workflow):
        by_path.setdefault(call.path, []).append(call)
    names = _Names([label_of(path) for path in by_path])
    rules: list[str] = []
    parents: dict[str, list[str]] = {}
    for path, own in by_path.items():
        target = names.of[label_of(path)]
        before = [(*path[:-1], *dep) for dep in own[0].deps] + ([path[:-1]] if len(path) > 1 else [])
        parents[target] = [names.of[label_of(parent)] for parent in before]
        rules += _submission(target, parents[target], own)
    waited = {name for before in parents.values() for name in before}
    sinks = [name for name in parents if name not in waited]
    first = sinks if _made(sinks, parents) == list(parents) else list(parents)
    text = _makefile(names.goal, first, rules, [names.goal, *parents], False)
    return Rendering(text, lost(workflow, can={"groups", "retries"}))


def _submission(target: str, parents: Sequence[str], own: Sequence[Call]) -> list[str]:
    lines: list[str] = []
    recipe: list[str] = []
    for call in own:
        words = []
        for number, word in enumerate(words_of(call)):
            if word in OPTIONS:
                words.append(word)
            elif any(c < " " or c == "\x7f" for c in word) or _SAID_BY_MAKE.search(word):
                name = f"{WORD}{len(recipe) + 1}_{number}"
                lines.append(_value(target, name, word, export=True))
                words.append(f'"$${name}"')
            else:
                words.append(quoted(word).replace("$", "$$"))
        recipe.append("\tmqsub " + " ".join(words))
    return [*lines, _list(f"{target}:", parents), *recipe]


def _made(goals: Sequence[str], parents: dict[str, list[str]]) -> list[str]:
    """The order in which make, working on one target at a time, makes these goals and all that they need."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for goal in goals:
        stack = [(goal, iter(parents[goal]))]
        while stack:
            name, rest = stack[-1]
            before = next(rest, None)
            if before is None:
                order[name] = None
                stack.pop()
            elif before not in seen:
                seen.add(before)
                stack.append((before, iter(parents[before])))
    return list(order)
