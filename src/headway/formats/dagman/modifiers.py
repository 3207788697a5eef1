"""Commands that say something of a node, or of ALL_NODES; the last one on the same thing wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from headway.formats.dagman.nodes import Dag, UnknownNameError
from headway.formats.dagman.words import WordError, integer, pairs, unquoted
from headway.model.errors import shown
from headway.model.job import Job, Script, Tolerance

ALL = "ALL_NODES"
JOIN = re.compile(r"(?:\S+\+)?_condor_join_node\d+")  # what DAGMan puts between many parents and many children


def _jobs(dag: Dag, name: str, command: str, final: bool) -> Iterable[Job]:
    """The jobs a command speaks of. ALL_NODES waits for the second pass, when all of them are there."""
    if name.upper() == ALL:
        if not final:
            raise UnknownNameError(ALL)
        return dag.own_jobs()
    job = dag.job(name)
    kind = dag.special[name][0] if name in dag.special else "job"
    if command in _NOT_FOR.get(kind, ()):
        raise WordError(f"{command} is not for {kind.upper()} node {shown(name)}.", "Remove this line.")
    return (job,)


_NOT_FOR = {
    "final": ("RETRY", "PRIORITY", "CATEGORY", "ABORT_DAG_ON", "SAVE_POINT_FILE"),
    "provisioner": ("PRIORITY", "SAVE_POINT_FILE"),
    "service": ("PRIORITY", "SAVE_POINT_FILE"),
}


def _set(dag: Dag, words: list[str], command: str, final: bool, rule: str, value: object) -> None:
    for job in _jobs(dag, words[1], command, final):
        dag.rule(job, rule, value)


def _count(words: list[str], least: int, most: int, form: str) -> None:
    if len(words) < least:
        raise WordError(f"{words[0]} is not complete.", f"Expected {form}.")
    if len(words) > most:
        raise WordError(f"unexpected word {shown(words[most])}.", f"Expected {form}.")


def _retry(dag: Dag, words: list[str], text: str, final: bool) -> None:
    form = "RETRY NODE COUNT [UNLESS-EXIT CODE]"
    _count(words, 3, 5, form)
    unless = None
    if len(words) > 3:
        if words[3].upper().replace("_", "-") != "UNLESS-EXIT" or len(words) != 5:
            raise WordError(f"unexpected word {shown(words[3])}.", f"Expected {form}.")
        unless = integer(words[4], "the exit code")
    _set(dag, words, "RETRY", final, "retries", integer(words[2], "the number of retries", 0))
    _set(dag, words, "RETRY", final, "unless_exit", unless)


def _abort(dag: Dag, words: list[str], text: str, final: bool) -> None:
    form = "ABORT-DAG-ON NODE STATUS [RETURN CODE]"
    _count(words, 3, 5, form)
    returns = None
    if len(words) > 3:
        if words[3].upper() != "RETURN" or len(words) != 5:
            raise WordError(f"unexpected word {shown(words[3])}.", f"Expected {form}.")
        returns = integer(words[4], "the return code", 0, 255)
    _set(dag, words, "ABORT_DAG_ON", final, "abort_on", (integer(words[2], "the status"), returns))


def _priority(dag: Dag, words: list[str], text: str, final: bool) -> None:
    _count(words, 3, 3, "PRIORITY NODE NUMBER")
    _set(dag, words, "PRIORITY", final, "priority", integer(words[2], "the priority"))


def _category(dag: Dag, words: list[str], text: str, final: bool) -> None:
    _count(words, 3, 3, "CATEGORY NODE NAME")
    _set(dag, words, "CATEGORY", final, "category", words[2])


def _pre_skip(dag: Dag, words: list[str], text: str, final: bool) -> None:
    _count(words, 3, 3, "PRE_SKIP NODE CODE")
    code = integer(words[2], "the exit code", 0, 255)
    if code == 0:
        dag.warnings.append(
            f"PRE_SKIP {shown(words[1])} 0 skips nothing: it counts only after a PRE script that fails."
        )
    _set(dag, words, "PRE_SKIP", final, "pre_skip", code)


def _tolerance(dag: Dag, words: list[str], text: str, final: bool) -> None:
    form = "TOLERANCE NODE NUMBER[%] [FAIL-FAST|WAIT]"
    _count(words, 3, 4, form)
    mode = words[3].upper().replace("_", "-") if len(words) == 4 else "WAIT"
    if mode not in ("FAIL-FAST", "WAIT"):
        raise WordError(f"unexpected word {shown(words[3])}.", f"Expected {form}.")
    percent = words[2].endswith("%")
    failures = integer(words[2].removesuffix("%"), "the tolerance", 0, 100 if percent else 2**31 - 1)
    _set(dag, words, "TOLERANCE", final, "tolerance", Tolerance(failures, percent, mode == "FAIL-FAST"))


def _done(dag: Dag, words: list[str], text: str, final: bool) -> None:
    _count(words, 2, 2, "DONE NODE")
    if words[1].upper() == ALL:
        raise WordError("DONE takes no ALL_NODES.", "Name one node.")
    if JOIN.fullmatch(words[1]):  # DAGMan's rescue files name them; it is done when its parents are, here as there
        return
    job = dag.job(words[1])
    if words[1] in dag.special:
        dag.warnings.append(f"DONE {shown(words[1])} is ignored: it is no ordinary node.")
    else:
        dag.rule(job, "done", True)


def _save_point(dag: Dag, words: list[str], text: str, final: bool) -> None:
    _count(words, 2, 3, "SAVE_POINT_FILE NODE [FILE]")
    if words[1].upper() == ALL:
        raise WordError("SAVE_POINT_FILE takes no ALL_NODES.", "Name one node.")
    file = unquoted(words[2]) if len(words) == 3 else f"{words[1]}-{dag.file}.save"
    _set(dag, words, "SAVE_POINT_FILE", final, "save_point", file)


_SCRIPT_FORM = "SCRIPT [DEFER STATUS SECONDS] [DEBUG FILE STDOUT|STDERR|ALL] PRE|POST|HOLD NODE COMMAND"


def _script(dag: Dag, words: list[str], text: str, final: bool) -> None:
    """The command is the rest of the line as it stands, quotes too."""
    at, defer, debug = 1, None, None
    while at < len(words):
        word = words[at].upper()
        if word == "DEFER" and len(words) > at + 2:
            defer = integer(words[at + 1], "the status"), integer(words[at + 2], "the number of seconds", 0)
        elif word == "DEBUG" and len(words) > at + 2:
            if words[at + 2].upper() not in ("STDOUT", "STDERR", "ALL"):
                raise WordError(f"unexpected word {shown(words[at + 2])}.", "Expected STDOUT, STDERR or ALL.")
            debug = unquoted(words[at + 1]), words[at + 2].upper()
        else:
            break
        at += 3
    if at >= len(words) or words[at].upper() not in ("PRE", "POST", "HOLD"):
        raise WordError("the script is neither PRE, POST nor HOLD.", f"Expected {_SCRIPT_FORM}.")
    rest = text.split(None, at + 2)
    if len(rest) < at + 2:
        raise WordError("the script names no node.", f"Expected {_SCRIPT_FORM}.")
    if len(rest) < at + 3:
        raise WordError("the script has no command.", f"Expected {_SCRIPT_FORM}.")
    script = Script(rest[at + 2].strip(), defer, debug)
    for job in _jobs(dag, rest[at + 1], "SCRIPT", final):
        dag.rule(job, words[at].lower(), script)


# The form of nearly every VARS line; others are read piece by piece.
_ONE_VARIABLE = re.compile(r'\S+[ \t]+([^\s"\']+)[ \t]+([A-Za-z_][\w.]*)[ \t]*=[ \t]*"([^"\\]*)"\s*$', re.ASCII)


def _vars(dag: Dag, words: list[str], text: str, final: bool) -> None:
    one = _ONE_VARIABLE.match(text)
    if one is not None and one[1].upper() != ALL and not one[2].lower().startswith("queue"):
        job = dag.job(one[1])
        if not job.variables and not job.overrides:
            key = one[2]
            job.variables = ((dag.texts.setdefault(key, key), one[3]),)
            return
    _variables(dag, words, text, final)


def _variables(dag: Dag, words: list[str], text: str, final: bool) -> None:
    rest = text.split(None, 2)
    content = rest[2] if len(rest) == 3 else ""
    side = "PREPEND"
    first, *behind = content.split(None, 1) or [""]
    if first.upper() in ("PREPEND", "APPEND") and not (behind and behind[0].startswith("=")):
        side, content = first.upper(), "".join(behind)
    found = pairs(content)
    if not found:
        raise WordError("no key=value pairs follow.", 'Expected VARS NODE key="value".')
    for job in _jobs(dag, words[1], "VARS", final):
        if side == "APPEND":
            job.overrides = _merged(job.overrides, found)
            job.variables = _without(job.variables, found)
        else:
            job.variables = _merged(job.variables, found)
            job.overrides = _without(job.overrides, found)


def _merged(old: tuple[tuple[str, str], ...], new: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Keys are sorted, and the last value of each one counts."""
    return tuple(sorted({**dict(old), **dict(new)}.items()))


def _without(old: tuple[tuple[str, str], ...], new: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    taken = {key for key, _ in new}
    return tuple(pair for pair in old if pair[0] not in taken)


MODIFIERS: dict[str, Callable[[Dag, list[str], str, bool], None]] = {
    "ABORT_DAG_ON": _abort,
    "CATEGORY": _category,
    "DONE": _done,
    "PRE_SKIP": _pre_skip,
    "PRIORITY": _priority,
    "RETRY": _retry,
    "SAVE_POINT_FILE": _save_point,
    "SCRIPT": _script,
    "TOLERANCE": _tolerance,
    "VARS": _vars,
}
