"""The queue statement: how many processes a description makes, and the variables of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from headway.formats.submit.expression import whole_number
from headway.formats.submit.macros import BLANK
from headway.model.errors import ModelError, shown
from headway.model.record import field, record

MOST_PROCESSES = 1_000_000
_KEYWORD = re.compile(r"(?:^|(?<=[\s,]))(in|from|matching)(?=[\s(\[]|$)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_KIND = re.compile(r"(?:files|dirs|any)(?=[\s(\[]|$)", re.IGNORECASE)
_SLICE = re.compile(r"\[\s*(-?\d{1,9})?\s*(?::\s*(-?\d{1,9})?\s*(?::\s*(\d{1,9})?\s*)?)?\]")
_FORMS = 'Expected such as "queue 3", "queue x in (a, b)" or "queue x, y from FILE".'


@record
class Statement:
    """A queue statement taken apart."""

    count: int
    names: tuple[str, ...] = ()
    keyword: str = ""  # in, from, matching
    cut: slice = field(default_factory=lambda: slice(None))
    rest: str = ""  # the items, or the file they are in
    kind: str = "files"  # what `matching` looks for: files, dirs, any


def statement(text: str, has_items: bool) -> Statement:
    """A queue statement without macros, taken apart; `has_items` if a list in the next lines belongs to it."""
    keyword = _KEYWORD.search(text)
    if keyword is None:
        return Statement(_count(text))
    count, names = _names(text[: keyword.start()])
    word = keyword[1].lower()
    rest = text[keyword.end() :].strip(BLANK)
    kind = "files"
    if word == "matching" and (said := _KIND.match(rest)):
        kind = said[0].lower()
        rest = rest[said.end() :].strip(BLANK)
    cut = slice(None)
    if rest.startswith("["):
        match = _SLICE.match(rest)
        if match is None or match[3] == "0":
            raise ModelError(f"{shown(rest)} begins with no slice.", 'Expected such as "[1:5]".')
        start, stop, step = (int(part) if part else None for part in match.groups())
        one = ":" not in match[0] and start is not None
        cut = slice(start, (start + 1 or None) if one and start is not None else stop, step)
        rest = rest[match.end() :].strip(BLANK)
    if not rest and not has_items:
        raise ModelError(f'nothing follows "{word}".', _FORMS)
    return Statement(count, names, word, cut, rest, kind)


def _names(text: str) -> tuple[int, tuple[str, ...]]:
    """The count and the variables before the keyword."""
    words = [word for word in re.split(r"[\s,]+", text) if word]
    names: list[str] = []
    while words and _NAME.fullmatch(words[-1]):
        names.append(words.pop())
    return _count(" ".join(words)), tuple(reversed(names))


def _count(text: str) -> int:
    if not text.strip(BLANK):
        return 1
    try:
        count = whole_number(text)
    except ModelError:
        raise ModelError(f"{shown(text)} is no number of processes.", _FORMS) from None
    if not 0 <= count <= MOST_PROCESSES:
        raise ModelError(f"{count} processes cannot be queued.", f"Expected 0 to {MOST_PROCESSES}.")
    return count


def rows(
    queue: Statement,
    listed: Sequence[str] | None,
    lines: Callable[[str], Iterator[str]],
    matches: Callable[[str, str], list[str]],
) -> Iterator[tuple[int, int, dict[str, str]]]:
    """Item index, step, and variables of each process.

    `lines` gives the lines of a file of items, `matches` the names that fit a pattern and are of a kind.
    """
    if not queue.keyword:
        for step in range(queue.count):
            yield 0, step, {}
        return
    found = _items(queue, listed, lines)
    if queue.keyword == "matching":
        found = [name for pattern in found for name in matches(pattern, queue.kind)]
    items = list(enumerate(found))[queue.cut]
    if len(items) * queue.count > MOST_PROCESSES:
        raise ModelError(f"over {MOST_PROCESSES} processes are queued.", "Queue fewer.")
    names = [name.lower() for name in queue.names] or ["item"]
    for index, item in items:
        if queue.keyword == "from" and len(names) > 1:
            fields = re.split(r"\s*,\s*|\s+", item, maxsplit=len(names) - 1)
        else:
            fields = [item]
        variables = dict(zip(names, fields + [""] * (len(names) - len(fields)), strict=True))
        for step in range(queue.count):
            yield index, step, variables


def _items(queue: Statement, listed: Sequence[str] | None, lines: Callable[[str], Iterator[str]]) -> list[str]:
    if listed is None and queue.rest.startswith("("):
        if not queue.rest.endswith(")"):
            raise ModelError("the list of items is not closed.", 'Close it with ")".')
        listed = [queue.rest[1:-1].strip(BLANK)]
    if listed is None and queue.keyword == "from":
        if queue.rest.endswith("|"):
            raise ModelError("items that a program prints are not supported.", "Write them into a file.")
        listed = list(lines(queue.rest))
    if listed is None:
        listed = [queue.rest]
    kept = [text for item in listed if (text := item.strip(BLANK)) and not text.startswith("#")]
    if queue.keyword == "from":
        return kept
    return [word for item in kept for word in re.split(r"[\s,]+", item) if word]
