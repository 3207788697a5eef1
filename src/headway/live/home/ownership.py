"""Folders and files that only their user can change, opened without following a link.

In a folder where others may write, such as /tmp, another user can prepare a trap: a store full of their commands, a
link to a file that would be emptied, a socket that listens. So whatever is written to, or talked to, is looked at
through a handle first.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from headway.model.errors import HeadwayError

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe that somebody put there must not make us wait
_ELSEWHERE = "choose another place with --store FOLDER"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def own_folder(path: str | Path) -> int:
    """A handle of a folder that is this user's and that nobody else can write to; refused otherwise."""
    try:
        handle = os.open(path, _FOLDER)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            check(os.lstat(path), path, stat.S_ISDIR)
        raise
    try:
        check(os.fstat(handle), path, stat.S_ISDIR)
    except BaseException:
        os.close(handle)
        raise
    return handle


def own_file(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """A handle of a regular file that is this user's, in such a folder. O_TRUNC is the caller's to do afterwards."""
    place = Path(path)
    folder = own_folder(place.parent)
    try:
        try:
            handle = os.open(place.name, flags | _FILE, mode, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
                check(os.stat(place.name, dir_fd=folder, follow_symlinks=False), path)
            raise
    finally:
        os.close(folder)
    try:
        check(os.fstat(handle), path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def check_folder(path: str | Path) -> None:
    """Refuses a folder that others may have had their hands in; one that is not there is nobody's."""
    try:
        os.close(own_folder(path))
    except FileNotFoundError:
        return


def check_file(path: str | Path) -> None:
    """The same for a file. It is not opened: closing it would drop the locks that SQLite has on it."""
    try:
        check(os.lstat(path), path)
    except FileNotFoundError:
        return


def is_own(path: str | Path) -> bool:
    """Whether a folder, or what a file's name stands for, would not be refused."""
    try:
        found = os.lstat(path)
        check(found, path, stat.S_ISDIR if stat.S_ISDIR(found.st_mode) else stat.S_ISREG)
    except (HeadwayError, OSError):
        return False
    return True


def read_in(folder: str | Path, *names: str) -> int:
    """Opens a file some folders further down for reading, also one of another user; follows no link on the way."""
    at = os.open(folder, _FOLDER)
    try:
        for name in names[:-1]:
            below = os.open(name, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        handle = os.open(names[-1], os.O_RDONLY | _FILE, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", str(Path(folder, *names)))
    return handle


def check(found: os.stat_result, path: str | Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> None:
    """Refuses what is another user's, what others can write to, and what is of another kind than expected."""
    if stat.S_ISLNK(found.st_mode):
        raise HeadwayError(f"{path} is a symbolic link, which is not followed.", f"Remove it, or {_ELSEWHERE}.")
    if found.st_uid != os.geteuid():
        whose = owner(found.st_uid)
        way = f"Run this as {whose}, or" if os.geteuid() == 0 else "Ask for it to be removed, or"
        raise HeadwayError(f"{path} belongs to {whose}, not to {owner(os.geteuid())}.", f"{way} {_ELSEWHERE}.")
    if not is_kind(found.st_mode):
        kind = "folder" if is_kind is stat.S_ISDIR else "regular file"
        raise HeadwayError(f"{path} is no {kind}.", f"Remove it, or {_ELSEWHERE}.")
    if found.st_mode & _OTHERS_WRITE:
        raise HeadwayError(
            f"other users may write to {path}.",
            f"See that all in it is yours, then: chmod -R go-w {path}. Or {_ELSEWHERE}.",
        )


def owner(number: int) -> str:
    """A user's name, or number where there is none."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
