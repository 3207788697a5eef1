"""In the child: runs a user's script and explains what goes wrong in it, at its line.

The answer is written last and at once, so whatever ends the child early leaves none.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
from collections.abc import Callable, Mapping
from types import CodeType, ModuleType, TracebackType
from typing import Any

from headway.live.reading.python2 import idiom, other_idioms
from headway.model.errors import HeadwayError
from headway.model.record import mutable

LONGEST = 300  # characters of an exception's message that are repeated


class ScriptError(Exception):
    """What is wrong with the script, where, and what to do."""

    def __init__(self, line: int, what: str, fix: str) -> None:
        super().__init__(what)
        self.line, self.what, self.fix = line, what, fix


@mutable
class Script:
    """A script that has run, and what it defines."""

    path: str
    source: bytes
    names: Mapping[str, Any]

    def line_of(self, name: str) -> int:
        """Where a function is defined, or a name first begins a line."""
        code = getattr(self.names.get(name), "__code__", None)
        if isinstance(code, CodeType) and code.co_filename == self.path:
            return code.co_firstlineno
        for number, line in enumerate(self.source.split(b"\n"), 1):
            if line.lstrip().startswith(name.encode()):
                return number
        return 1


def tell(name: str, find: Callable[[Script], object]) -> None:
    """Runs the script under a module name, and writes what `find` finds out about it."""
    source_path, told, path, *arguments = sys.argv[1:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120
    with open(source_path, "rb") as stream:  # noqa: PTH123
        source = stream.read()
    try:
        text = json.dumps(find(_loaded(path, source, name)))
    except ScriptError as error:
        text = json.dumps({"error": {"line": error.line, "what": error.what, "fix": error.fix}})
    with open(told, "w", encoding="utf-8") as stream:  # noqa: PTH123
        stream.write(text)


def _loaded(path: str, source: bytes, name: str) -> Script:
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[path] = (len(source), None, lines, path)
    script = Script(path, source, module.__dict__)
    try:
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - what the user asked for
    except SystemExit as error:
        if name != "__main__" or error.code not in (None, 0):
            raise explained(script, error, "the script", 1) from None
    except BaseException as error:
        raise explained(script, error, "the script", 1) from None
    return script


def explained(script: Script, error: BaseException, who: str, line: int) -> ScriptError:
    """An exception as its user should read it; `line` if no line of the script had a part in it."""
    if isinstance(error, ScriptError):
        return error
    line, elsewhere = _place(script.path, error, line)
    kind, message = type(error).__name__, _message(error)
    if isinstance(error, HeadwayError):
        return ScriptError(line, error.what, error.fix)
    if isinstance(error, SystemExit):
        fix = "Its arguments come after its name." if isinstance(error.code, str) else "Let it run to its end."
        return ScriptError(line, f"{who} ends itself: exit({message}).", fix)
    said = f"{kind}: {message}" if message else kind
    text = linecache.getline(script.path, line)
    old = idiom(kind, message, text)
    if old is not None:
        fix = f"Write {old.port}."
        others = other_idioms(script.source, line)
        return ScriptError(line, f"{old.what} is Python 2 ({said}).", f"{fix} {others}".strip())
    if isinstance(error, IndexError) and "argv" in text:
        return ScriptError(line, f"{who} needs more arguments.", "Give them after its name.")
    return ScriptError(line, f"{who} raises {said}{elsewhere}.", "Correct it there.")


def _place(path: str, error: BaseException, line: int) -> tuple[int, str]:
    """The innermost line of the script that had a part in an error, and the place of the error if that is elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1, ""
    innermost: TracebackType | None = None
    trace = error.__traceback__
    while trace is not None:
        innermost = trace
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    file, number = "", 0
    if isinstance(error, SyntaxError):
        file, number = error.filename or "", error.lineno or 1
    elif innermost is not None:
        file, number = innermost.tb_frame.f_code.co_filename, innermost.tb_lineno
    beside = os.path.dirname(path) + os.sep  # noqa: PTH120
    return line, f" ({file.removeprefix(beside)}:{number})" if file.startswith(beside) and file != path else ""


def _message(error: BaseException) -> str:
    """The first line of what an exception says."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        first = text.strip().split("\n", 1)[0]
    except Exception:  # an exception of the user's own may not even be printable
        return ""
    return "".join(c if c.isprintable() else "?" for c in first[:LONGEST]).rstrip(".")
