"""Records: classes that consist of their fields, as dataclasses do, but made at almost no cost.

A frozen dataclass with slots takes 0.6 ms to make, and a run waits for some forty of them (docs/decisions/0006). Here a
class is made as it is written; what must be compiled for it is compiled when it is first used. That nobody changes a
frozen record is for mypy to see: it takes both decorators for what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_: object) -> Callable[[object], object]:
        """For type checkers only."""
        return lambda one: one


class _Factory:
    """A default that is made for each record."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A field whose default is made for each record."""
    return _Factory(default_factory)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A class of records that stay as they are: equal, and hashed, by their fields."""
    return _made(cls, frozen=True)


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[T]) -> type[T]:
    """A class of records that change: equal by their fields, and no keys of a mapping."""
    return _made(cls, frozen=False)


def replace(one: T, /, **changes: object) -> T:
    """A copy in which some fields are others."""
    return type(one)(**{**{name: getattr(one, name) for name in fields(one)}, **changes})


def fields(one: object) -> tuple[str, ...]:
    """The names of the fields of a record, or of a class of them."""
    names: tuple[str, ...] = one.__match_args__  # type: ignore[attr-defined]
    return names


def is_record(one: object) -> bool:
    return hasattr(one, "__match_args__")


def asdict(one: object) -> dict[str, Any]:
    """A record as a dictionary, and so the records inside it."""
    return {name: _plain(getattr(one, name)) for name in fields(one)}


def _plain(value: object) -> object:
    if is_record(value):
        return asdict(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _made(cls: type[T], frozen: bool) -> type[T]:
    """The class again, with slots: they can only be given to one that is being made."""
    body = dict(cls.__dict__)
    own = tuple(body.get("__annotations__", ()))
    defaults = getattr(cls, "__defaults__", {}) | {name: body.pop(name) for name in own if name in body}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    names = getattr(cls, "__match_args__", ()) + own  # those of a record that it is a kind of come first
    body["__slots__"], body["__match_args__"], body["__defaults__"] = own, names, defaults
    get = attrgetter(*names)
    body.setdefault("__repr__", _repr)
    if "__eq__" not in body:

        def equal(self: object, other: object) -> bool:
            return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

        body["__eq__"] = equal
    if frozen:
        body.setdefault("__hash__", lambda self: hash(get(self)))

    def begin(self: object, *values: object, **named: object) -> None:
        init = _compiled(new, names, defaults)
        setattr(new, "__init__", init)  # noqa: B010 - a method, which mypy will not have assigned
        init(self, *values, **named)

    body["__init__"] = begin
    new = type.__new__(type(cls), cls.__name__, cls.__bases__, body)
    return new


def _compiled(cls: type, names: tuple[str, ...], defaults: dict[str, object]) -> Callable[..., None]:
    """The `__init__` of a class: its fields in order, by position or by name."""
    known: dict[str, object] = {}
    head, lines = ["self"], list[str]()
    for name in names:
        default = defaults.get(name, known)
        if default is known:
            head.append(name)
        else:
            known[f"__default_{name}"] = default
            head.append(f"{name}=__default_{name}")
        if isinstance(default, _Factory):
            known[f"__make_{name}"] = default.make
            lines.append(f" self.{name} = __make_{name}() if {name} is __default_{name} else {name}")
        else:
            lines.append(f" self.{name} = {name}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(head)}):\n" + "\n".join(lines), known)  # noqa: S102 - the words are our own
    init: Callable[..., None] = known["__init__"]  # type: ignore[assignment]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _repr(self: object) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields(self))})"
