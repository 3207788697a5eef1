"""A file of sites (TOML) to a simulated world. Unknown keys and impossible numbers are refused with their line."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from headway.model.errors import InputError, shown
from headway.model.quantities import seconds, size
from headway.model.record import replace
from headway.model.site import Program, Site
from headway.sim.site_work import Transfers
from headway.sim.sites import Load, Place, World

MOST_PROCESSORS = 10**7
MOST_SHOWN = 40  # characters of a wrong value
_TOP = ("planning", "spread", "stored", "transfers", "load", "latency", "sites")
_SITE = (
    *("processors", "up", "programs", "memory", "named", "files"),
    *("load", "latency", "speed", "transfer", "failing", "fails_after"),
)
_LOAD = ("low", "high", "full", "spell")
_EXAMPLE = "Write, for example: [sites.uc] and below it processors = 110."


def parse(text: str, path: str) -> World:
    """The world that a file describes."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise InputError(path, line, f"this is not TOML: {error}.", "docs/sites.md shows a file of sites.") from None
    except (ValueError, RecursionError):  # what Python's reader does not call an error of the file
        raise InputError(
            path, 1, "a number has thousands of digits, or lists are nested too deep.", "docs/sites.md shows one."
        ) from None
    return _Reader(text, path).world(told)


class _Reader:
    """One file."""

    def __init__(self, text: str, path: str) -> None:
        self._lines, self._path = text.splitlines(), path

    def world(self, told: Mapping[str, Any]) -> World:
        self._known((), told, _TOP)
        load = self._load((), told.get("load", {}), Load())
        latency = self._time((), told, "latency", 0.0)
        sites = told.get("sites", {})
        if not isinstance(sites, dict) or not sites:
            self._wrong((), "sites", "there is no site.", _EXAMPLE)
        places = [self._place(name, its, load, latency) for name, its in sites.items()]
        transfers = told.get("transfers", {})
        self._known(("transfers",), transfers, ("seconds", "bandwidth"))
        bandwidth = transfers.get("bandwidth", 0)
        return World(
            tuple(places),
            self._time((), told, "planning", 0.0),
            self._number((), told, "spread", 0.0, lambda it: 0 <= it <= 100, "a share from 0 to 100"),
            Transfers(
                self._time(("transfers",), transfers, "seconds", 0.0),
                float(self._size(("transfers",), "bandwidth", bandwidth)),
            ),
            None if "stored" not in told else self._texts((), told, "stored"),
        )

    def _place(self, name: str, told: object, load: Load, latency: float) -> Place:
        at = ("sites", name)
        if not isinstance(told, dict):
            self._wrong(at, "", f"site {shown(name)} is no table.", _EXAMPLE)
        self._known(at, told, _SITE)
        processors = told.get("processors")
        if type(processors) is not int or not 1 <= processors <= MOST_PROCESSORS:
            what = "tells no number of processors." if processors is None else f"has {_plain(processors)} processors."
            self._wrong(at, "processors", f"site {shown(name)} {what}", "A site has at least one: processors = 8.")
        is_up = told.get("up", True)
        if type(is_up) is not bool:
            self._wrong(at, "up", f"up of site {shown(name)} is {_plain(is_up)}.", "Expected true or false.")
        memory = None if "memory" not in told else self._size(at, "memory", told["memory"])
        named = told.get("named", {})
        if not isinstance(named, dict) or any(type(count) is not int or count < 0 for count in named.values()):
            self._wrong(at, "named", f"named of site {shown(name)} is wrong.", "Expected, for example, { gpu = 2 }.")
        site = Site(
            name,
            processors,
            is_up,
            self._programs(at, told["programs"]) if "programs" in told else None,
            memory,
            tuple(named.items()),
            self._texts(at, told, "files"),
        )
        return Place(
            site,
            self._load(at, told.get("load", {}), load),
            self._time(at, told, "latency", latency),
            self._number(at, told, "speed", 1.0, lambda it: it > 0, "a number above 0"),
            self._number(at, told, "transfer", 1.0, lambda it: it >= 0, "a number, at least 0"),
            self._number(at, told, "failing", 0.0, lambda it: 0 <= it <= 1, "a share from 0 to 1"),
            self._time(at, told, "fails_after", 1.0),
        )

    def _programs(self, at: tuple[str, ...], told: object) -> tuple[Program, ...]:
        if not isinstance(told, dict):
            self._wrong(at, "programs", "programs is no table.", 'Expected, for example, { blast = "/opt/blast" }.')
        found = []
        for name, one in told.items():
            given = {"path": one} if isinstance(one, str) else one
            here = (*at, "programs")
            if not isinstance(given, dict):
                self._wrong(here, name, f"program {shown(name)} is {_plain(one)}.", "Expected a path.")
            self._known((*here, name), given, ("path", "environment"))
            path, around = given.get("path", ""), given.get("environment", {})
            if not isinstance(path, str) or not isinstance(around, dict):
                self._wrong(
                    here, name, f"program {shown(name)} is wrong.", 'Expected { path = "…", environment = {} }.'
                )
            found.append(Program(name, path, tuple((key, str(value)) for key, value in around.items())))
        return tuple(found)

    def _load(self, at: tuple[str, ...], told: object, default: Load) -> Load:
        if not isinstance(told, dict):
            self._wrong(at, "load", "load is no table.", "Expected, for example, { full = 0.1, spell = '30m' }.")
        here = (*at, "load")
        self._known(here, told, _LOAD)
        shares: dict[str, float] = {
            key: self._number(here, told, key, 0.0, lambda it: 0 <= it <= 1, "a share from 0 to 1")
            for key in ("low", "high", "full")
            if key in told
        }
        if "low" in shares and "high" not in shares:
            shares["high"] = max(shares["low"], default.high)
        if "spell" in told:
            shares["spell"] = self._time(here, told, "spell", 0.0)
        load: Load = replace(default, **shares)
        if wrong := load.wrong():
            self._wrong(at, "load", f"this load cannot be: {wrong}.", "Correct it.")
        return load

    # --- values ------------------------------------------------------------------------------------------------------

    def _known(self, at: tuple[str, ...], told: object, keys: tuple[str, ...]) -> None:
        if not isinstance(told, dict):
            self._wrong(at, "", f"{shown('.'.join(at))} is no table.", "docs/sites.md shows a file of sites.")
        for key in told:
            if key not in keys:
                place = f" of {'.'.join(at)}" if at else ""
                self._wrong(at, key, f"unknown key {shown(key)}{place}.", f"There are {', '.join(keys)}.")

    def _time(self, at: tuple[str, ...], told: Mapping[str, Any], key: str, default: float) -> float:
        value = told.get(key, default)
        try:
            found = seconds(value) if isinstance(value, str) else float(value) if _is_number(value) else math.nan
        except (ValueError, OverflowError):  # a whole number may be greater than any other
            found = math.nan
        if not (found >= 0 and (found < math.inf or key not in told)):
            negative = "a time cannot be negative" if _is_number(value) and value < 0 else "that is no time"
            self._wrong(at, key, f"{key} is {_plain(value)}: {negative}.", 'Expected seconds, or "1h 30m".')
        return found

    def _number(
        self,
        at: tuple[str, ...],
        told: Mapping[str, Any],
        key: str,
        default: float,
        fits: Callable[[float], bool],
        expected: str,
    ) -> float:
        value = told.get(key, default)
        try:
            found = float(value) if _is_number(value) else math.nan
        except OverflowError:
            found = math.nan
        if not math.isfinite(found) or not fits(found):
            self._wrong(at, key, f"{key} is {_plain(value)}.", f"Expected {expected}.")
        return found

    def _size(self, at: tuple[str, ...], key: str, value: object) -> int:
        try:
            found = size(str(value)) if isinstance(value, str | int) and type(value) is not bool else -1
        except ValueError:
            found = -1
        if found < 0:
            self._wrong(at, key, f"{key} is {_plain(value)}.", 'Expected bytes, or a size such as "2G".')
        return found

    def _texts(self, at: tuple[str, ...], told: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = told.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self._wrong(at, key, f"{key} is no list of names.", 'Expected, for example, ["genome.fa"].')
        return tuple(value)

    # --- places ------------------------------------------------------------------------------------------------------

    def _wrong(self, at: tuple[str, ...], key: str, what: str, fix: str) -> NoReturn:
        raise InputError(self._path, self._line(at, key), what, fix)

    def _line(self, at: tuple[str, ...], key: str) -> int:
        """The line of a key, as far as a search for it finds it: the TOML reader tells none."""
        start = 0
        for part in at:
            named = rf"""^\s*\[.*["']?{re.escape(part)}["']?\s*[\].]|^\s*["']?{re.escape(part)}["']?\s*[.=]"""
            start = next((no for no in range(start, len(self._lines)) if re.search(named, self._lines[no])), start)
        wanted = rf"""(?:^|[\s{{,.])["']?{re.escape(key)}["']?\s*[.=]|^\s*\[.*\b{re.escape(key)}["']?\s*\]"""
        found = (no for no in range(start, len(self._lines)) if key and re.search(wanted, self._lines[no]))
        return next(found, start) + 1


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return shown(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
