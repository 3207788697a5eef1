"""Messages as lines of JSON: the name of the kind, then its fields in order. What is no message of ours is refused."""

from __future__ import annotations

import json
from collections.abc import Callable

from headway.engine.ready import Room
from headway.live.doors.messages import (
    Hello,
    Leave,
    Left,
    News,
    Question,
    Reply,
    Request,
    Response,
    Trouble,
    Welcome,
    Word,
)
from headway.model.errors import HeadwayError
from headway.model.messages import Answer, Finish, Lease
from headway.model.record import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 64 << 20  # bytes of a line
_KINDS: dict[str, type] = {kind.__name__: kind for kind in (Hello, Question, Leave, Welcome, Reply, News, Trouble)}
_NUMBERS = ("LeaseId", "WorkflowId", "PlaceholderId", "JobId", "int")
_PLAIN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_NUMBERS, (int,)),
    "Seconds": (float, int),
    "str": (str,),
    "bool": (bool,),
}
_RECORDS: dict[str, type] = {kind.__name__: kind for kind in (Finish, Lease, Room, Left, Word, Answer)}
_readers: dict[str, Callable[[Any], Any]] = {}  # by what a field is said to be


class NoMessageError(HeadwayError):
    """The other end says something that is not understood."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the other end of a runner's port is not understood: {why}.", "Is it the same version?")


def encode(message: Request | Response) -> bytes:
    """A message as a line."""
    return (
        json.dumps([type(message).__name__, _values(message)], default=_values, separators=(",", ":")).encode() + b"\n"
    )


def decode(line: bytes) -> Request | Response:
    """The message of a line."""
    try:
        name, values = json.loads(line)
        message: Request | Response = _record(_KINDS[name], values)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise NoMessageError(f"{error or type(error).__name__}") from None
    return message


def _values(record: object) -> list[object]:
    return [getattr(record, name) for name in fields(record)]


def _record(kind: type, values: Any) -> Any:
    names = fields(kind)
    if type(values) is not list or len(values) != len(names):
        raise ValueError(f"{kind.__name__} has {len(names)} fields")
    said = kind.__annotations__
    return kind(*[_reader(said[name])(value) for name, value in zip(names, values, strict=True)])


def _reader(said: str) -> Callable[[Any], Any]:
    """What reads a field of this type."""
    found = _readers.get(said)
    if found is None:
        found = _readers[said] = _made(said)
    return found


def _made(said: str) -> Callable[[Any], Any]:
    """A reader for a type as it is written in a class: `int`, `Lease | None`, `Sequence[Finish]`, `dict[int, bool]`."""
    if said.endswith(" | None"):
        inner = _reader(said.removesuffix(" | None"))
        return lambda value: None if value is None else inner(value)
    if said in _PLAIN:
        expected = _PLAIN[said]

        def plain(value: Any) -> Any:
            if type(value) not in expected:
                raise ValueError(f"{value!r} is no {said}")
            return value

        return plain
    if said in _RECORDS:
        return lambda value: _record(_RECORDS[said], value)
    outer, _, rest = said.partition("[")
    inside = rest[:-1]
    if outer == "dict":
        key, _, each = inside.partition(", ")
        read = _reader(each)
        word = str if key == "str" else int
        return lambda value: {word(name): read(one) for name, one in value.items()}
    if outer == "tuple" and not inside.endswith(", ..."):
        parts = [_reader(part) for part in inside.split(", ")]
        return lambda value: tuple(read(one) for read, one in zip(parts, value, strict=True))
    read = _reader(inside.removesuffix(", ..."))
    make: Callable[[Any], Any] = tuple if outer == "tuple" else list
    if outer not in ("tuple", "list", "Sequence"):
        raise NotImplementedError(f"a field that is {said}")
    return lambda value: make(map(read, value))
