"""Half-written files: what a job that failed, or was ended, has changed of the outputs it declares is removed."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.live.spec import Spec

_COARSE = 0.02  # seconds by which the clock of a file system may be behind ours
Looks = tuple[int, int, int, int]  # inode, time of change in ns, size, mode


def looks(spec: Spec, directory: str) -> dict[str, Looks | None]:
    """What the outputs of a job look like before it starts, by path; None where nothing is."""
    return {path: _look(path) for path in _paths(spec, directory)}


def remove_halves(before: Mapping[str, Looks | None], again: bool) -> None:
    """Removes files that look otherwise than before. Directories, links and what was not touched stay.

    `again`: the job is tried again at once. Then a file that was there before stays, however changed: an earlier job
    of its group may have begun it, and will not do so again.
    """
    for path, was in before.items():
        now = _look(path)
        if now is None or now == was or not stat.S_ISREG(now[3]) or (again and was is not None):
            continue
        _remove(path)


def remove_later(spec: Spec, directory: str, since: float) -> None:
    """The same for a job of which only a time is known that lies before its start: its runner has died."""
    for path in _paths(spec, directory):
        now = _look(path)
        if now is not None and stat.S_ISREG(now[3]) and now[1] > (since - _COARSE) * 1e9:
            _remove(path)


def _paths(spec: Spec, directory: str) -> list[str]:
    place = os.path.join(directory, spec.directory) if spec.directory else directory  # noqa: PTH118
    return [os.path.join(place, name) for name in spec.outputs]  # noqa: PTH118


def _look(path: str) -> Looks | None:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108 - a path of the job's own
    except OSError:
        return  # gone already, or not ours to remove: the job has failed in any case
