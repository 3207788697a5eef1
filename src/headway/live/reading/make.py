"""GNU make, asked what it would do: nothing of the recipes runs but what make always runs, lines with +."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headway.formats.makefile.complaint import cycle, failure
from headway.formats.makefile.database import EXPORTED, SUBMAKE
from headway.formats.registry import unpacked_name
from headway.live.reading.child import started
from headway.live.reading.files import Files
from headway.live.reading.streams import STDIN, folder, is_stream
from headway.model.errors import HeadwayError, InputError

SECONDS = 120  # long enough for any Makefile that asks the shell a few things
_INHERITED = ("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAKELEVEL", "MAKEOVERRIDES", "MAKECMDGOALS")
_OWN_EXPORT = re.compile(rb"^[^\s#=][^#=\n]*?:[^=\n]*?\bexport\s+(?!HEADWAY_)(\w+)", re.MULTILINE)
_OF_THEIRS = frozenset({"CURDIR", "GNUMAKEFLAGS", "PWD", "OLDPWD", "SHLVL", "SHELL", "_"})

_KEPT: dict[str, str] = {}  # Makefiles that are no file of their own: a pipe is read only once


def make(path: str, goals: Sequence[str]) -> str:
    """What GNU make says it would do for the goals, and its database."""
    for _ in Files().lines(path):
        pass  # missing, unreadable, binary: that is told here, better than make would
    for goal in goals:
        if "\0" in goal or not goal:
            raise InputError(path, 1, "a goal is empty or no text.", "Name a target of this Makefile.")
    _KEPT.pop(path, None)
    with tempfile.TemporaryDirectory(prefix="headway-") as aside:
        file = _unpacked(path, aside)
        code, output, complaints = _run(path, [*_question(file), "--", *goals], _environment() | {"LC_ALL": "C"})
        exported = _exported(path, file, output, [word for word in goals if "=" in word]) if not code else ""
    if file != _name(path):
        output, complaints = (text.replace(file, _name(path)) for text in (output, complaints))
    dropped = cycle(path, output, complaints)
    if dropped is not None:
        raise dropped
    if code < 0:
        raise InputError(path, 1, f"make was ended by signal {-code}.", "Try make -n yourself.")
    if code or "# GNU Make" not in output:
        raise failure(path, output, complaints)
    return output + exported


def outdated(path: str, goals: Sequence[str], changed: Sequence[str] = (), more: str = "") -> str:
    """What GNU make says it would do now, up to date or not being its own judgement, and its database.

    `changed`: files that it takes for just changed. `more`: rules that overrule those of the Makefile.
    """
    with tempfile.TemporaryDirectory(prefix="headway-") as aside:
        file = _unpacked(path, aside)
        words = [word for word in _question(file) if word != "-B"]
        if more:
            overruling = Path(aside) / "headway-more.mk"
            overruling.write_text(more)
            words += ["-f", str(overruling)]
        words += [part for name in changed for part in ("-W", name)]
        code, output, complaints = _run(path, [*words, "--", *goals], _environment() | {"LC_ALL": "C"})
    if code or "# GNU Make" not in output:
        raise failure(path, output, complaints)
    return output


def _name(path: str) -> str:
    name = Path(path).name
    return f"./{name}" if name.startswith("-") else name


def _unpacked(path: str, aside: str) -> str:
    """The file that make is to read: the user's own unless that is packed, or no file."""
    if not _copied(path):
        return _name(path)
    copy = Path(aside) / Path(unpacked_name(path)).name
    if path not in _KEPT:
        _KEPT[path] = Files().text(path)
    copy.write_bytes(_KEPT[path].encode("utf-8", "surrogateescape"))
    return str(copy)


def _copied(path: str) -> bool:
    if is_stream(path) or path == STDIN:
        return True
    with Path(path).open("rb") as stream:
        return stream.read(6).startswith((b"\x1f\x8b", b"\xfd7zXZ\x00"))


def _question(file: str) -> list[str]:
    """The options that make make tell all and do nothing."""
    # -B: all targets count as out of date, or else those that are not would be missing. That holds for Makefiles as
    # well, which make remakes for good even with -n (and deletes if that fails); but not when it thinks that it has
    # done so already, which is what MAKE_RESTARTS says.
    words = ["-f", file, "-n", "-B", "-i", "-p", "-w", "--trace", "--eval=export MAKE_RESTARTS"]
    return [*words, f"MAKE=$(if $@,{SUBMAKE},make)"]


def _exported(path: str, file: str, output: str, variables: Sequence[str]) -> str:
    """What recipes find in their environment, which the database does not tell: a recipe of ours is asked."""
    texts = _makefiles(path, file, output)
    if "HEADWAY_MAKEFILE := 1\n" in output or not (variables or any(b"export" in text.lower() for text in texts)):
        return ""
    target = ".headway-environment"
    words = ["-f", file, "-s", f"--eval={target}: ; @env -0", "--", *variables, "SHELL=/bin/sh", ".SHELLFLAGS=-c"]
    ours = _environment()
    code, answer, _ = _run(path, [*words, target], ours)
    if code:
        return ""
    found = dict(pair.partition("=")[::2] for pair in answer.split("\0") if "=" in pair)
    exported = {
        name: value
        for name, value in found.items()
        if ours.get(name) != value and not name.startswith(("MAKE", "MFLAGS", "HEADWAY_")) and name not in _OF_THEIRS
    }
    own = sorted({os.fsdecode(name) for text in texts for name in _OWN_EXPORT.findall(text)})
    return f"\n{EXPORTED}{json.dumps([exported, own])}\n" if exported or own else ""


def _makefiles(path: str, file: str, output: str) -> list[bytes]:
    """The texts of all Makefiles that make has read."""
    listed = next((line for line in output.split("\n") if line.startswith("MAKEFILE_LIST := ")), "")
    found = []
    for name in {file, *listed.removeprefix("MAKEFILE_LIST := ").split()}:
        with contextlib.suppress(OSError):
            found.append(Path(folder(path), name).read_bytes())
    return found


def _environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    return environment | {"MAKE_RESTARTS": "1"}


def _run(path: str, words: Sequence[str], environment: dict[str, str]) -> tuple[int, str, str]:
    """Runs make beside the Makefile: its exit status, what it says, and what it complains of."""
    if shutil.which("make") is None:
        raise HeadwayError(
            "GNU make is not installed, and Makefiles are read with it.", "Install it: apt install make."
        )
    pipe, directory = subprocess.PIPE, folder(path)
    with started(path, ["make", *words], directory, environment, stdout=pipe, stderr=pipe) as process:
        try:
            output, complaints = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise InputError(
                path, 1, f"make was not done reading after {SECONDS} s.", "Does $(shell …) or a line with + wait?"
            ) from None
    return process.returncode, _text(output), _text(complaints)


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")
