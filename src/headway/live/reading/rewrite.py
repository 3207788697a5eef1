"""Several files replaced as one: each is written aside, and only when all are there do they take their places."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from headway.model.errors import HeadwayError, unquoted


def replace_all(texts: Iterable[tuple[str, bytes]]) -> None:
    """Gives each file its new bytes, in this order; if one cannot have them, all stay as they were."""
    aside: list[tuple[Path, Path]] = []
    replaced: list[tuple[Path, Path]] = []
    name = ""
    try:
        for name, text in texts:
            target = Path(os.path.realpath(name))
            _check_writable(target)
            aside.append((_written_aside(target, text), target))
        for new, target in aside:
            name = str(target)
            kept = _written_aside(target, target.read_bytes())
            replaced.append((kept, target))
            new.replace(target)
    except BaseException as error:
        for kept, target in reversed(replaced):
            with contextlib.suppress(OSError):
                kept.replace(target)
        if isinstance(error, OSError):
            why = error.strerror or str(error)
            raise HeadwayError(f"{unquoted(name)}: cannot be changed: {why}.", "Nothing was changed.") from None
        raise
    finally:
        for path, _ in (*aside, *replaced):
            path.unlink(missing_ok=True)


def _check_writable(target: Path) -> None:
    """Moving another file into its place works for a read-only one too, and is not what its owner wants."""
    if not target.is_file():
        raise OSError(errno.EINVAL, "it is no ordinary file")
    if not (os.access(target, os.W_OK) and target.stat().st_mode & 0o222):
        raise PermissionError(errno.EACCES, "it is read-only")


def _written_aside(target: Path, text: bytes) -> Path:
    """A file beside the target that could be it: with its mode, and its owner if that is allowed."""
    handle, name = tempfile.mkstemp(prefix=".headway-", dir=target.parent)
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
        status = target.stat()
        with contextlib.suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
        path.chmod(status.st_mode & 0o7777)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
