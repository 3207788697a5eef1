"""Corrects the paths in a virtual environment whose folder was moved or copied.

    .venv/bin/python scripts/relocate.py .venv

Its programs name their Python by an absolute path, and Headway is found by the path of its sources.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# As pip writes them: one line, or three where the path has blanks or is too long for the kernel.
_HEADER = re.compile(rb"""#!(?:/bin/sh\n'''exec' "(?P<quoted>[^"\n]+)" "\$0" "\$@"\n' '''|(?P<plain>[^\n]+))\n""")
_LONGEST = 127


def header(python: Path) -> bytes:
    name = bytes(python)
    if b" " in name or len(name) + 2 > _LONGEST:
        return b"#!/bin/sh\n'''exec' \"" + name + b'" "$0" "$@"\n\' \'\'\'\n'
    return b"#!" + name + b"\n"


def relocate(folder: Path) -> None:
    for program in (folder / "bin").iterdir():
        if program.is_symlink() or not program.is_file():
            continue
        content = program.read_bytes()
        found = _HEADER.match(content)
        if found and Path((found["quoted"] or found["plain"]).decode()).parent.name == "bin" and b"/python" in found[0]:
            program.write_bytes(header(folder / "bin" / "python") + content[found.end() :])
    for path in folder.glob("lib/python*/site-packages/*headway*.pth"):
        path.write_text(f"{folder.parent / 'src'}\n")


if __name__ == "__main__":
    relocate(Path(sys.argv[1]).absolute())
