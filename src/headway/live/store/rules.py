"""The rules of a node as the store keeps them: a small JSON object of what is not ordinary."""

from __future__ import annotations

import json

from headway.model.job import PLAIN, Rules, Script, Tolerance
from headway.model.record import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the engine acts on once a job is in the store; the rest is settled when it is submitted.
_KEPT = (
    *("unless_exit", "pre", "post", "pre_skip", "abort_on", "tolerance", "back_off", "more_memory"),
    *("success", "noop", "subdag", "hold"),
)
_NAMES = tuple(name for name in fields(Rules) if name in _KEPT)


def text(rules: Rules) -> str | None:
    """As the store keeps them; None where there is nothing to keep."""
    said: dict[str, Any] = {}
    for name in _NAMES:
        value = getattr(rules, name)
        if value != getattr(PLAIN, name):
            said[name] = _said(value)
    return json.dumps(said) if said else None


def _said(value: object) -> object:
    if isinstance(value, Script):
        return [value.command, value.defer, value.debug, value.directory]
    if isinstance(value, Tolerance):
        return [value.failures, value.percent, value.fail_fast]
    return value


def read(said: str | None) -> Rules:
    """The rules that were kept."""
    if said is None:
        return PLAIN
    values = json.loads(said)
    for name in ("pre", "post", "hold"):
        if name in values:
            command, defer, debug, directory = values[name]
            values[name] = Script(command, defer and tuple(defer), debug and tuple(debug), directory)
    if "tolerance" in values:
        values["tolerance"] = Tolerance(*values["tolerance"])
    if "abort_on" in values:
        values["abort_on"] = tuple(values["abort_on"])
    return Rules(**values)
