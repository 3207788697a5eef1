"""What is free on a disk, and what jobs want of it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from headway.model.errors import UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.model.job import Job


def check_disk(name: str, job: Job, directory: str) -> None:
    """Refuses a job that wants more of the disk than is free where it runs."""
    place = Path(directory, job.setting.directory or ".")
    wanted, free = int(job.attributes["request_disk"]), _free_before(str(place))
    if wanted > free:
        what = f"{shown(name)} wants {_text(wanted)} of disk (request_disk), and {_text(free)} are free"
        raise UsageError(f"{what} in {place}.", "Make room, or ask for less.")


def _text(count: int) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 10_000:
            return f"{count} {unit}"
        count //= 1024
    return f"{count:,} TB"


def free_space(place: str) -> int:
    """Bytes that are free in a folder, or in the nearest one above it that is there."""
    path = Path(place)
    while True:
        try:
            found = os.statvfs(path)
        except OSError:
            if path == path.parent:
                raise
            path = path.parent
            continue
        return found.f_bavail * found.f_frsize


_free_before = cache(free_space)  # before a run: the same for all of its jobs
