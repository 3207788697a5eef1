"""One process of a submit description as a Job: which command says what."""

from __future__ import annotations

import math
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping

from headway.formats.submit.arguments import arguments, classad_string, environment
from headway.formats.submit.commands import PLAIN_UNIVERSES, check
from headway.formats.submit.description import Value
from headway.formats.submit.expression import truth, whole_number
from headway.formats.submit.late import EDGE
from headway.model import attributes
from headway.model.errors import InputError, ModelError, shown
from headway.model.job import HERE, ORDINARY, PLAIN, Job, Resources, Rules, Setting
from headway.model.record import replace

Place = tuple[str, int]
SHELL = ["/bin/sh", "-c"]

_IMAGES = ("container_image", "docker_image")
DISK = "request_disk"  # the attribute of a job that is to be run: bytes
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*([KMGT]?)B?", re.IGNORECASE)
_SECONDS = re.compile(r"(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?")
_UNITS = {"k": 1, "m": 1024, "g": 1024**2, "t": 1024**3}  # in KiB
_REQUEST = "request_"
_DEFAULT_RETRIES = 2  # HTCondor's DEFAULT_JOB_MAX_RETRIES, if only retry_until or success_exit_code is there
_OWN_REQUESTS = {"request_cpus", "request_memory"}


def job_of(
    table: Mapping[str, Value],
    expanded: Callable[[Value], str],
    directory: str | None,
    warn: Callable[[Value, str], None],
    place: Place,
    runs: bool = False,
) -> Job:
    """The job that a table of commands describes; errors name the command's line, `place` where there is none.

    `runs`: it is to be run here, so what would not be honoured is refused.
    """
    if runs:
        check(table, expanded, warn)
    reading = _Reading(table, expanded, warn, runs)
    initial = reading.first("initialdir", "initial_dir", "job_iwd", "iwd")
    command = reading.command(initial, place)
    job = Job(command, reading.seconds())
    job.inputs = reading.files("transfer_input_files", "transferinputfiles")
    job.outputs = reading.files("transfer_output_files", "transferoutputfiles")
    job.resources = reading.resources()
    where = posixpath.join(directory, initial) if directory and initial else initial or directory
    job.setting = reading.setting(where)
    job.rules = reading.rules()
    reading.apply_attributes(job)
    if runs and (disk := reading.size("request_disk", 1)):
        job.attributes = {**job.attributes, DISK: str(disk)}
    return job


class _Reading:
    """The commands of one process, read one by one."""

    __slots__ = ("at", "expanded", "runs", "table", "warn")

    def __init__(
        self,
        table: Mapping[str, Value],
        expanded: Callable[[Value], str],
        warn: Callable[[Value, str], None],
        runs: bool,
    ) -> None:
        self.table = table
        self.expanded = expanded
        self.warn = warn
        self.runs = runs
        self.at: Value | None = None  # the command that was read last

    def first(self, *names: str) -> str | None:
        """The value of the first of these commands that has one."""
        for name in names:
            value = self.table.get(name)
            if value is not None:
                self.at = value
                text = self.expanded(value)
                if text:
                    return text
        return None

    def wrong(self, error: ModelError) -> InputError:
        at = self.at or Value("", "", "", 1)
        return InputError(at.path, at.line, error.what, error.fix)

    def true(self, name: str, otherwise: str = "false") -> bool:
        return truth(self.first(name) or otherwise) is True

    def whole(self, *names: str, refused: str = "") -> int | None:
        """A number that can be computed here; what takes a machine or job to compute is left out with a warning.

        `refused`: why it is refused instead.
        """
        text = self.first(*names)
        if text is None or self.at is None or text.lower() == "undefined":
            return None
        try:
            return whole_number(text)
        except ModelError:
            what = f"{self.at.name} = {shown(text)} is no plain number"
            if refused:
                raise self.wrong(ModelError(f"{what}.", refused)) from None
            if EDGE in text:
                what = f"{self.at.name} would be known only when the job starts."
                raise self.wrong(ModelError(what, "Give it a number that is known before.")) from None
            self.warn(self.at, f"{what} and left out.")
            return None

    # --- command -----------------------------------------------------------------------------------------------

    def command(self, initial: str | None, place: Place) -> str | None:
        universe = (self.first("universe") or "").lower()
        if universe not in PLAIN_UNIVERSES and self.at is not None:
            self.warn(self.at, f"universe {shown(universe)} is not run here: the command is taken as it is.")
        if self.true("noop_job"):
            code = self.code("noop_job_exit_code") or 0
            return f"exit {code}" if code else ":"
        image = universe in ("container", "docker") or any(name in self.table for name in _IMAGES)
        executable = self.first("executable")
        if executable is None:
            line = self.first("shell")
            if line is not None:
                return line
            if image and self.at is not None:
                self.warn(self.at, "the image's own command is not known here.")
                return None
            raise InputError(*place, "there is no executable.", 'Add "executable = …" before queue.')
        if not image and self.true("transfer_executable", "true"):
            self.at = self.table["executable"]
            executable = self.program(executable, initial)
        text = self.first("arguments", "arguments2", "args") or ""
        try:
            words = [executable, *arguments(text)]
        except ModelError as error:
            raise self.wrong(error) from None
        return words[2] if words[:2] == SHELL and len(words) == 3 else shlex.join(words)

    def program(self, executable: str, initial: str | None) -> str:
        """An executable as sh finds it: HTCondor looks where it submits, never in PATH nor in `initialdir`."""
        if executable.startswith("/"):
            return executable
        up = posixpath.normpath(initial) if initial else "."
        if up.startswith(("/", "..")):
            if self.at is not None:
                self.warn(self.at, f"executable {shown(executable)} is looked for in initialdir.")
            up = "."
        steps = 0 if up == "." else up.count("/") + 1
        if steps:
            return "../" * steps + posixpath.normpath(executable)
        return executable if "/" in executable else f"./{executable}"

    # --- the rest ----------------------------------------------------------------------------------------------

    def files(self, *names: str) -> tuple[str, ...]:
        text = self.first(*names)
        return () if text is None else tuple(name for part in text.split(",") if (name := part.strip()))

    def setting(self, directory: str | None) -> Setting:
        text = self.first("environment", "env", "environment2")
        try:
            variables = environment(text) if text else ()
        except ModelError as error:
            raise self.wrong(error) from None
        stdin = self.first("input", "stdin")
        stdout = self.first("output", "stdout")
        stderr = self.first("error", "stderr")
        if directory is None and stdin is None and stdout is None and stderr is None and not variables:
            return HERE
        return Setting(directory, variables, stdin, stdout, stderr)

    def seconds(self) -> float | None:
        text = self.first("my.headwayseconds")
        if text is None:
            return None
        value = float(text) if _SECONDS.fullmatch(text) else math.inf
        if not math.isfinite(value):
            raise self.wrong(ModelError(f"+HeadwaySeconds = {shown(text)} is no run time.", "Expected seconds."))
        return value

    def resources(self) -> Resources:
        cores = max(1, min(self.whole("request_cpus") or 1, 2**31 - 1))
        memory = self.size("request_memory", 1024)
        limits = (self.whole("allowed_execute_duration"), self.whole("allowed_job_duration"))
        time = min((limit for limit in limits if limit is not None), default=None)
        named: dict[str, int] = {}
        for key, value in self.table.items():
            if self.runs and key == DISK:
                continue  # no count of ours: it is held against what is free
            if key.startswith(_REQUEST) and key not in _OWN_REQUESTS and len(key) > len(_REQUEST):
                count = self.size(key, 1) if key == "request_disk" else self.whole(key)
                if count is not None:
                    named[value.name[len(_REQUEST) :]] = max(0, count // 1024 if key == "request_disk" else count)
        if cores == 1 and memory is None and time is None and not named:
            return ORDINARY
        return Resources(cores, memory, None if time is None else float(max(0, time)), tuple(named.items()))

    def size(self, name: str, unit: int) -> int | None:
        """A size in bytes; a number without a unit counts in units of so many KiB."""
        text = self.first(name)
        match = _SIZE.fullmatch(text) if text else None
        if match is None:
            count = self.whole(name)
            return None if count is None else max(0, count) * unit * 1024
        factor = (_UNITS[match[2].lower()] if match[2] else unit) * 1024
        return int(match[1]) * factor if match[1].isdecimal() else math.ceil(float(match[1]) * factor)

    def rules(self) -> Rules:
        """What the job asks for itself, below what its node says."""
        success, until = self.code("success_exit_code", "jobsuccessexitcode"), self.code("retry_until")
        retries, priority = self.code("max_retries"), self.whole("priority", "prio") or 0
        if retries is None:
            retries = 0 if success is None and until is None else _DEFAULT_RETRIES
        if not retries and not priority and not success:
            return PLAIN
        return Rules(
            retries=max(0, min(retries, 2**31 - 1)),
            unless_exit=until,
            priority=max(-(2**31), min(priority, 2**31 - 1)),
            success=success or 0,
        )

    def code(self, *names: str) -> int | None:
        """A number that decides how often a job runs: what cannot be computed here is refused, not left out."""
        return self.whole(*names, refused="Only a number can be honoured here.")

    def apply_attributes(self, job: Job) -> None:
        """What our own writer kept beside what HTCondor can say."""
        text = self.first("my.headwayattributes")
        if text is None:
            return
        try:
            for word in _words(classad_string(text)):
                key, equals, value = word.partition("=")
                if not equals:
                    raise ModelError(f"{shown(word)} in +HeadwayAttributes is no pair.", "Expected key=value.")
                attributes.apply(job, key, value)
        except ModelError as error:
            raise self.wrong(error) from None


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise ModelError(f"{shown(text)} is not quoted as in sh.", "Close the quotes.") from None


def with_rules(job: Job, rules: Rules) -> Rules:
    """A node's own rules, and what only its submit description says: for formats that have one kind of retries."""
    own = job.rules
    unless_exit = rules.unless_exit if rules.retries else own.unless_exit
    priority = rules.priority or own.priority
    return replace(rules, retries=rules.retries or own.retries, unless_exit=unless_exit, priority=priority)
