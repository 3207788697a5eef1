"""The two ways in which submit files write argument lists and environments, and the strings of ClassAds."""

from __future__ import annotations

import re

from headway.formats.submit.macros import BLANK
from headway.model.errors import ModelError, shown
from headway.model.job import Pairs

_SEPARATORS = " \t\r\n"
_BARE = re.compile(r"[^\s'\"]+", re.ASCII)
_CLOSE = "Close it, or write two of them for one."


def arguments(text: str) -> list[str]:
    """The words of an `arguments` value: in double quotes as a whole (new), or not (old)."""
    text = text.strip(BLANK)
    if text.startswith('"'):
        return _quoted_words(_unquoted(text))
    words = []
    for word in re.split(f"[{_SEPARATORS}]+", text):
        plain = word.replace('\\"', "")
        if '"' in plain:
            raise ModelError(
                f"there is a double quote in {shown(word)}.",
                'Write \\" in the old syntax, or put all arguments into double quotes.',
            )
        words.append(word.replace('\\"', '"'))
    return [word for word in words if word]


def environment(text: str) -> Pairs:
    """The variables of an `environment` value; of two with one name the last counts."""
    text = text.strip(BLANK)
    entries = _quoted_words(_unquoted(text)) if text.startswith('"') else text.split(";")
    found: dict[str, str] = {}
    for entry in entries:
        if not entry.strip(BLANK):
            continue
        name, equals, value = entry.lstrip(BLANK).partition("=")
        if not equals or not name:
            raise ModelError(f"{shown(entry)} sets no variable of the environment.", "Expected name=value.")
        found.pop(name, None)
        found[name] = value
    return tuple(found.items())


def _unquoted(text: str) -> str:
    """What stands between double quotes, each pair of them inside being one."""
    inside = re.fullmatch(r'"((?:[^"]++|"")*+)"', text, re.DOTALL)
    if inside is None:
        end = re.match(r'"(?:[^"]++|"")*+"', text, re.DOTALL)
        what = "something follows the closing double quote." if end else "a double quote is not closed."
        raise ModelError(what, _CLOSE)
    return inside[1].replace('""', '"')


def _quoted_words(text: str) -> list[str]:
    """Words parted by blanks; single quotes hold a word together, and two of them in such a part are one."""
    words: list[str] = []
    pieces: list[str] | None = None
    at, size = 0, len(text)
    while at < size:
        character = text[at]
        if character in _SEPARATORS:
            if pieces is not None:
                words.append("".join(pieces))
                pieces = None
            at += 1
            continue
        pieces = [] if pieces is None else pieces
        if character == "'":
            part = re.compile(r"'((?:[^']++|'')*+)'", re.DOTALL).match(text, at)
            if part is None:
                raise ModelError(f"a single quote is not closed: {shown(text[at:])}.", _CLOSE)
            pieces.append(part[1].replace("''", "'"))
            at = part.end()
        else:
            end = at
            while end < size and text[end] not in _SEPARATORS and text[end] != "'":
                end += 1
            pieces.append(text[at:end])
            at = end
    if pieces is not None:
        words.append("".join(pieces))
    return words


def quoted_words(words: list[str]) -> str:
    """Words in the new syntax; `arguments` gives them back."""
    quoted = (word if _BARE.fullmatch(word) else "'" + word.replace("'", "''") + "'" for word in words)
    return '"' + " ".join(quoted).replace('"', '""') + '"'


def classad_string(text: str) -> str:
    """The value of a string literal; in submit files a backslash means something only before a double quote."""
    text = text.strip(BLANK)
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        raise ModelError(f"{shown(text)} is no string.", "Put it into double quotes.")
    inside = text[1:-1]
    if re.search(r'(?<!\\)"', inside):
        raise ModelError(f"{shown(text)} has a double quote inside.", 'Write \\" for it.')
    return inside.replace('\\"', '"')


def classad_literal(text: str) -> str:
    """A string literal for a text in which no backslash stands before a double quote, or at the end."""
    return '"' + text.replace('"', '\\"') + '"'
