"""The SQL of the store: named statements in queries.sql, told apart by database where they must differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from headway.model.record import record

DIALECTS = ("sqlite", "postgresql")
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_NAME = re.compile(r"-- name: ([a-z_]+)")


@record
class Statement:
    """One statement as its database wants it, and its parameters in order."""

    text: str
    names: tuple[str, ...]


class _Statements(dict[str, Statement]):
    """Named statements; those for watching, steering and the past are read when one is asked for: no runner does."""

    def __init__(self, dialect: str) -> None:
        super().__init__(_read("queries.sql", dialect))
        self._dialect = dialect

    def __missing__(self, name: str) -> Statement:
        more = _read("steering.sql", self._dialect) | _read("past.sql", self._dialect)
        self.update(more)
        return more[name]


def statements(dialect: str) -> Mapping[str, Statement]:
    """All named statements, for one database."""
    return _Statements(dialect)


def _read(file: str, dialect: str) -> dict[str, Statement]:
    found: dict[str, Statement] = {}
    name, lines = "", list[str]()
    for line in [*_lines(Path(__file__).with_name(file).read_text(), dialect), "-- name: end"]:
        heading = _NAME.fullmatch(line)
        if heading is None:
            if not line.startswith("--"):
                lines.append(line)
            continue
        if name:
            found[name] = _translated("\n".join(lines).strip().removesuffix(";"), dialect)
        name, lines = heading[1], []
    return found


def _translated(text: str, dialect: str) -> Statement:
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    if dialect == "sqlite":
        text = _PARAMETER.sub(lambda found: f"?{names.index(found[1]) + 1}", text)
    else:
        text = _PARAMETER.sub(r"%(\1)s", text)
    return Statement(text, names)


def script(text: str, dialect: str) -> list[str]:
    """The statements of a schema file, one by one; each ends with a semicolon at the end of a line."""
    lines = [line.partition("--")[0].rstrip() for line in _lines(text, dialect)]
    return [part.strip() for part in re.split(r";\n", "\n".join(line for line in lines if line) + "\n") if part.strip()]


def _lines(text: str, dialect: str) -> Iterator[str]:
    """Lines without those for another database, and without the mark itself."""
    for line in text.splitlines():
        code, mark, word = line.rpartition("-- ")
        if mark and code.strip() and word in DIALECTS:
            if word == dialect:
                yield code.rstrip()
        else:
            yield line
