"""headway.toml: what holds where neither an option nor the environment says anything, and the sites.

The nearest one in this folder or above, then the user's own; a key of the nearer file wins. It can name programs to
run on other hosts, so a file that another user could have written is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import cache

from headway.model.errors import InputError, shown
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "headway.toml"
SITES = "sites"
LONGEST_NAME = 64  # bytes of a site's name: names of folders have it, between others
_TEXT, _NUMBER, _LIST, _SWITCH = "a text in quotes", "a whole number", "a list of texts", "true or false"
_TIME = "a duration in quotes, such as 2h 30m"
# Of the whole file: what each key must be. Most are options of headway run, by the same names.
KEYS = {
    "store": _TEXT,
    "slots": _NUMBER,
    "order": _TEXT,
    "memory": _TEXT,
    "resource": _LIST,
    "site": _LIST,
    "export": _LIST,
    "share": _TEXT,
    "sync": _TEXT,
    "retries": _NUMBER,
    "backoff": _TEXT,
}
_WORDS = ("options", "ssh_options")
# Of a site.
SITE_KEYS = {
    "host": _TEXT,
    "slots": _NUMBER,
    "shared": _SWITCH,
    "directory": _TEXT,
    "stage": _LIST,
    "python": _TEXT,
    "ssh_options": _LIST,
    "queue": _TEXT,
    "allocations": _NUMBER,
    "cores": _NUMBER,
    "time": _TIME,
    "job_time": _TIME,
    "idle": _TIME,
    "look": _TIME,
    "options": _LIST,
    "address": _TEXT,
}


@record
class Known:
    """A value, and where it is from: FILE:LINE."""

    value: Any
    place: str


@record
class Settings:
    """What the files say, checked."""

    values: Mapping[str, Known]
    sites: Mapping[str, Mapping[str, Known]]


def files(folder: str) -> Iterator[str]:
    """The files that have a say in a folder, the nearest first. Every run looks for them: nothing is imported."""
    while True:
        path = f"{folder.rstrip('/')}/{NAME}"
        if os.path.exists(path):  # noqa: PTH110
            yield path
            break
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            break
        folder = above
    own = f"{os.environ.get('XDG_CONFIG_HOME') or os.path.expanduser('~/.config')}/headway/{NAME}"  # noqa: PTH111
    if os.path.exists(own):  # noqa: PTH110
        yield own


def settings() -> Settings:
    """What holds in the current folder."""
    return _settings(os.getcwd())  # noqa: PTH109


@cache
def _settings(folder: str) -> Settings:
    values: dict[str, Known] = {}
    sites: dict[str, Mapping[str, Known]] = {}
    for path in files(folder):
        own, places = _read(path)
        values = {**own, **values}
        sites = {**places, **sites}
    return Settings(values, sites)


def _read(path: str) -> tuple[dict[str, Known], dict[str, Mapping[str, Known]]]:
    import tomllib

    text = _text(path)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).rpartition(" (at ")
        line = place.partition("line ")[2].partition(",")[0]
        number = int(line) if line.isdigit() else text.count("\n") + 1
        fix = 'A text stands in quotes: host = "lab7".' if what.startswith("Invalid value") else ""
        raise InputError(path, number, f"this is no TOML: {what or error}.", fix) from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        raise InputError(path, 1, f"this file cannot be read: {why}.") from None
    lines = text.splitlines()
    sites = found.pop(SITES, {})
    if not isinstance(sites, dict):
        raise InputError(
            path, line_of(lines, "", SITES), "sites are tables.", "Write [sites.NAME], and its keys below."
        )
    for name, table in found.items():
        _check_no_site(path, lines, name, table)
    values = checked(path, lines, "", found, KEYS)
    if "store" in values and "://" not in values["store"].value:
        folder = os.path.dirname(path)  # noqa: PTH120
        values["store"] = Known(os.path.join(folder, values["store"].value), values["store"].place)  # noqa: PTH118
    if not sites:
        return values, {}
    from headway.live.home.site_settings import checked_site

    return values, {name: checked_site(path, lines, name, table) for name, table in sites.items()}


def _check_no_site(path: str, lines: list[str], name: str, table: object) -> None:
    """Refuses a site that is not written below `sites`, as it is easily done."""
    if isinstance(table, dict):
        inner = [f"{name}.{one}" for one, more in table.items() if isinstance(more, dict)]
        meant = name if not inner else inner[0].partition(".")[2]
        head = inner[0] if inner else name
        raise InputError(
            path, line_of(lines, head, ""), f"there is no table [{head}].", f"A site is [{SITES}.{meant}]."
        )


def _text(path: str) -> str:
    """A file that nobody else can have written."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait for somebody to write
    except OSError as error:
        raise InputError(path, 1, f"this file cannot be read: {error.strerror}.", "Correct it, or remove it.") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise InputError(path, 1, "this is no file.", f"Give it another name: {NAME} is read as settings.")
    with open(handle, "rb") as file:  # noqa: PTH123
        if about.st_uid not in (os.geteuid(), 0):
            from headway.live.home.ownership import owner

            what = f"this file belongs to {owner(about.st_uid)}, and may name programs to run."
            raise InputError(path, 1, what, f"Make a copy of it that is yours: cp {NAME} mine && mv mine {NAME}.")
        if about.st_mode & stat.S_IWOTH:
            raise InputError(path, 1, "anybody can write to this file.", f"Take that away: chmod o-w {NAME}.")
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(path, 1, "this is not text in UTF-8.") from None


def _is_duration(text: str) -> bool:
    from headway.model.quantities import seconds

    try:
        return seconds(text) > 0
    except ValueError:
        return False


def checked(
    path: str, lines: list[str], section: str, table: Mapping[str, object], keys: Mapping[str, str]
) -> dict[str, Known]:
    """The values of a table, each of which must be what `keys` says."""
    found: dict[str, Known] = {}
    for key, value in table.items():
        line = line_of(lines, section, key)
        if key not in keys:
            raise InputError(path, line, f"there is no setting {shown(key)}.", _like(key, keys))
        wanted = keys[key]
        if wanted == _LIST and isinstance(value, str):
            if key in _WORDS and len(value.split()) > 1:
                words = ", ".join(f'"{word}"' for word in value.replace('"', "'").split())
                raise InputError(path, line, f"{key} are words of their own.", f"Write {key} = [{words}].")
            value = [value]  # one needs no brackets
        is_right = {
            _TEXT: isinstance(value, str) and bool(value) and value.isprintable(),
            _NUMBER: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9,
            _LIST: isinstance(value, list) and all(isinstance(one, str) and one for one in value),
            _SWITCH: isinstance(value, bool),
            _TIME: isinstance(value, str) and _is_duration(value),
        }[wanted]
        if not is_right and not (key == "retries" and value == 0):
            raise InputError(path, line, f"{key} must be {wanted}.", "" if wanted != _NUMBER else "At least 1.")
        found[key] = Known(value, f"{path}:{line}")
    return found


def _like(key: str, keys: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(key, keys, 1)
    return f"Did you mean {close[0]}?" if close else f"Known here: {', '.join(sorted(keys))}."


def line_of(lines: list[str], section: str, key: str) -> int:
    """The line of a key, or of a section's head; the first where it cannot be told."""
    inside = not section
    best = 1
    for number, line in enumerate(lines, 1):
        words = line.strip().replace('"', "").replace(" ", "")
        if words.startswith("["):
            inside = words.partition("]")[0] == f"[{section}"
            if inside:
                best = number
                if not key:
                    return number
        elif inside and words.startswith(f"{key}=") and key:
            return number
    return best
