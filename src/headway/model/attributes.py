"""What is known of a job as key=value pairs: the one text form that flat scripts, Makefiles and DAGMan share.

The keys below are fields of Job; every other key is the user's own. One that could be mistaken for a field is written
with `own.` before it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping

from headway.model import quantities
from headway.model.errors import ModelError, shown, unquoted
from headway.model.job import HERE, NO_ATTRIBUTES, ORDINARY, PLAIN, Job, Rules
from headway.model.messages import NODES
from headway.model.quantities import plain
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENVIRONMENT = "env."
RESOURCE = "resource."
OWN = "own."  # before a key that is the user's own, whatever it looks like


def _whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ValueError("a whole number") from None
    if not 0 <= value < 2**31:
        raise ValueError("a whole number from 0 to 2147483647")
    return value


def _cores(text: str) -> int:
    value = _whole(text)
    if value == 0:
        raise ValueError("at least 1")
    return value


def factor(text: str) -> float:
    """By what something grows; ValueError says what was expected."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a factor such as 1.5 or 2") from None
    if not 1.0 <= value <= 1000.0:
        raise ValueError("a factor from 1 to 1000")
    return value


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("words, quoted as in sh") from None


def _yes_no(text: str) -> str:
    if text not in ("yes", "no"):
        raise ValueError('"yes" or "no"')
    return text


def _switch(name: str) -> Callable[[Job, str], None]:
    def setter(job: Job, value: str) -> None:
        job.attributes = {**job.attributes, name: _yes_no(value)}

    return setter


def _set(name: str, read: Callable[[str], Any]) -> Callable[[Job, str], None]:
    def setter(job: Job, value: str) -> None:
        setattr(job, name, read(value))

    return setter


def _replace(part: str, name: str, read: Callable[[str], Any]) -> Callable[[Job, str], None]:
    def setter(job: Job, value: str) -> None:
        setattr(job, part, replace(getattr(job, part), **{name: read(value)}))

    return setter


_KEYS: dict[str, Callable[[Job, str], None]] = {
    "seconds": _set("seconds", quantities.seconds),
    "inputs": _set("inputs", _words),
    "outputs": _set("outputs", _words),
    "cores": _replace("resources", "cores", _cores),
    "nodes": _replace("resources", "nodes", _cores),
    "memory": _replace("resources", "memory", quantities.size),
    "time": _replace("resources", "time", quantities.seconds),
    "retries": _replace("rules", "retries", _whole),
    "backoff": _replace("rules", "back_off", quantities.seconds),
    "more_memory": _replace("rules", "more_memory", factor),
    "directory": _replace("setting", "directory", str),
    "stdin": _replace("setting", "stdin", str),
    "stdout": _replace("setting", "stdout", str),
    "stderr": _replace("setting", "stderr", str),
    "release": _switch("release"),
    "affinity": _switch("affinity"),
    "precious": _switch("precious"),
}
KEYS = frozenset(_KEYS)
PREFIXES = (ENVIRONMENT, RESOURCE, OWN)


def apply(job: Job, key: str, value: str) -> None:
    """Sets what a pair says; ModelError where the value does not fit."""
    if key in ("", ENVIRONMENT, RESOURCE) or "=" in key or " " in key or not key.isprintable():
        raise ModelError(f"{shown(key)} is no attribute name.", "Use key=value with a key without spaces.")
    if key == RESOURCE + NODES:
        raise ModelError(f"{NODES} is no named resource.", f"Say {NODES}=N: hosts that the job runs on at once.")
    try:
        setter = _KEYS.get(key)
        if setter is not None:
            setter(job, value)
        elif key.startswith(ENVIRONMENT):
            name = key[len(ENVIRONMENT) :]
            kept = tuple(pair for pair in job.setting.environment if pair[0] != name)
            job.setting = replace(job.setting, environment=(*kept, (name, value)))
        elif key.startswith(RESOURCE):
            name = key[len(RESOURCE) :]
            others = tuple(pair for pair in job.resources.named if pair[0] != name)
            job.resources = replace(job.resources, named=(*others, (name, _whole(value))))
        else:
            job.attributes = {**job.attributes, key.removeprefix(OWN) or key: value}
    except ValueError as expected:
        raise ModelError(f"attribute {unquoted(key)}={shown(value)} does not fit.", f"Expected {expected}.") from None


def from_pairs(command: str | None, pairs: Iterable[tuple[str, str]]) -> Job:
    """The job that `pairs` describe."""
    job = Job(command)
    for key, value in pairs:
        apply(job, key, value)
    return job


def pairs_of(job: Job) -> list[tuple[str, str]]:
    """What is known of a job, so that `from_pairs` gives it back; not its rules other than retries."""
    found: list[tuple[str, str]] = []
    if job.seconds is not None:
        found.append(("seconds", plain(job.seconds)))
    if job.resources is not ORDINARY:
        found += _resource_pairs(job)
    if job.rules is not PLAIN:
        found += _retry_pairs(job.rules)
    if job.inputs:
        found.append(("inputs", shlex.join(job.inputs)))
    if job.outputs:
        found.append(("outputs", shlex.join(job.outputs)))
    if job.setting is not HERE:
        found += [
            (key, value)
            for key in ("directory", "stdin", "stdout", "stderr")
            if (value := getattr(job.setting, key)) is not None
        ]
        found += [(ENVIRONMENT + key, value) for key, value in job.setting.environment]
    if job.attributes is not NO_ATTRIBUTES:
        found += [(_own(key), value) for key, value in job.attributes.items()]
    return found


def _own(key: str) -> str:
    """A user's key, so that it is read back as one."""
    if key in ("release", "affinity", "precious"):
        return key
    if key.startswith(PREFIXES) or key in _KEYS:
        return f"{OWN}{key}"
    from headway.model.near_misses import meant

    return f"{OWN}{key}" if meant(key) is not None else key


def _retry_pairs(rules: Rules) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if rules.retries:
        found.append(("retries", str(rules.retries)))
    if rules.back_off:
        found.append(("backoff", plain(rules.back_off)))
    if rules.more_memory != 1.0:
        found.append(("more_memory", plain(rules.more_memory)))
    return found


def _resource_pairs(job: Job) -> list[tuple[str, str]]:
    needs = job.resources
    found: list[tuple[str, str]] = []
    if needs.cores != 1:
        found.append(("cores", str(needs.cores)))
    if needs.nodes != 1:
        found.append((NODES, str(needs.nodes)))
    if needs.memory is not None:
        found.append(("memory", str(needs.memory)))
    if needs.time is not None:
        found.append(("time", plain(needs.time)))
    found += [(RESOURCE + name, str(count)) for name, count in needs.named]
    return found


_MAPPINGS = {"environment": ENVIRONMENT, "resources": RESOURCE, "attributes": OWN}


def from_options(command: str, options: Mapping[str, object]) -> Job:
    """A job from the keyword arguments of the Python API: numbers, lists and mappings instead of text."""
    if not isinstance(command, str):
        raise _wrong_type("a command", command, "one command line, as text")
    job = Job(command)
    for key, value in options.items():
        prefix = _MAPPINGS.get(key)
        if prefix is None and key not in _KEYS:
            raise _no_option(key)
        if value is None:
            continue
        if prefix is None:
            apply(job, key, _text(key, value))
            continue
        if not isinstance(value, Mapping):
            raise _wrong_type(key, value, "a mapping")
        for name, content in value.items():
            if not isinstance(name, str):
                raise _wrong_type(f"a name in {key}", name, "text")
            if content is not None and prefix == OWN:
                _check_own(name)
                own = OWN + name.removeprefix(OWN)
                apply(job, own, _text(own, content))
            elif content is not None:
                apply(job, prefix + name, str(content) if isinstance(content, bool) else _text(key, content))
    return job


def _check_own(name: str) -> None:
    """Refuses an attribute of one's own that is an option of a job, or nearly one."""
    own = _own(name)
    if name.startswith(OWN) or (own == name and name not in _KEYS):
        return
    from headway.model.near_misses import meant

    like = _option(meant(name) or name)
    otherwise = f', or attributes={{"{unquoted(own)}": …}} if it is an attribute of your own' if own != name else ""
    raise ModelError(f"{shown(name)} in attributes may mean the option {like}.", f"Say {like}{otherwise}.")


def _option(key: str) -> str:
    """How Python says what a pair of this key says."""
    for name, prefix in _MAPPINGS.items():
        if key.startswith(prefix):
            return f'{name}={{"{unquoted(key.removeprefix(prefix))}": …}}'
    return f"{unquoted(key)}=…"


def _no_option(key: str) -> ModelError:
    """An option that nobody knows: most often one of ours under another name."""
    from difflib import get_close_matches

    from headway.model.near_misses import meant

    like = meant(key) or next(iter(get_close_matches(key, [*_KEYS, *_MAPPINGS, "after"], 1, 0.7)), None)
    for name, prefix in _MAPPINGS.items():
        if like is not None and (like == name or like.startswith(prefix)):
            like = f"{name}={{…}}"
    hint = f"Did you mean {like}? " if like else ""
    own = f'Attributes of your own go into attributes={{"{unquoted(_own(key))}": …}}.'
    return ModelError(f"a job has no option {unquoted(key)}.", hint + own)


def _text(key: str, value: object) -> str:
    """An option as the text of a pair; lists become words as sh quotes them."""
    if isinstance(value, str):
        return value
    several = key in ("inputs", "outputs")
    if several and isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return shlex.join([_word(key, word) for word in value])
    if key not in _KEYS and key not in _MAPPINGS and isinstance(value, list | tuple):
        return shlex.join([_word(key, word) for word in value])
    word = _word(key, value)
    return shlex.quote(word) if several else word


def _word(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return plain(value)
    if hasattr(value, "__index__") or hasattr(value, "__float__"):  # NumPy's numbers too
        try:
            return str(value)
        except ValueError:  # over 4,300 digits
            raise ModelError(f"{unquoted(key)} is a huge number.", "Expected a smaller one.") from None
    path = value.__fspath__() if hasattr(value, "__fspath__") else None
    if not isinstance(path, str):
        raise _wrong_type(key, value, "text or a number")
    return path


def _wrong_type(key: str, value: object, expected: str) -> ModelError:
    return ModelError(f"{unquoted(key)} is of type {type(value).__name__}.", f"Expected {expected}.")
