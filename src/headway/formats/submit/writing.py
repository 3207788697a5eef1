"""A job as the text of a submit description, so that `submitprocess` gives the same job back.

What HTCondor has no command for is kept in custom attributes, which it carries along and ignores.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable

from headway.formats.submit.arguments import classad_literal, quoted_words
from headway.formats.submit.job import SHELL
from headway.formats.submit.macros import BLANK
from headway.model import attributes
from headway.model.errors import ModelError, shown
from headway.model.job import Job
from headway.model.quantities import plain

_PROGRAM = re.compile(r"[\w./+,@%:-]*/[\w./+,@%:-]*", re.ASCII)
_DOLLARS = re.compile(r"\$+(?=\(|[A-Za-z_]+\()")
_RESOURCE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KIB, _MIB = 1024, 1024**2
_LONGEST = 1e15  # seconds that are surely whole as a number of HTCondor
_RESERVED = {"cpus", "memory"}


def description_text(job: Job, name: str) -> str:
    """The lines of a submit description for a job called `name`, without a queue statement."""
    writing = _Writing(job, name)
    writing.command()
    writing.setting()
    writing.resources()
    writing.files()
    writing.extras()
    return "".join(f"{line}\n" for line in writing.lines)


class _Writing:
    """The lines so far, and the pairs that no command can say."""

    def __init__(self, job: Job, name: str) -> None:
        self.job = job
        self.name = name
        self.lines: list[str] = []
        self.pairs: list[tuple[str, str]] = []

    def line(self, command: str, value: str) -> None:
        self.lines.append(f"{command} = {self.literal(value)}")

    def literal(self, text: str) -> str:
        """A text that HTCondor takes as it is: no macros, one line."""
        if "\n" in text or "\0" in text:
            raise self.cannot("it has a line end inside, which a submit description cannot say")
        return _DOLLARS.sub(_without_macro, text)

    def cannot(self, why: str) -> ModelError:
        return ModelError(f"job {shown(self.name)} cannot be written: {why}.", "Put its command into a script file.")

    def command(self) -> None:
        command = self.job.command
        if command is None:
            raise ModelError(f"the command of {shown(self.name)} is not known.", "Its submit file is missing, perhaps.")
        words = _words(command)
        if words and words[:2] != SHELL and self.is_program(words[0]):
            self.line("executable", words[0])
            words = words[1:]
        else:
            self.line("executable", SHELL[0])
            self.line("transfer_executable", "false")
            words = [*SHELL[1:], command]
        if words:
            self.line("arguments", quoted_words(words))

    def is_program(self, word: str) -> bool:
        """Whether HTCondor, which looks for programs where it submits, runs the same one as sh."""
        here = self.job.setting.directory is None
        return bool(_PROGRAM.fullmatch(word)) and (word.startswith("/") or here)

    def setting(self) -> None:
        setting = self.job.setting
        if setting.environment:
            if any(not name or "=" in name or name[0] in BLANK for name, _ in setting.environment):
                raise self.cannot("a variable of its environment has no proper name")
            self.line("environment", quoted_words([f"{name}={value}" for name, value in setting.environment]))
        for command, key, value in (
            ("initialdir", "directory", setting.directory),
            ("input", "stdin", setting.stdin),
            ("output", "stdout", setting.stdout),
            ("error", "stderr", setting.stderr),
        ):
            if value is None:
                continue
            if _sayable(value):
                self.line(command, value)
            else:
                self.pairs.append((key, value))

    def resources(self) -> None:
        needs = self.job.resources
        if needs.cores != 1:
            self.line("request_cpus", str(needs.cores))
        if needs.memory is not None:
            whole = needs.memory % _MIB == 0
            self.line("request_memory", str(needs.memory // _MIB) if whole else f"{-(-needs.memory // _KIB)}K")
            if needs.memory % _KIB:
                self.pairs.append(("memory", str(needs.memory)))
        if needs.time is not None:
            if needs.time < _LONGEST:
                self.line("allowed_execute_duration", str(math.ceil(needs.time)))
            if needs.time >= _LONGEST or needs.time != math.ceil(needs.time):
                self.pairs.append(("time", plain(needs.time)))
        names = [name.lower() for name, _ in needs.named]
        if all(map(_RESOURCE.fullmatch, names)) and len({*names, *_RESERVED}) == len(names) + len(_RESERVED):
            for name, count in needs.named:
                self.line(f"request_{name}", str(count))
        else:
            self.pairs += [(attributes.RESOURCE + name, str(count)) for name, count in needs.named]

    def files(self) -> None:
        for command, key, names in (
            ("transfer_input_files", "inputs", self.job.inputs),
            ("transfer_output_files", "outputs", self.job.outputs),
        ):
            said = [name for name in names if _sayable(name) and "," not in name]
            if said:
                self.line(command, ", ".join(said))
            if len(said) != len(names):
                self.pairs.append((key, shlex.join(names)))

    def extras(self) -> None:
        if self.job.seconds is not None:
            self.line("+HeadwaySeconds", plain(self.job.seconds))
        self.pairs += self.job.attributes.items()
        for key, _ in self.pairs:
            if "=" in key or " " in key or not key.isprintable():
                raise self.cannot(f"{shown(key)} is no name for an attribute")
        if self.pairs:
            self.line(
                "+HeadwayAttributes", classad_literal(_shell_words(f"{key}={value}" for key, value in self.pairs))
            )


def _without_macro(match: re.Match[str]) -> str:
    """Dollars that HTCondor leaves alone: in pairs, since it takes two macros of one dollar for a third."""
    pairs, one = divmod(len(match[0]), 2)
    return "$$(DOLLARDOLLAR)" * pairs + "$(DOLLAR)" * one


def _words(command: str) -> list[str]:
    """The words of a command that is nothing but a program and its arguments; none if sh has more to do."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return words if shlex.join(words) == command else []


def _sayable(value: str) -> bool:
    """Whether a line of a submit description can end in this value."""
    return value != "" and value.strip() == value and not value.endswith("\\")


def _shell_words(words: Iterable[str]) -> str:
    """Words quoted as in sh, and so that no backslash stands before a double quote."""
    return " ".join(shlex.quote(word).replace('\\"', "\\''\"") for word in words)
