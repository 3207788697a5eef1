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
from typing import NoReturn

from headway.model.errors import ModelError

PLACE = re.compile(r"(?<!\$)\{(\d*|#|\.|/\.?)\}")  # ${1} is the shell's
Values = Callable[[str], str]  # what a place stands for

_SPECIAL = re.compile(r"['\"`$()#\\]|<<")
_SHELLS = frozenset(("sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "tcsh", "yash", "zsh"))
_TAKE_SCRIPTS = frozenset(("su", "runuser", "script", "flock"))  # with -c, after other words too
_READERS = frozenset(("eval", "trap", "alias", "ssh", "rsh", "watch", "let", "unset", "[["))  # of all their arguments
_WRAPPERS = frozenset(
    ("builtin", "command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout")
)
_BEFORE_COMMANDS = re.compile(
    r"[A-Za-z_]\w*=.*|-.*|[\d.]+[smhd]?|!|\{|if|then|else|elif|while|until|do|" + "|".join(sorted(_WRAPPERS)), re.DOTALL
)
_SCRIPT_OPTION = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*|--(?:session-)?command(?:=.*)?", re.DOTALL)
_REFERENCES = {"": '"${%s}"', '"': "${%s}", "'": "'\"${%s}\"'"}  # by the quotes around the place
_ENDS_WORD = " \t\n;|&<>()"


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
    reader = _Reader(command)
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
            raise _refused(f"after {words[at]}", "which has a shell read its arguments", _AS_ARGUMENT)
    shell, script = "", False  # whose options these are, and whether its script is to come
    values = 0  # words to come that belong to its options
    for word in words:
        name = _name(word)
        option = word.startswith(("-", "+"))
        if shell and PLACE.search(word) and ((script and not values and not option) or word.startswith("--")):
            raise _refused(f"in the script of {shell} -c", "which a shell reads", _AS_ARGUMENT)
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
        if _BEFORE_COMMANDS.fullmatch(word):
            behind = behind or _name(word) in _WRAPPERS
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


def _refused(where: str, why: str, fix: str) -> ModelError:
    return ModelError(f"a place such as {{}} cannot stand {where}, {why}.", fix)


_REFUSED = {
    "`": ("inside backquotes", "where quotes mean something else", "Use $( ) instead."),
    "((": (
        "inside $(( ))",
        "which computes what it stands for",
        "Assign it first: x={}; then check that it is a number.",
    ),
    "${": ("inside ${ }", "where quotes mean something else", "Assign it first: x={}"),
    "#": ("in a comment", "where it does nothing", "Take it out."),
    "<<": ("inside a here-document", "which may be a script", "Use printf '%s\\n' {} | … instead."),
    "case": ("after case inside $( )", "whose end cannot be told there", "Put case outside, or into a script."),
}


class _Reader:
    """Reads a command as sh does, as far as needed to know what is around each place."""

    def __init__(self, command: str) -> None:
        self.text = command
        self.at = 0
        self.within: list[str] = [""]  # the quotes and brackets that are open
        self.pieces: list[tuple[str, str | None]] = []  # text with None, places with the quotes around them
        self.words: list[list[str]] = [[]]  # of the command that is being read, in each bracket that is open
        self.word: list[str | None] = [None]
        self.target: list[bool] = [False]  # the next word is a file that is written or read
        self.here: list[str] = []  # here-documents that begin with the next line

    def commands(self) -> Iterator[list[str]]:
        """Reads everything; the words of each command, without their quotes, once they are known."""
        while self.at < len(self.text):
            yield from self._step()
        while self.words:
            yield from self._end_command()
            self.words.pop()
            self.word.pop()
            self.target.pop()

    def _step(self) -> Iterator[list[str]]:
        text, at, top = self.text, self.at, self.within[-1]
        place = PLACE.match(text, at)
        if place:
            self._place(place)
            return
        character = text[at]
        if top == "'":
            self._take(1, end=character == "'", keep="" if character == "'" else character)
        elif character == "\\":
            self._take(2, keep=text[at + 1 : at + 2].replace("\n", ""))
        elif top in ("`", "${", "(("):
            closing = {"`": "`", "${": "}", "((": "))"}[top]
            if text.startswith(closing, at):
                self._take(len(closing), end=True)
            else:
                nested = text.startswith("${", at)
                self._take(2 if nested else 1, begin="${" if nested else "")
        elif character == "`":
            self._take(1, begin="`")
        elif text.startswith("$((", at):
            self._take(3, begin="((")
        elif text.startswith("$(", at):
            self._open(2)
        elif text.startswith("${", at):
            self._take(2, begin="${")
        elif character == '"':
            self._take(1, begin="" if top == '"' else '"', end=top == '"', keep="")
        elif top == '"':
            self._take(1, keep=character)
        else:
            yield from self._unquoted(character)

    def _unquoted(self, character: str) -> Iterator[list[str]]:
        text, at = self.text, self.at
        if character == "#" and self.word[-1] is None:
            end = text.find("\n", at)
            comment = text[at : end if end >= 0 else len(text)]
            if PLACE.search(comment):
                self._refuse("#")
            self._take(len(comment))
        elif character == "'":
            self._take(1, begin="'", keep="")
        elif text.startswith("<<", at) and not text.startswith("<<<", at):
            self._end_word()
            self._here_document()
        elif text.startswith("((", at):
            yield from self._end_command()
            self._take(2, begin="((")
        elif character == "(":
            yield from self._end_command()
            self._open(1)
        elif character == ")" and self.within[-1] == "(":
            yield from self._end_command()
            self._close()
        elif character in "\n;|&)":
            yield from self._end_command()
            self._take(1)
            if character == "\n" and self.here:
                self._skip_here_documents()
        elif character in _ENDS_WORD:
            if character in "<>":
                if (self.word[-1] or "").isdecimal():  # the number of a handle
                    self.word[-1] = None
                self._end_word()
                self.target[-1] = True
            else:
                self._end_word()
            self._take(1)
        else:
            self._take(1, keep=character)

    def _place(self, place: re.Match[str]) -> None:
        for around in self.within:
            if around in _REFUSED:
                self._refuse(around)
        self.pieces.append((place[1], self.within[-1] if self.within[-1] in "'\"" else ""))
        self.word = [(word or "") + place[0] for word in self.word]  # also of the words that $( ) is part of
        self.at = place.end()

    def _take(self, count: int, begin: str = "", end: bool = False, keep: str | None = None) -> None:
        """Takes characters as they are; `keep` is what they are worth in the word."""
        self.pieces.append((self.text[self.at : self.at + count], None))
        self.at += count
        if keep is not None:
            self.word[-1] = (self.word[-1] or "") + keep
        if end:
            self.within.pop()
        if begin:
            self.word[-1] = self.word[-1] or ""
            self.within.append(begin)

    def _open(self, count: int) -> None:
        """A command inside $( ), which is part of a word, or inside ( )."""
        if self.text[self.at] == "$":
            self.word[-1] = self.word[-1] or ""
        self._take(count)
        self.within.append("(")
        self.words.append([])
        self.word.append(None)
        self.target.append(False)

    def _close(self) -> None:
        if self.within[-1] != "(":  # the last word was `case`
            return
        self._take(1, end=True)
        self.words.pop()
        self.word.pop()
        self.target.pop()

    def _end_word(self) -> None:
        word, is_target = self.word[-1], self.target[-1]
        self.word[-1] = None
        if word is None:
            return
        self.target[-1] = False
        if not is_target:
            is_first = all(map(_BEFORE_COMMANDS.fullmatch, self.words[-1]))
            self.words[-1].append(word)
            if word == "case" and is_first and "(" in self.within:
                self.within.append("case")
            elif word == "esac" and is_first and self.within[-1] == "case":
                self.within.pop()

    def _end_command(self) -> Iterator[list[str]]:
        self._end_word()
        self.target[-1] = False
        if self.words[-1]:
            yield self.words[-1]
            self.words[-1] = []

    def _here_document(self) -> None:
        found = re.compile(r"<<-?[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s;|&<>()])+)", re.DOTALL).match(
            self.text, self.at
        )
        if found is None or PLACE.search(found[0]):
            self._refuse("<<")
        self.here.append(re.sub(r"['\"\\]", "", found[1]))
        self._take(len(found[0]))

    def _skip_here_documents(self) -> None:
        for end in self.here:
            stop = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(self.text, self.at)
            body = self.text[self.at : stop.end() if stop else len(self.text)]
            if PLACE.search(body):
                self._refuse("<<")
            self._take(len(body))
        self.here = []

    def _refuse(self, around: str) -> NoReturn:
        raise _refused(*_REFUSED[around])
