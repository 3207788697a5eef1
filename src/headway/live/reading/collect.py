"""Runs a shell script with an mqsub that only notes its calls."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headway.formats.flat import line_of
from headway.live.reading.child import Ended, run
from headway.live.reading.files import Files
from headway.live.reading.streams import folder
from headway.model.errors import InputError, shown

CALLS = "HEADWAY_CALLS"  # the folder in which calls are noted

# Each call has a file of its own, since only short writes are sure to stay together when make -j calls many at once.
# The list of these files keeps the order. Like the real one, it prints the group's name.
_MQSUB = r"""#!/bin/sh
set -C
n=0
until { printf '%s\0' "$#" "$@" >"$HEADWAY_CALLS/$$.$n"; } 2>/dev/null; do
    n=$((n + 1))
    if [ "$n" -gt 99 ]; then
        echo "mqsub: cannot write in $HEADWAY_CALLS" >&2
        exit 1
    fi
done
printf '%s\n' "$$.$n" >>"$HEADWAY_CALLS/order"
while [ "$#" -gt 0 ]; do
    case $1 in
    -l) printf '%s\n' "$2"; exit ;;
    -prologue | -epilogue) ;;
    *) [ "$#" -lt 2 ] || shift ;;
    esac
    shift
done
"""
_SHELLS = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}
_COMPLAINT = re.compile(r"^(?P<script>.*?): (?:line )?(?P<line>\d+): (?P<what>.*)$", re.MULTILINE)
_NOT_FOUND = re.compile(r"(?P<name>.*): (?:command )?not found$")


def collect(path: str, arguments: Sequence[str]) -> str:
    """The mqsub calls that a script makes, as a plain flat script. It runs in its own folder."""
    directory = folder(path)
    with tempfile.TemporaryDirectory(prefix="headway-") as aside:
        text = Files().text(path).encode("utf-8", "surrogateescape")
        script, shell = _script(path, text, Path(aside)), _shell(path, text)
        checked = run(path, [shell[0], "-n", script], directory, keep_stdout=False)
        if checked.status:
            raise _failure(path, script, checked, f"{shell[0]} cannot read the script")
        calls, programs = Path(aside, "calls"), Path(aside, "bin")
        calls.mkdir()
        programs.mkdir()
        (programs / "mqsub").write_text(_MQSUB)
        (programs / "mqsub").chmod(0o755)
        search = os.environ.get("PATH", os.defpath)
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{search}", CALLS: str(calls)}
        ended = run(path, [*shell, script, *arguments], directory, environment, keep_stdout=False)
        _check(path, script, ended)
        if ended.said:
            print(ended.said, end="", file=sys.stderr)
        return _noted(calls)


def note(calls: Path, words: Sequence[str]) -> None:
    """What the mqsub above does, for the real one when a script calls that by its path."""
    record = "".join(f"{word}\0" for word in (str(len(words)), *words))
    for number in range(100):
        name = f"{os.getpid()}.{number}"
        try:
            with (calls / name).open("xb") as stream:
                stream.write(os.fsencode(record))
        except FileExistsError:
            continue
        with (calls / "order").open("ab", buffering=0) as stream:
            stream.write(f"{name}\n".encode())
        return
    raise OSError(f"cannot write in {calls}")


def _noted(calls: Path) -> str:
    order = calls / "order"
    names = order.read_text().split() if order.exists() else []
    lines = []
    for name in names:
        words = os.fsdecode((calls / name).read_bytes()).split("\0")
        lines.append(line_of(words[1:-1]) + "\n")
    return "".join(lines)


def _script(path: str, text: bytes, aside: Path) -> str:
    """The script itself, or a copy of what is packed in it."""
    if Path(path).read_bytes() == text:
        return os.path.abspath(path)  # noqa: PTH100
    unpacked = aside / Path(path).name
    unpacked.write_bytes(text)
    return str(unpacked)


def _shell(path: str, text: bytes) -> list[str]:
    """sh, or the shell that the script's first line asks for."""
    first = os.fsdecode(text[:200].split(b"\n", 1)[0]).strip()
    words = first[2:].split() if first.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    if not words:
        return ["sh"]
    name = Path(words[0]).name
    if name not in _SHELLS:
        what = f"its first line asks for {shown(name)}, which is no shell."
        raise InputError(path, 1, what, "Run it by itself with HEADWAY_SUBMISSIONS=FILE set, and give FILE to headway.")
    program = shutil.which(words[0]) or shutil.which(name)
    if program is None:
        raise InputError(path, 1, f"its first line asks for {shown(name)}, which is not installed.", "Install it.")
    return [program, *words[1:]]


def _check(path: str, script: str, ended: Ended) -> None:
    """Raises what the script, or sh on its behalf, complained of."""
    for complaint in _COMPLAINT.finditer(ended.said):
        missing = _NOT_FOUND.fullmatch(complaint["what"])
        if complaint["script"] == script and missing:
            raise InputError(
                path,
                int(complaint["line"][:9]),
                f"there is no command {shown(missing['name'])}.",
                "Correct its name, or install it.",
            )
    if ended.status:
        raise _failure(path, script, ended, "the script fails")


def _failure(path: str, script: str, ended: Ended, what: str) -> InputError:
    line, words = 1, ended.last_words
    for complaint in _COMPLAINT.finditer(ended.said):
        if complaint["script"] == script:
            line, words = int(complaint["line"][:9]), complaint["what"]
    because = f": {shown(words)}" if words else ""
    return InputError(path, line, f"{what} ({ended.how}){because}.", "Run it by itself to see more.")
