"""Trials that are kept as they are done, so that an evaluation that was interrupted goes on."""

from __future__ import annotations

import fcntl
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from headway.model.errors import HeadwayError
from headway.model.record import fields
from headway.sim.trials import Trial

COLUMNS = tuple(fields(Trial))
REVISION = 2  # to be raised when a method, an estimate or the simulator changes what a trial measures
MADE = f"{REVISION}-{sha256(','.join(COLUMNS).encode()).hexdigest()[:8]}"
Rows = list[list[float]]  # a row for each start


class Kept:
    """A file of JSON lines, {"key": …, "made": …, "rows": …}; the last line of a key holds.

    A line that was cut short, or that another revision made, is as if it were not there: its trials are done again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: dict[str, Rows] = {}
        try:
            text = path.read_text(errors="replace") if path.exists() else ""
        except OSError as error:
            raise HeadwayError(f"{path}: cannot be read: {error.strerror}.", "Choose another place with -o.") from None
        for line in text.splitlines():
            found = _read(line)
            if found is not None:
                self.rows[found[0]] = found[1]
        self._torn = bool(text) and not text.endswith("\n")

    def keep(self, key: str, rows: Rows) -> None:
        self.rows[key] = rows
        try:
            with self._path.open("a") as out:
                out.write("\n" * self._torn + json.dumps({"key": key, "made": MADE, "rows": rows}) + "\n")
        except OSError as error:
            raise HeadwayError(f"{self._path}: cannot be written: {error.strerror}.") from None
        self._torn = False


def _read(line: str) -> tuple[str, Rows] | None:
    """A line's key and rows, if it is one of ours."""
    try:
        found = json.loads(line)
        key, made, rows = found["key"], found["made"], found["rows"]
        known = [[float(value) for value in row] for row in rows]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    whole = all(len(row) == len(COLUMNS) and all(map(math.isfinite, row)) for row in known)
    return (key, known) if made == MADE and isinstance(key, str) and whole else None


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else adds trials to a folder meanwhile: their lines could end up in each other."""
    try:
        held = (folder / "lock").open("a")
    except OSError as error:
        raise HeadwayError(f"{folder}: cannot be written: {error.strerror}.", "Choose another place with -o.") from None
    with held:
        try:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unlike flock, not held by children that survive
        except OSError:
            raise HeadwayError(
                f"{folder}: another process is adding trials.", "Wait for it, or choose another place with -o."
            ) from None
        yield
