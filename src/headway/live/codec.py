"""Messages as lines of JSON. What is no message of a codec's closed union is refused, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from headway.model.errors import HeadwayError
from headway.model.record import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBERS = ("LeaseId", "WorkflowId", "PlaceholderId", "JobId", "int")
_PLAIN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_NUMBERS, (int,)),
    "Seconds": (float, int),
    "str": (str,),
    "bool": (bool,),
}
_LARGE = 1 << 63  # what no database and no system call takes


class NoMessageError(HeadwayError):
    """The other end says something that is not understood."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the other end of a runner's port is not understood: {why}.", "Is it the same version?")


class Codec:
    """Writes and reads the messages of one union: the name of the kind, then its fields in order.

    `by_name`: as objects instead, each known by the name of its first field; fields that have a default may be missing.
    """

    def __init__(self, kinds: Iterable[type], records: Iterable[type] = (), by_name: bool = False) -> None:
        self._by_name = by_name
        self._kinds = {fields(kind)[0] if by_name else kind.__name__: kind for kind in kinds}
        self._records = {kind.__name__: kind for kind in records}
        self._readers: dict[str, Callable[[Any], Any]] = {}  # by what a field is said to be

    @property
    def kinds(self) -> frozenset[type]:
        """All that there are."""
        return frozenset(self._kinds.values())

    def encode(self, message: object) -> bytes:
        """A message as a line."""
        said = self._values(message) if self._by_name else [type(message).__name__, self._values(message)]
        return json.dumps(said, default=self._values, separators=(",", ":")).encode() + b"\n"

    def decode(self, line: bytes) -> Any:
        """The message of a line."""
        try:
            said = json.loads(line)
            if self._by_name:
                return self._record(next(self._kinds[name] for name in said if name in self._kinds), said)
            name, values = said
            return self._record(self._kinds[name], values)
        except StopIteration:
            raise NoMessageError("it asks for nothing that is known") from None
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise NoMessageError(f"{error or type(error).__name__}") from None

    def _values(self, record: object) -> dict[str, object] | list[object]:
        names = fields(record)
        if self._by_name:
            return {name: getattr(record, name) for name in names}
        return [getattr(record, name) for name in names]

    def _record(self, kind: type, values: Any) -> Any:
        names, said = fields(kind), kind.__annotations__
        if self._by_name:
            unknown = [name for name in values if name not in said]
            if unknown:
                raise ValueError(f"{kind.__name__} has no {unknown[0]!r}")
            return kind(**{name: self._reader(said[name])(value) for name, value in values.items()})
        if type(values) is not list or len(values) != len(names):
            raise ValueError(f"{kind.__name__} has {len(names)} fields")
        return kind(*[self._reader(said[name])(value) for name, value in zip(names, values)])  # noqa: B905 - Python 3.9

    def _reader(self, said: str) -> Callable[[Any], Any]:
        """What reads a field of this type."""
        found = self._readers.get(said)
        if found is None:
            found = self._readers[said] = self._made(said)
        return found

    def _made(self, said: str) -> Callable[[Any], Any]:
        """A reader for a type as a class has it: `int`, `Lease | None`, `Sequence[Finish]`, `dict[int, bool]`."""
        if said.endswith(" | None"):
            inner = self._reader(said.removesuffix(" | None"))
            return lambda value: None if value is None else inner(value)
        if said == "Count":
            return _count
        if said in _PLAIN:
            expected = _PLAIN[said]

            def plain(value: Any) -> Any:
                if type(value) not in expected:
                    raise ValueError(f"{value!r} is no {said}")
                return value

            return plain
        records = self._records
        if said in records:
            return lambda value: self._record(records[said], value)
        outer, _, rest = said.partition("[")
        inside = rest[:-1]
        if outer == "dict":
            key, _, each = inside.partition(", ")
            read = self._reader(each)
            word = str if key == "str" else int
            return lambda value: {word(name): read(one) for name, one in value.items()}
        if outer == "tuple" and not inside.endswith(", ..."):
            parts = [self._reader(part) for part in inside.split(", ")]

            def parted(value: Any) -> Any:
                if len(value) != len(parts):
                    raise ValueError(f"{value!r} has not {len(parts)} parts")
                return tuple(read(one) for read, one in zip(parts, value))  # noqa: B905 - Python 3.9

            return parted
        read = self._reader(inside.removesuffix(", ..."))
        make: Callable[[Any], Any] = tuple if outer == "tuple" else list
        if outer not in ("tuple", "list", "Sequence"):
            raise NotImplementedError(f"a field that is {said}")

        def several(value: Any) -> Any:
            if type(value) is not list:
                raise ValueError(f"{value!r} is no list")
            return make(map(read, value))

        return several


def _count(value: Any) -> int:
    """A number that every database and every system call takes."""
    if type(value) is not int or not 0 <= value < _LARGE:
        raise ValueError("a number is out of range, or is none")
    return value
