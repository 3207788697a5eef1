"""The part of sh that means the same without running anything: words, quotes, comments, continued lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

# What makes sh do more than pass a word on, wherever it stands unquoted, is left out here and comes to light below.
_RUN = r"""[^ \t\n'"\\;&|<>()$`*?\[]+"""
_DOUBLE_QUOTED_RUN = r'[^"\\$`]+'
# Most words by far: blanks, and then one run, in quotes or not, up to a blank or the line's end.
_PLAIN = r"""[^ \t\n'"\\;&|<>()$`*?\[#~!{}][^ \t\n'"\\;&|<>()$`*?\[]*"""
_DOUBLE, _SINGLE = r'[^"\\$`\n]*', r"[^'\n]*"
_SIMPLE = re.compile(rf"""[ \t]*(?:({_PLAIN})|"({_DOUBLE})"|'({_SINGLE})')(?=[ \t\n])""")
# And most lines: nothing but such words.
_SIMPLE_LINE = re.compile(rf"""(?:[ \t]*(?:{_PLAIN}|"{_DOUBLE}"|'{_SINGLE}')(?=[ \t\n]))+[ \t]*\n""")
_BLANKS = r"(?:[ \t]|\\\n)+"
_compiled = cache(re.compile)  # when it is needed: many files do without these three, and a run waits for them


class NotPlainError(Exception):
    """The text is a program: only sh can say what it means."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class UnclosedQuoteError(Exception):
    """A quote is opened and not closed."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def plain_commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each simple command of a script with the number of its first line.

    A file in which all lines end as on Windows is read as if they ended as here.
    """
    text = text.removeprefix("\ufeff")
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    at, line, first_line, size = 0, 1, 1, len(text)
    words: list[str] = []
    while at < size:
        if not words and (whole := _SIMPLE_LINE.match(text, at)):
            end = whole.end()
            yield line, [run or double or single for run, double, single in _SIMPLE.findall(text, at, end)]
            at = end
            line += 1
            continue
        if simple := _SIMPLE.match(text, at):
            if not words:
                first_line = line
            words.append(simple[simple.lastindex or 0])
            at = simple.end()
            continue
        character = text[at]
        if character == "\n":
            if words:
                yield first_line, words
                words = []
            at += 1
            line += 1
        elif character == "#":
            end = text.find("\n", at)
            at = size if end < 0 else end
        elif blanks := _compiled(_BLANKS).match(text, at):
            at = blanks.end()
            line += blanks[0].count("\n")
        elif character == "~" or (character in "!{}" and not words):
            raise NotPlainError(line)
        else:
            if not words:
                first_line = line
            word, at, lines = _word(text, at, line)
            line += lines
            words.append(word)
    if words:
        yield first_line, words


def _word(text: str, at: int, line: int) -> tuple[str, int, int]:
    """The word that begins at `at`, where it ends, and how many line ends it holds."""
    pieces: list[str] = []
    lines, size = 0, len(text)
    while at < size:
        character = text[at]
        if run := _compiled(_RUN).match(text, at):
            pieces.append(run[0])
            at = run.end()
        elif character in " \t\n":
            break
        elif character == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise UnclosedQuoteError(line + lines)
            pieces.append(text[at + 1 : end])
            lines += text.count("\n", at, end)
            at = end + 1
        elif character == '"':
            piece, end = _double_quoted(text, at + 1, line + lines)
            pieces.append(piece)
            lines += text.count("\n", at, end)
            at = end
        elif character == "\\":
            following = text[at + 1 : at + 2]
            if following == "\n":
                lines += 1
            else:
                pieces.append(following or "\\")
            at += 2
        else:
            raise NotPlainError(line + lines)
    return "".join(pieces), min(at, size), lines


def _double_quoted(text: str, at: int, line: int) -> tuple[str, int]:
    """What stands in double quotes from `at` on, and where it ends."""
    pieces: list[str] = []
    size = len(text)
    while at < size:
        character = text[at]
        if run := _compiled(_DOUBLE_QUOTED_RUN).match(text, at):
            pieces.append(run[0])
            at = run.end()
        elif character == '"':
            return "".join(pieces), at + 1
        elif character != "\\":
            raise NotPlainError(line)
        elif at + 1 < size and text[at + 1] in '\\"$`\n':
            pieces.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        else:
            pieces.append(character)
            at += 1
    raise UnclosedQuoteError(line)


def quoted(word: str) -> str:
    """A word in double quotes as in the papers' figures where that is safe, else in single ones."""
    return shlex.quote(word) if any(c in '"$`\\!' for c in word) else f'"{word}"'
