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

from headway.model.shell_reader import BEFORE_COMMANDS, PLACE, WRAPPERS, Reader, refused

Values = Callable[[str], str]  # what a place stands for

_SPECIAL = re.compile(r"['\"`$()#\\]|<<")
_SHELLS = frozenset(("sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "tcsh", "yash", "zsh"))
_TAKE_SCRIPTS = frozenset(("su", "runuser", "script", "flock"))  # with -c, after other words too
_READERS = frozenset(("eval", "trap", "alias", "ssh", "rsh", "watch", "let", "unset", "[["))  # of all their arguments
_SCRIPT_OPTION = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*|--(?:session-)?command(?:=.*)?", re.DOTALL)
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
        if _name(words[at]) in _READERS and any(map(PLACE.search, words[at + 1 :])):
            raise refused(f"after {words[at]}", "which has a shell read its arguments", _AS_ARGUMENT)
    shell, script = "", False  # whose options these are, and whether its script is to come
    values = 0  # words to come that belong to its options
    for word in words:
        name = _name(word)
        option = word.startswith(("-", "+"))
        if shell and PLACE.search(word) and ((script and not values and not option) or word.startswith("--")):
            raise refused(f"in the script of {shell} -c", "which a shell reads", _AS_ARGUMENT)
        if name in _SHELLS or name in _TAKE_SCRIPTS:
            shell, script, values = name, False, 0
        elif shell and option:
            script = script or _SCRIPT_OPTION.fullmatch(word) is not None
            values += _values(word) if shell in _SHELLS else 0
        elif shell and values:
            values -= 1
        elif shell and (script or shell in _SHELLS):  # a script, or a file with one: what follows are its arguments
            shell, script = "", False


def _programs(words: Sequence[str]) -> Iterator[int]:
    """Where the program of a command may stand. Behind an option of env or sudo it may be that option's value."""
    behind = False  # a program that runs another
    for at, word in enumerate(words):
        if BEFORE_COMMANDS.fullmatch(word):
            behind = behind or _name(word) in WRAPPERS
            continue
        yield at
        if not (behind and at and words[at - 1].startswith("-")):
            return


def _values(option: str) -> int:
    """How many words an option of a shell takes: -o and -O, also among others, and names of files."""
    if option.startswith("--"):
        return option in ("--rcfile", "--init-file")
    return option.count("o") + option.count("O")


def _name(word: str) -> str:
    return word.rpartition("/")[2]


_AS_ARGUMENT = "Pass it as an argument: sh -c 'echo \"$1\"' sh {}"
