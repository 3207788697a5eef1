"""The command of a job array: text with places, and what to run for a line of the list.

No shell ever reads the text of a line. In a command of plain words each place becomes one quoted word. In any other the
text is assigned to a variable before the command, and a place becomes a reference to it: whatever surrounds the place,
a shell expands a variable and does not read what comes out as code. Where that is not so (a script inside the command,
arithmetic), or where a reference would not be expanded as meant, a place is refused by name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from headway.model.shell_reader import BEFORE_COMMANDS, OUTPUT, PLACE, WRAPPERS, Reader, Word, refused

Values = Callable[[str], str]  # what a place stands for

_SPECIAL = re.compile(r"['\"`$()#\\]|<<")
# Shells, also with a version, and variables that are named like one: $SHELL, ${BASH:-bash}, $0.
_SHELL = re.compile(
    r"(?:a|ba|c|da|elvi|fi|hu|k|lk|mk|o|ok|po|pw|ra|rba|rk|sa|tc|xon|ya|z)?sh(?:[-.\d]*|\.exe)|nu"
    r"|\$\{?(?:0|\w*(?:shell|sh))\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TAKE_SCRIPTS = frozenset(("su", "sg", "runuser", "script", "flock"))  # with -c, after other words too
# Of all their arguments. Some shells expand what is in the brackets of a variable's name.
_READ = """eval trap alias let unset [[ read mapfile readarray getopts complete
    ssh autossh mosh slogin rsh pdsh pssh clush watch parallel tmux nix-shell"""
_READERS = frozenset(_READ.split())
_DECLARE = frozenset(("declare", "typeset", "local"))
_VARIABLE_OPTIONS = {"printf": "-v", "test": "-v", "[": "-v", "wait": "-p"}  # followed by a variable's name
_INDEX = re.compile(r"(?:[A-Za-z_]\w*)?\[.*\]\+?=.*", re.DOTALL)
_EXPANDED = re.compile(r"(BASH_ENV|PS4|PROMPT_COMMAND)=.*", re.DOTALL)  # by the shells that see them
_SCRIPT_OPTION = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*(?:\$.*)?|--(?:session-)?command(?:=.*)?", re.DOTALL)
_VARIABLE = re.compile(r"\$\w+|\$\{[^{}]*\}")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]([\w./+-]*)\}")  # ${x:-word}
_PERHAPS_EMPTY = re.compile(rf"\$\{{(?!\w*(?:shell|sh)\b)[^{{}}]*\}}|\$[@*1-9?!-]|{OUTPUT}", re.IGNORECASE)
_UNKNOWN = re.compile(rf"{OUTPUT}|\$\{{[^{{}}]*[^\w{{}}]")
_PATTERN = re.compile(r"(?<!\$)\{.*,.*\}|[^\[].*\[|[*?]")
_SPLIT = re.compile(r"-[0iv]*S.*|--split-string.*", re.DOTALL)
_RUN_BY_FIND = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_REFERENCES = {"": '"${%s}"', '"': "${%s}", "'": "'\"${%s}\"'"}  # by the quotes around the place


def from_words(words: Sequence[str]) -> Callable[[Values], str]:
    """A program and its arguments, each a word with places; without any, the line is the last argument."""
    given = [str(word) for word in words]
    if not any(map(PLACE.search, given)):
        given.append("{}")
    _check_command(given)
    return lambda values: shlex.join([PLACE.sub(lambda place: values(place[1]), word) for word in given])


def from_line(command: str) -> Callable[[Values], str]:
    """A line for sh with places; without any, the line of the list is the last word."""
    if not PLACE.search(command):
        command = f"{command} {{}}"
    reader = Reader(command)
    for words in reader.commands():
        _check_command(words)
    if not _SPECIAL.search(PLACE.sub("x", command)):
        return lambda values: PLACE.sub(lambda place: shlex.quote(values(place[1])), command)
    names = {which: f"headway_{number}" for number, which in enumerate(dict.fromkeys(PLACE.findall(command)), 1)}
    script = "".join(piece if quotes is None else _REFERENCES[quotes] % names[piece] for piece, quotes in reader.pieces)
    return lambda values: "".join(f"{name}={shlex.quote(values(which))}; " for which, name in names.items()) + script


def _check_command(words: Sequence[str]) -> None:
    """Refuses a place in a word that another shell, or this one once more, would read as a script."""
    for at in _programs(words):
        _check_arguments(_name(words[at]), words[at + 1 :])
        if _PATTERN.search(words[at]) and any(map(PLACE.search, words[at + 1 :])):
            raise refused(f"after {words[at]}", "which some shells expand to any program", "Write the program's name.")
    for at, word in enumerate(words):
        if word in _RUN_BY_FIND:
            for program in _programs(words[at + 1 :]):
                _check_arguments(_name(words[at + 1 + program]), words[at + 2 + program :])
        if _name(word) == "env" and _splits(words[at + 1 :]) and any(map(PLACE.search, words[at + 1 :])):
            raise refused("after env -S", "which splits it into words", "Leave -S out: env NAME=VALUE PROGRAM {}")
        if PLACE.search(word):
            _check_word(word, words[at - 1] if at else "")
    _check_scripts(words)


def _check_arguments(name: str, arguments: Sequence[str]) -> None:
    """Refuses a place among the arguments of a program that reads them as code, or as the name of a variable."""
    if name in _READERS and any(map(PLACE.search, arguments)):
        raise refused(f"after {name}", "which has a shell read its arguments", _AS_ARGUMENT)
    option = _VARIABLE_OPTIONS.get(name)
    for at, word in enumerate(arguments):
        if not PLACE.search(word):
            continue
        if option and (word.startswith(option) or (at and arguments[at - 1] == option)):
            raise refused(f"after {name} {option}", "which takes it for a variable's name", "Name the variable.")
        computes = any(re.fullmatch(r"-\w*i\w*", one) for one in arguments[:at])
        if name in _DECLARE and (PLACE.search(word.partition("=")[0]) or computes):
            why = "which computes what it stands for" if computes else "which takes it for a variable's name"
            raise refused(f"after {name}", why, "Assign it to a variable of your own: x={}")


def _check_word(word: str, before: str) -> None:
    if _INDEX.fullmatch(word) and PLACE.search(word.partition("]")[0]):
        raise refused("in the index of an array", "which some shells compute", "Assign it first: x={}")
    if found := _EXPANDED.fullmatch(word):
        raise refused(f"in {found[1]}", "which a shell expands once more", "Take it out.")
    if before == "--wrap" or word.startswith("--wrap="):
        raise refused("in --wrap", "which a shell reads", "Put the command into a script, and pass it as an argument.")


def _splits(words: Sequence[str]) -> bool:
    """Whether these words, which follow env, begin with options of which one is -S."""
    for at, word in enumerate(words):
        if _SPLIT.fullmatch(word):
            return True
        if not BEFORE_COMMANDS.fullmatch(word) and not (at and words[at - 1].startswith("-")):
            return False
    return False


def _check_scripts(words: Sequence[str]) -> None:
    """Refuses a place in what follows sh -c and its like."""
    shell, script, named = "", False, False  # whose options these are, whether its script is to come, or was named
    values = 0  # words to come that belong to its options
    unsure = False  # a variable among them may be empty, or several options, -c among them
    unknown = [at for at in _programs(words) if _UNKNOWN.search(_DEFAULT.sub("", words[at]))]
    for at, word in enumerate(words):
        name = _name(word)
        option = word.startswith(("-", "+"))
        is_script = unsure or not (values or option) if script else unsure and not named
        if shell and PLACE.search(word) and (is_script or word.startswith("--")):
            raise refused(f"in the script of {shell} -c", "which a shell reads", _AS_ARGUMENT)
        if at in unknown:
            shell, script, values, unsure, named = name or "what a command prints", False, 0, False, False
        elif _SHELL.fullmatch(name) or name in _TAKE_SCRIPTS:
            shell, script, values, unsure, named = name, False, 0, False, False
        elif shell and option:
            script = script or _SCRIPT_OPTION.fullmatch(word) is not None
            unsure = unsure or "$" in word
            values += _values(word) if shell not in _TAKE_SCRIPTS else 0
        elif shell and _may_vanish(word):
            unsure = True
        elif shell and values:
            values -= 1
        elif shell and unsure:
            named = True
        elif shell and (script or shell not in _TAKE_SCRIPTS):
            shell, script = "", False  # a script, or a file with one: what follows are its arguments


def _programs(words: Sequence[str]) -> Iterator[int]:
    """Where the program of a command may stand. Behind an option of env or sudo it may be that option's value."""
    behind = False  # a program that runs another
    for at, word in enumerate(words):
        if BEFORE_COMMANDS.fullmatch(word):
            behind = behind or _name(word) in WRAPPERS
            continue
        if at and words[at - 1] in ("function", "coproc"):
            yield at  # perhaps a name
            continue
        yield at
        if not (behind and at and words[at - 1].startswith("-")) and not _may_vanish(word):
            return


def _may_vanish(word: str) -> bool:
    return isinstance(word, Word) and word.may_vanish


def _values(option: str) -> int:
    """How many words an option of a shell takes: -o and -O, also among others, and names of files."""
    if option.startswith("--"):
        return option in ("--rcfile", "--init-file")
    letters = option.partition("$")[0]
    return letters.count("o") + letters.count("O")


def _name(word: str) -> str:
    """The name of a program. A variable that is part of it may be empty: ${x}sh is sh then."""
    if word.startswith("$") and _SHELL.fullmatch(word):
        return word
    word = _DEFAULT.sub(r"\1", word)
    if _VARIABLE.fullmatch(word):
        return word
    return _PERHAPS_EMPTY.sub("", word).rpartition("/")[2]


_AS_ARGUMENT = "Pass it as an argument: sh -c 'echo \"$1\"' sh {}"
