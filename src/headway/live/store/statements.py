"""The SQL of the store: named statements in queries.sql, told apart by database where they must differ.

States, kinds and their like are written by name, `{RUNNING}`, and become numbers here. Parameters would not do: with
them a database could not use its indexes of the rows in one state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from headway.model.record import record
from headway.model.states import COUNTED, Kind, Needs, Off, State

DIALECTS = ("sqlite", "postgresql")
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_NUMBERS = {one.name: str(int(one)) for one in (*State, *Kind, *Off, *Needs)} | {
    "COUNTED": ", ".join(map(str, sorted(COUNTED)))
}


@record
class Statement:
    """One statement as its database wants it, and its parameters in order."""

    text: str
    names: tuple[str, ...]


class _Statements(dict[str, Statement]):
    """Named statements, each read when it is first asked for: a short run needs a third of them."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self._dialect = dialect
        self._unread = _parts("queries.sql")
        self._more = ["growth.sql", "past.sql", "steering.sql", "callers.sql", "sites.sql"]  # the last is read first

    def __missing__(self, name: str) -> Statement:
        while name not in self._unread and self._more:  # one for watching, steering or the past, which no runner needs
            self._unread |= _parts(self._more.pop())
        lines = [line for line in _lines(self._unread[name], self._dialect) if not line.startswith("--")]
        statement = self[name] = _translated("\n".join(lines).strip().removesuffix(";"), self._dialect)
        return statement


class Texts(dict[str, str]):
    """The statements of a database as text alone."""

    def __init__(self, statements: Mapping[str, Statement]) -> None:
        super().__init__()
        self._statements = statements

    def __missing__(self, name: str) -> str:
        text = self[name] = self._statements[name].text
        return text


def statements(dialect: str) -> Mapping[str, Statement]:
    """All named statements, for one database."""
    return _Statements(dialect)


def _parts(file: str) -> dict[str, str]:
    """What stands below each name."""
    parts = Path(__file__).with_name(file).read_text().split("-- name: ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def _translated(text: str, dialect: str) -> Statement:
    text = text.format_map(_NUMBERS)
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
