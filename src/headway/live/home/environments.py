"""The environment of a run, in a private file beside its store: known wherever its jobs are started on this host.

As the system has it: NAME=VALUE, each followed by a zero byte. The file is its user's alone, no matter who else may
read the store.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from headway.live.home.ownership import check_folder, own_file
from headway.model.messages import WorkflowId

FOLDER = "environments"


def keep(home: Path, workflow: WorkflowId, environment: Mapping[str, str]) -> bool:
    """Writes it down, at no moment half of it. False if there is no room for it just now."""
    folder = home / FOLDER
    aside = folder / f".{workflow}.{os.getpid()}"
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        check_folder(folder)
        handle = own_file(aside, os.O_WRONLY | os.O_CREAT)
        with os.fdopen(handle, "wb") as out:
            out.truncate()
            out.write(b"".join(os.fsencode(f"{name}={value}\0") for name, value in environment.items()))
        aside.replace(folder / str(workflow))
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()
        return False
    return True


def kept(home: Path, workflow: WorkflowId) -> dict[bytes, bytes] | None:
    """The environment of the last run of a workflow; None if there was none here."""
    try:
        handle = own_file(home / FOLDER / str(workflow), os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as text:
        words = [word.partition(b"=") for word in text.read().split(b"\0")]
    return {name: value for name, equals, value in words if name and equals}


def forget(home: Path, workflow: WorkflowId) -> None:
    """Removes it, and what runs that were killed have left of it."""
    for file in (home / FOLDER / str(workflow), *(home / FOLDER).glob(f".{workflow}.*")):
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
