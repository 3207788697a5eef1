"""A file to a Workflow, and back: the door to all formats."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
from collections.abc import Iterator
from pathlib import Path

from headway.formats import registry
from headway.formats.world import Rendering
from headway.live.reading import streams
from headway.live.reading.files import Files
from headway.model.errors import HeadwayError, InputError, ModelError
from headway.model.record import replace
from headway.model.workflow import Workflow


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Building a million objects that all stay alive, the cycle collector only looks at them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def read(path: str | os.PathLike[str], *arguments: str, format: str | None = None) -> Workflow:
    """Reads a workflow in any format, - being standard input; the arguments go to a script, or are make's goals."""
    files, name = Files(), os.fspath(path)
    if name == "-":
        name = streams.STDIN
    with no_collection():
        try:
            chosen = registry.named(format) if format else registry.detect(name, files.head(name))
            return chosen.parse(name, files, arguments)
        except (RecursionError, MemoryError):
            raise InputError(
                name, 1, "this is nested too deeply, or too large, to be read.", "Is it a workflow?"
            ) from None
        finally:
            streams.forget()


def render(workflow: Workflow, format: str) -> Rendering:
    """A workflow as text in another format; what its submit files made of it may need a warning."""
    chosen, known = registry.named(format), len(workflow.warnings)
    if chosen.needs_commands:
        from headway.formats.submit import resolved

        workflow = resolved(workflow, Files())
    try:
        return replace(chosen.render(workflow), warnings=workflow.warnings[known:])
    except ModelError as error:
        if not workflow.source:
            raise
        raise InputError(workflow.source, 1, error.what, error.fix) from None


def write(workflow: Workflow, path: str | os.PathLike[str], format: str) -> list[str]:
    """Writes a workflow, whole or not at all; what the format cannot say, and any warning, a sentence each."""
    rendering = render(workflow, format)
    write_whole(os.fspath(path), rendering.text)
    return rendering.lost + rendering.warnings


def write_whole(path: str, content: str | bytes, fix: str = "Choose another place with -o.") -> None:
    """Writes aside and moves into place, so that nobody ever sees half a file; what a link leads to is replaced."""
    raw = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():  # /dev/stdout, a pipe: nothing to move into place
            target.write_bytes(raw)
            return
        if target.exists() and not (os.access(target, os.W_OK) and target.stat().st_mode & 0o222):
            raise PermissionError(errno.EACCES, "it is read-only")  # though moving another into its place would work
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        import tempfile  # seldom needed, and not cheap

        handle, aside = tempfile.mkstemp(prefix=".headway-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(raw)
            os.chmod(aside, mode)  # noqa: PTH101
            os.replace(aside, target)  # noqa: PTH105
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise HeadwayError(f"{path}: cannot be written: {error.strerror}.", fix) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
