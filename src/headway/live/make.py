"""GNU make, asked what it would do: nothing of the recipes runs but what make always runs, lines with +."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headway.formats.makefile.complaint import cycle, failure
from headway.formats.makefile.database import EXPORTED, SUBMAKE
from headway.formats.registry import unpacked_name
from headway.live.files import Files
from headway.model.errors import HeadwayError, InputError

SECONDS = 120  # long enough for any Makefile that asks the shell a few things
_INHERITED = ("MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "MAKELEVEL", "MAKEOVERRIDES", "MAKECMDGOALS")
_OF_SHELLS = frozenset({"PWD", "OLDPWD", "SHLVL", "SHELL", "_"})


def make(path: str, goals: Sequence[str]) -> str:
    """What GNU make says it would do for the goals, and its database."""
    for _ in Files().lines(path):
        pass  # missing, unreadable, binary: that is told here, better than make would
    for goal in goals:
        if "\0" in goal or not goal:
            raise InputError(path, 1, "a goal is empty or no text.", "Name a target of this Makefile.")
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        file = _unpacked(path, folder)
        code, output, complaints = _run(path, [*_question(file), "--", *goals])
        exported = _exported(path, file, output) if not code else ""
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


def _name(path: str) -> str:
    name = Path(path).name
    return f"./{name}" if name.startswith("-") else name


def _unpacked(path: str, folder: str) -> str:
    """The file that make is to read: the user's own unless that is packed."""
    with Path(path).open("rb") as stream:
        packed = stream.read(6).startswith((b"\x1f\x8b", b"\xfd7zXZ\x00"))
    if not packed:
        return _name(path)
    copy = Path(folder) / Path(unpacked_name(path)).name
    copy.write_bytes(Files().text(path).encode("utf-8", "surrogateescape"))
    return str(copy)


def _question(file: str) -> list[str]:
    """The options that make make tell all and do nothing."""
    # -B: all targets count as out of date, or else those that are not would be missing. That holds for Makefiles as
    # well, which make remakes for good even with -n (and deletes if that fails); but not when it thinks that it has
    # done so already, which is what MAKE_RESTARTS says.
    words = ["-f", file, "-n", "-B", "-i", "-p", "-w", "--trace", "--eval=export MAKE_RESTARTS"]
    return [*words, f"MAKE=$(if $@,{SUBMAKE},make)"]


def _exported(path: str, file: str, output: str) -> str:
    """What the Makefile exports to its recipes, which the database does not tell: a recipe of ours is asked."""
    if not _mentions_export(path, file, output):
        return ""
    target = ".headway-environment"
    words = ["-f", file, "-s", f"--eval={target}: ; @env -0", "SHELL=/bin/sh", ".SHELLFLAGS=-c", "--", target]
    code, answer, _ = _run(path, words)
    if code:
        return ""
    found = dict(pair.partition("=")[::2] for pair in answer.split("\0") if "=" in pair)
    ours = _environment()
    exported = {
        name: value
        for name, value in found.items()
        if ours.get(name) != value and not name.startswith(("MAKE", "MFLAGS", "HEADWAY_")) and name not in _OF_SHELLS
    }
    return f"\n{EXPORTED}{json.dumps(exported)}\n" if exported else ""


def _mentions_export(path: str, file: str, output: str) -> bool:
    """Whether any of the Makefiles has the word; if not, there is nothing to ask."""
    listed = next((line for line in output.split("\n") if line.startswith("MAKEFILE_LIST := ")), "")
    if "HEADWAY_MAKEFILE := 1\n" in output:
        return False
    for name in {file, *listed.removeprefix("MAKEFILE_LIST := ").split()}:
        with contextlib.suppress(OSError):
            if b"export" in (Path(path).parent / name).read_bytes():
                return True
    return False


def _environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    return environment | {"LC_ALL": "C", "MAKE_RESTARTS": "1"}


def _run(path: str, words: Sequence[str]) -> tuple[int, str, str]:
    """Runs make beside the Makefile: its exit status, what it says, and what it complains of."""
    try:
        process = subprocess.Popen(
            ["make", *(os.fsencode(word) for word in words)],
            cwd=Path(path).parent,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise HeadwayError(
            "GNU make is not installed, and Makefiles are read with it.", "Install it: apt install make."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(path, 1, f"make cannot be started: {error}.", "Is this a list of goals?") from None
    try:
        output, complaints = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise InputError(
            path, 1, f"make was not done reading after {SECONDS} s.", "Does $(shell …) or a line with + wait?"
        ) from None
    finally:
        _end(process)
    return process.returncode, _text(output), _text(complaints)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends make and all that it started, if it is still at work."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")
