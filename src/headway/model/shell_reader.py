"""A command with places, read as sh reads it: which words its commands have, and what is around each place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from headway.model.errors import ModelError

PLACE = re.compile(r"(?<!\$)\{(\d*|#|\.|/\.?)\}")  # ${1} is the shell's
OUTPUT = "\0"  # stands in a word for what a command in $( ) or backquotes prints
_WRAPPERS = """builtin chronic chrt command doas env exec ionice ltrace nice nohup numactl setsid sshpass stdbuf strace
    sudo taskset time timeout torsocks unshare xargs"""
WRAPPERS = frozenset(_WRAPPERS.split())
BEFORE_COMMANDS = re.compile(
    r"[A-Za-z_]\w*=.*|-.*|[\d.]+[smhd]?|!|\{|if|then|else|elif|while|until|do|function|coproc|"
    + "|".join(sorted(WRAPPERS)),
    re.DOTALL,
)
_EXPANSIONS = re.compile(rf"(?:\$\w+|\$[@*?!-]|\$\{{[^{{}}]*\}}|{OUTPUT})+")
_NAMED_HANDLE = re.compile(r"\{[A-Za-z_]\w*\}")  # bash puts the number of a handle into this variable
_ENDS_WORD = " \t\n;|&<>()"


def refused(where: str, why: str, fix: str) -> ModelError:
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


class Word(str):
    """A word without its quotes."""

    may_vanish = False  # unquoted, and nothing but what a variable or a command may leave empty


class Reader:
    """Reads a command as sh does, as far as needed to know what is around each place."""

    def __init__(self, command: str) -> None:
        self.text = command
        self.at = 0
        self.within: list[str] = [""]  # the quotes and brackets that are open
        self.pieces: list[tuple[str, str | None]] = []  # text with None, places with the quotes around them
        self.words: list[list[Word]] = [[]]  # of the command that is being read, in each bracket that is open
        self.word: list[str | None] = [None]
        self.quoted: list[bool] = [False]  # whether any of it is
        self.target: list[bool] = [False]  # the next word is a file that is written or read
        self.here: list[str] = []  # here-documents that begin with the next line

    def commands(self) -> Iterator[list[Word]]:
        """Reads everything; the words of each command, without their quotes, once they are known."""
        while self.at < len(self.text):
            yield from self._step()
        while self.words:
            yield from self._end_command()
            self._pop()

    def _step(self) -> Iterator[list[Word]]:
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
                self._take(len(closing), end=True, keep=closing if top == "${" else None)
            else:
                nested = text.startswith("${", at)
                kept = None if top == "`" else "${" if nested else character  # of a command only its output is
                self._take(2 if nested else 1, begin="${" if nested else "", keep=kept)
        elif character == "`":
            self._take(1, begin="`", keep=OUTPUT)
        elif text.startswith("$((", at):
            self._take(3, begin="((")
        elif text.startswith("$(", at):
            self._open(2)
        elif text.startswith("${", at):
            self._take(2, begin="${", keep="${")
        elif text.startswith("$[", at):
            raise ModelError("$[ computes in some shells and not in others.", "Use $(( )) instead.")
        elif character == '"':
            self.quoted[-1] = True
            self._take(1, begin="" if top == '"' else '"', end=top == '"', keep="")
        elif top == '"':
            self._take(1, keep=character)
        else:
            yield from self._unquoted(character)

    def _unquoted(self, character: str) -> Iterator[list[Word]]:
        text, at = self.text, self.at
        if character == "#" and self.word[-1] is None:
            end = text.find("\n", at)
            comment = text[at : end if end >= 0 else len(text)]
            if PLACE.search(comment):
                self._refuse("#")
            self._take(len(comment))
        elif character == "'":
            self.quoted[-1] = True
            self._take(1, begin="'", keep="")
        elif text.startswith("$'", at):
            raise ModelError("$' is a quote to some shells and not to others.", "Use ' instead, or printf.")
        elif character in "<>":
            self._redirection()
        elif text.startswith("((", at):
            yield from self._end_command()
            self._take(2, begin="((")
        elif character == "(":
            yield from self._end_command()
            self._open(1)
        elif character == ")" and self.within[-1] == "(":
            yield from self._end_command()
            self._close()
        elif text.startswith("&>", at):
            raise ModelError("&> is a redirection to some shells and not to others.", "Use > FILE 2>&1 instead.")
        elif character in "\n;|&)":
            yield from self._end_command()
            self._take(1)
            if character == "\n" and self.here:
                self._skip_here_documents()
        elif character in _ENDS_WORD:
            self._end_word()
            self._take(1)
        else:
            self._take(1, keep=character)

    def _redirection(self) -> None:
        text, at, word = self.text, self.at, self.word[-1] or ""
        if word.isdecimal():  # the number of a handle
            self.word[-1] = None
        elif _NAMED_HANDLE.fullmatch(word):
            raise ModelError(f"{word}{text[at]} is a redirection to some shells and not to others.", "Use a number.")
        self._end_word()
        if text.startswith("<<", at) and not text.startswith("<<<", at):
            self._here_document()
            return
        self.target[-1] = True
        if text.startswith("<<<", at):  # a word as standard input, to bash
            self._take(3)
        else:
            self._take(2 if text[at + 1 : at + 2] in ("&", "|", ">") else 1)  # >& 2>| >> <>

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
            self.word[-1] = (self.word[-1] or "") + OUTPUT
        self._take(count)
        self.within.append("(")
        self.words.append([])
        self.word.append(None)
        self.quoted.append(False)
        self.target.append(False)

    def _close(self) -> None:
        if self.within[-1] != "(":  # the last word was `case`
            return
        self._take(1, end=True)
        self._pop()

    def _pop(self) -> None:
        for stack in (self.words, self.word, self.quoted, self.target):
            stack.pop()

    def _end_word(self) -> None:
        word, is_target, is_quoted = self.word[-1], self.target[-1], self.quoted[-1]
        self.word[-1], self.quoted[-1] = None, False
        if word is None:
            return
        self.target[-1] = False
        if not is_target:
            is_first = all(map(BEFORE_COMMANDS.fullmatch, self.words[-1]))
            self.words[-1].append(Word(word))
            self.words[-1][-1].may_vanish = not is_quoted and _EXPANSIONS.fullmatch(word) is not None
            if word == "case" and is_first and "(" in self.within:
                self.within.append("case")
            elif word == "esac" and is_first and self.within[-1] == "case":
                self.within.pop()

    def _end_command(self) -> Iterator[list[Word]]:
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
        raise refused(*_REFUSED[around])
