"""JSON from outside: values of the expected type, or an error with the path and the line of what is wrong."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from headway.model.errors import InputError, shown

Steps = tuple[str | int, ...]  # the way to a value: ("workflow", "tasks", 3, "parents")
T = TypeVar("T")

LARGEST = 1e300  # sums of many numbers below it stay finite
_KINDS: dict[type, str] = {str: "a string", list: "a list", dict: "an object", bool: "true or false"}
_WHITE = re.compile(r"[ \t\r\n]*")
_ESCAPES = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_UNUSABLE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # the rest of the surrogates are bytes that are no UTF-8
_LONG = re.compile(r"\d{4000,}")


class Document:
    """A JSON text and its value. Lines are looked up for errors only: the decoder keeps none."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text.removeprefix("\ufeff")
        self.escapes = _ESCAPES.search(self.text) is not None
        self.root: dict[str, Any] = self._root()

    def _root(self) -> dict[str, Any]:
        try:
            value = json.loads(self.text, parse_constant=self._constant)
        except json.JSONDecodeError as error:
            raise InputError(
                self.path, error.lineno, f"this is no JSON: {_lower(error.msg)} at column {error.colno}.", "Mend it."
            ) from None
        except RecursionError:
            raise InputError(self.path, 1, "this is nested too deeply.", "Is it a workflow?") from None
        except ValueError:  # Python refuses integers of thousands of digits
            long = _LONG.search(self.text)
            line = self._line_at(long.start()) if long else 1
            raise InputError(self.path, line, "a number is too long.", "Expected at most 300 digits.") from None
        if not isinstance(value, dict):
            raise self.wrong((), f"expected an object, found {kind_of(value)}.", "A workflow in JSON begins with {.")
        return value

    def _constant(self, name: str) -> float:
        found = re.search(rf"(?<![\w\"]){name}\b", self.text)
        line = self._line_at(found.start()) if found else 1
        raise InputError(self.path, line, f"{name} is no number in JSON.", "Write a finite number.")

    # --- values ------------------------------------------------------------------------------------------------

    def get(self, owner: dict[str, Any], steps: Steps, kind: type[T], default: T | None = None) -> T:
        """What `owner` has under the last step; an error where it is missing without a default, or another kind."""
        value = owner.get(str(steps[-1]))
        if value is None:
            if default is None:
                raise self.wrong(steps[:-1], f"{spelled(steps)} is missing.", f"Expected {_KINDS[kind]} there.")
            return default
        if type(value) is not kind:
            raise self.unexpected(steps, value, _KINDS[kind])
        if kind is str and self.escapes:
            self.check(str(value), steps)
        return value

    def strings(self, owner: dict[str, Any], steps: Steps) -> list[str]:
        """A list of strings; empty where there is none."""
        found: list[Any] = self.get(owner, steps, list, [])
        for at, value in enumerate(found):
            if type(value) is not str:
                raise self.unexpected((*steps, at), value, "a string")
            if self.escapes:
                self.check(value, (*steps, at))
        return found

    def objects(self, owner: dict[str, Any], steps: Steps) -> list[dict[str, Any]]:
        """A list of objects; empty where there is none."""
        found: list[Any] = self.get(owner, steps, list, [])
        for at, value in enumerate(found):
            if type(value) is not dict:
                raise self.unexpected((*steps, at), value, "an object")
        return found

    def number(self, owner: dict[str, Any], steps: Steps, negative: bool = False) -> int | float | None:
        """A finite number, not negative unless it may be; None where there is none."""
        value = owner.get(str(steps[-1]))
        if value is None:
            return None
        if type(value) is not int and type(value) is not float:
            raise self.unexpected(steps, value, "a number")
        if not (-LARGEST if negative else 0) <= value <= LARGEST:
            fix = "Expected a finite number." if negative else "Expected a finite number, 0 or more."
            raise self.wrong(steps, f"{spelled(steps)} is {_brief(value)}.", fix)
        return value

    def check(self, value: str, steps: Steps) -> None:
        """Refuses characters that no name and no command can hold."""
        bad = _UNUSABLE.search(value)
        if bad is not None:
            raise self.wrong(
                steps, f"{spelled(steps)} holds the character \\u{ord(bad[0]):04x}.", "It stands for no text."
            )

    # --- errors ------------------------------------------------------------------------------------------------

    def unexpected(self, steps: Steps, value: object, wanted: str) -> InputError:
        return self.wrong(steps, f"{spelled(steps)} is {kind_of(value)}.", f"Expected {wanted}.")

    def wrong(self, steps: Steps, what: str, fix: str) -> InputError:
        """An error at the line where the value at the end of `steps` begins."""
        return InputError(self.path, self.line_of(steps), what, fix)

    def line_of(self, steps: Steps) -> int:
        """The line of a value; of what holds it, where it is not there."""
        at = _past_white(self.text, 0)
        decoder = json.JSONDecoder()
        for step in steps:
            inner = _member(self.text, at, step, decoder)
            if inner is None:
                break
            at = inner
        return self._line_at(at)

    def _line_at(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1


def _member(text: str, at: int, step: str | int, decoder: json.JSONDecoder) -> int | None:
    """Where a member of the object or list at `at` begins. The text has been decoded once: it is valid."""
    if text[at : at + 1] != ("[" if isinstance(step, int) else "{"):
        return None
    found, number = None, 0
    at = _past_white(text, at + 1)
    while text[at : at + 1] not in ("]", "}", ""):
        name: str | int = number
        if isinstance(step, str):
            name, at = json.decoder.scanstring(text, at + 1)  # type: ignore[attr-defined]
            at = _past_white(text, _past_white(text, at) + 1)
        if name == step:
            found = at
            if isinstance(step, int):
                return found
        _, at = decoder.raw_decode(text, at)
        at = _past_white(text, at)
        if text[at : at + 1] == ",":
            at = _past_white(text, at + 1)
        number += 1
    return found


def _past_white(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return match.end() if match else at


def spelled(steps: Steps) -> str:
    """A path as people write it: workflow.tasks[3].parents."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def kind_of(value: object) -> str:
    """What a value is, in JSON's words, with the value where it is short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {_brief(value)}"
    if isinstance(value, str):
        return f"the string {shown(value)}"
    return "a list" if isinstance(value, list) else "an object"


def _brief(value: int | float) -> str:
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a very large number" if value > 0 else "a very small number"
    return str(value)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".").removesuffix(" at")
