"""Text as databases keep it: file names need not be UTF-8, and PostgreSQL takes no NUL."""

from __future__ import annotations

import json

_MARK = "\x01"


def encode(text: str) -> str:
    """A text that every database takes: itself, but for the rare one that is none of Unicode's."""
    if text.isascii() and "\0" not in text and not text.startswith(_MARK):
        return text
    if text.startswith(_MARK) or any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
        return _MARK + json.dumps(text)
    return text


def decode(text: str) -> str:
    """The text that was encoded."""
    return str(json.loads(text[1:])) if text.startswith(_MARK) else text
