"""Who else may read a store and its logs: nobody, unless its user says so. Nobody else may ever write there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from headway.live.home.ownership import own_folder
from headway.live.store import BESIDE, FILE

_LOGS = "logs"


def share_folder(folder: Path, bits: int) -> None:
    """Lets others read a store and its logs: `bits` are what they may do with folders."""
    handle = own_folder(folder)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o700 | bits)  # the handle itself only names its folder
        with contextlib.suppress(FileExistsError):
            os.mkdir(_LOGS, 0o700, dir_fd=handle)
        for ending in BESIDE:
            with contextlib.suppress(FileNotFoundError):
                os.chmod(f"{FILE}{ending}", file_mode(bits), dir_fd=handle)
        for _, _, files, place in os.fwalk(_LOGS, dir_fd=handle):  # follows no link
            os.fchmod(place, 0o700 | bits)
            for name in files:
                _let_read(name, place, bits)
    finally:
        os.close(handle)


def _let_read(name: str, folder: int, bits: int) -> None:
    with contextlib.suppress(OSError):  # gone meanwhile, or a link
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fchmod(handle, file_mode(bits))
        finally:
            os.close(handle)


def file_mode(bits: int) -> int:
    """The mode of a file in a folder that others may use so."""
    return 0o600 | (bits & 0o044)
