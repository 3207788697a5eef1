"""Half-written files: what a job that failed, or was ended, has changed of the outputs it declares is removed.

Where it is not certain that the job has written a file, as after a crash, the file is kept under another name.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.spec import Spec

COARSE = 0.02  # seconds by which the clock of a file system may be behind ours
_NOTED = 63  # outputs of which it is noted whether they were there
Looks = tuple[int, int, int, int]  # inode, time of change in ns, size, mode
_OTHER: Looks = (0, 0, 0, 0)  # of a file that was there, and has been changed


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


def remove_since(paths: Iterable[str], since: float) -> None:
    """Removes files that were changed after a time. Directories and links stay."""
    for path in paths:
        if _is_file(_look(path)) and _changed(path) > since - COARSE:
            _remove(path)


def existed(before: Mapping[str, Looks | None]) -> int:
    """Which of the outputs were there, as bits: all that the next runner must know, if this one dies."""
    return sum((was is not None) << at for at, was in enumerate(before.values()) if at < _NOTED)


def looks_since(
    spec: Spec, directory: str, were_there: int, started: float, ended: float | None
) -> dict[str, Looks | None]:
    """What the outputs of a job looked like before it started, from what the runner noted that has died.

    A file that was changed after the job had ended is as it is: its user has written it.
    """
    found: dict[str, Looks | None] = {}
    for at, path in enumerate(_paths(spec, directory)):
        now, changed = _look(path), _changed(path)
        if now is None:
            found[path] = None
        elif changed <= started - COARSE or (ended is not None and changed > ended + COARSE):
            found[path] = now
        else:
            found[path] = _OTHER if at >= _NOTED or were_there >> at & 1 else None
    return found


def keep_changed(before: Mapping[str, Looks | None]) -> list[str]:
    """Gives files that look otherwise than before another name, if it is not known how their job ended; says so."""
    return [_keep(path) for path, was in before.items() if _is_file(now := _look(path)) and now != was]


def keep_later(spec: Spec, directory: str, since: float, until: float = math.inf) -> list[str]:
    """The same for a job of which only times are known, before its start and after its end."""
    found = [path for path in _paths(spec, directory) if since - COARSE < _changed(path) <= until]
    return [_keep(path) for path in found if _is_file(_look(path))]


def _keep(path: str) -> str:
    from headway.live.placeholder.aside import another_name

    kept = another_name(Path(path), "headway-kept")
    try:
        Path(path).rename(kept)
    except OSError as error:
        return f"{path} may be half-written by a job whose runner died, and cannot be renamed: {error.strerror}."
    return f"{path} may be half-written by a job whose runner died. It is kept as {kept.name}."


def _is_file(look: Looks | None) -> bool:
    return look is not None and stat.S_ISREG(look[3])


def _changed(path: str) -> float:
    """When a file was last changed, by the clock of its file system; whatever its time of change was set to."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return -math.inf
    return max(found.st_mtime, found.st_ctime)


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
