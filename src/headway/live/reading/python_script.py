"""A user's Python script, run in a child process that sends back one JSON value: its answer, or its error."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import headway
from headway.live.reading.child import run
from headway.live.reading.files import Files
from headway.live.reading.streams import folder
from headway.model.errors import InputError, shown

# Headway is imported from where it is imported here; -P and the last line keep its folder out of the script's way.
_START = """\
import sys
root = sys.argv.pop(1)
sys.path.insert(0, root)
from importlib import import_module
main = import_module(sys.argv.pop(1)).main
sys.path.remove(root)
sys.path.append(root)
main()
"""


def answer(child: str, path: str, arguments: Sequence[str]) -> str:
    """What the module `child` finds out about a script, as JSON; the script runs in its own folder."""
    root = str(Path(headway.__file__).resolve().parents[1])
    script = os.path.abspath(path)  # noqa: PTH100 - links are not followed
    with tempfile.TemporaryDirectory(prefix="headway-") as aside:
        source, told = Path(aside, "source"), Path(aside, "answer")
        source.write_bytes(Files().text(path).encode("utf-8", "surrogateescape"))
        command = [sys.executable, "-P", "-c", _START, root, child, str(source), str(told), script, *arguments]
        ended = run(path, command, folder(path))
        text = told.read_text() if told.exists() else ""
    if ended.said:
        print(ended.said, end="" if ended.said.endswith("\n") else "\n", file=sys.stderr)
    if not text:
        words = f": {shown(ended.last_words)}" if ended.last_words else ""
        raise InputError(path, 1, f"the script ended without an answer ({ended.how}){words}.", "Let it run to its end.")
    error = json.loads(text).get("error")
    if error is not None:
        raise InputError(path, error["line"], error["what"], error["fix"])
    return text
